package endtoend

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// methods are ways to train that keep very different kinds of state.
var methods = map[string][]string{
	"sgd":         {"--method", "sgd", "--passes", "6"},
	"prox-linear": {"--method", "prox-linear", "--passes", "10"},
	"all at once": {"--method", "prox-linear", "--model-batch", "all", "--passes", "10"},
	"adam":        {"--method", "adam", "--dropout", "0.2", "--passes", "8"},
	"bcfw":        {"--net", "linear", "--channels", "", "--hidden", "", "--method", "bcfw", "--passes", "6"},
}

// trainedWhole trains by each method once, undisturbed, on one thread.
var trainedWhole = func() map[string]func() (string, error) {
	all := map[string]func() (string, error){}
	for name, flags := range methods {
		all[name] = sync.OnceValues(func() (string, error) {
			dir := filepath.Join(shared, "whole "+name)
			return dir, runProgram(with(with(small, flags...), "--threads", "1", "--out", dir)...)
		})
	}
	return all
}()

func wholeRun(t *testing.T, name string) string {
	t.Helper()
	dir, err := trainedWhole[name]()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// A seed gives the same model, bit for bit, with any number of threads. TestResume compares two threads with one.
func TestThreadsDoNotMatter(t *testing.T) {
	t.Parallel()
	for name, flags := range methods {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "run")
			dsp(t, with(with(small, flags...), "--threads", "7", "--out", dir)...).ok()
			if !bytes.Equal(modelOf(t, dir), modelOf(t, wholeRun(t, name))) {
				t.Error("7 threads gave another model than 1")
			}
		})
	}
}

// A run that is killed or interrupted at any moment resumes to the same bits as an undisturbed run.
func TestResume(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no signals here")
	}
	for name, flags := range methods {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole, flags := wholeRun(t, name), with(with(small, flags...), "--threads", "2")
			for _, signal := range []os.Signal{os.Kill, os.Interrupt} {
				dir := filepath.Join(t.TempDir(), signal.String())
				strike(t, flags, dir, signal, 0)
				if signal == os.Kill {
					strike(t, flags, dir, signal, time.Duration(rand.Int64N(int64(10*time.Millisecond)))) // while it writes, at times
				}
				dsp(t, resumed(flags, dir)...).ok()
				if !bytes.Equal(modelOf(t, dir), modelOf(t, whole)) {
					t.Errorf("%v: another model", signal)
				}
				if got, want := timeless(metricsOf(t, dir)), timeless(metricsOf(t, whole)); !reflect.DeepEqual(got, want) {
					t.Errorf("%v: other metrics:\n%v\nwant\n%v", signal, got, want)
				}
			}
		})
	}
}

// resumed returns the arguments that start the run in dir, or resume it if it has started.
func resumed(flags []string, dir string) []string {
	if _, err := os.Stat(filepath.Join(dir, "config.yaml")); err == nil {
		return []string{"train", "--resume", dir, "--quiet"}
	}
	return with(flags, "--out", dir)
}

// strike starts or resumes the run in dir, and signals it when it has completed one more pass and then some time has
// passed. The signal must end a running process. Where the run was over before, on a busy machine, a new one is
// started.
func strike(t *testing.T, flags []string, dir string, signal os.Signal, after time.Duration) {
	t.Helper()
	for range 30 {
		p := started(t, resumed(flags, dir))
		p.awaitPass(dir)
		time.Sleep(after)
		if p.end(signal) {
			return
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		after /= 2
	}
	t.Fatalf("%v: 30 runs were over before the signal", signal)
}

// process is a run of the program that has not ended yet.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	stderr bytes.Buffer
	ended  chan struct{}
}

func started(t *testing.T, args []string) *process {
	t.Helper()
	return startedAs(t, binary, args)
}

func startedAs(t *testing.T, program string, args []string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(program, args...), ended: make(chan struct{})}
	p.cmd.Stderr = &p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // the exit code says how it ended
		close(p.ended)
	}()
	return p
}

// awaitPass waits until the run in dir has completed one more pass, or has ended.
func (p *process) awaitPass(dir string) {
	passes := func() int {
		text, err := os.ReadFile(filepath.Join(dir, "metrics.jsonl"))
		if err != nil {
			return 0
		}
		return bytes.Count(text, []byte("\n"))
	}
	for before := passes(); passes() <= before; {
		select {
		case <-p.ended:
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// end sends a signal, waits, and reports whether the signal ended a running process. An interrupted run must say how to
// resume it.
func (p *process) end(signal os.Signal) bool {
	p.t.Helper()
	_ = p.cmd.Process.Signal(signal) // it may have ended
	<-p.ended
	switch code := p.cmd.ProcessState.ExitCode(); {
	case signal == os.Kill && code == -1, signal != os.Kill && code == exitInterrupted && strings.Contains(p.stderr.String(), "--resume"):
		return true
	case code == exitDone:
		return false
	default:
		p.t.Fatalf("%v: exit %d\n%s", signal, code, p.stderr.String())
		return false
	}
}

// timeless returns metrics without their seconds.
func timeless(lines []map[string]any) []map[string]any {
	for _, m := range lines {
		delete(m, "seconds")
	}
	return lines
}

// While a run trains, others in its folder are refused, with its process; when it was killed, the next one takes over,
// and removes what it was writing.
func TestOneRunInAFolder(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no signals here")
	}
	dir := filepath.Join(t.TempDir(), "run")
	flags := with(small, "--method", "sgd", "--passes", "1000000", "--out", dir)
	p := started(t, flags)
	p.awaitPass(dir)
	owner := fmt.Sprintf("process %d writes there", p.cmd.Process.Pid)
	dsp(t, flags...).refused(exitBadInput, "--out", owner)
	dsp(t, "train", "--resume", dir, "--quiet").refused(exitBadInput, owner)
	if !p.end(os.Kill) {
		t.Fatal("the run ended before it was killed")
	}
	unfinished := []string{filepath.Join(dir, ".model.safetensors.0123cdef.tmp"), filepath.Join(dir, "checkpoint", ".state.safetensors.89abcdef.tmp")}
	others := filepath.Join(dir, ".predictions.0123cdef.tmp") // which another program may be writing
	for _, path := range append(unfinished, others) {
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	dsp(t, "train", "--resume", dir, "--passes", "1", "--quiet").ok()
	if found, _ := filepath.Glob(filepath.Join(dir, ".*.tmp")); len(found) != 1 || found[0] != others {
		t.Errorf("in the folder: %v, expected %s alone", found, others)
	}
	if found, _ := filepath.Glob(filepath.Join(dir, "checkpoint", ".*")); len(found) > 0 {
		t.Errorf("in the folder of the checkpoint: %v", found)
	}
	if _, err := os.Stat(filepath.Join(dir, ".lock")); err == nil {
		t.Error("the lock of a finished run is there")
	}
}

// The breakpoints of a path are of one data set: with another one, it is not continued.
func TestPathOfOtherData(t *testing.T) {
	t.Parallel()
	run := filepath.Join(t.TempDir(), "run")
	a := write(t, "a.conll", strings.Repeat("the D\ndog N\nruns V\n\n", 8))
	b := write(t, "b.conll", strings.Repeat("the D\nruns N\n\nthe D\ndog N\n\n", 8))
	dsp(t, "train", "--train", a, "--path", "--path-low", "0.3", "--path-high", "3", "--quiet", "--out", run).ok()
	dsp(t, "train", "--resume", run, "--quiet").ok()
	dsp(t, "train", "--resume", run, "--train", b, "--quiet").refused(exitBadInput, "another training data")
}

// A path says which of its models is the run's, and why.
func TestPathSaysBest(t *testing.T) {
	t.Parallel()
	train := write(t, "train.conll", strings.Repeat("Ann B-PER\nsees O\nBo B-PER\n\nit O\nruns O\n\n", 8))
	for _, dev := range []string{"", train} {
		run := filepath.Join(t.TempDir(), "run")
		args := []string{"train", "--train", train, "--path", "--path-low", "0.3", "--path-high", "3", "--out", run, "--json"}
		if dev != "" {
			args = append(args, "--dev", dev)
		}
		var m struct {
			Path struct {
				Best struct {
					Reg           float64
					Model, Metric string
					Error         *float64
				}
				Points []struct {
					Reg   float64
					Model string
				}
			}
		}
		o := dsp(t, args...).ok()
		o.json(&m)
		best := m.Path.Best
		found := false
		for _, x := range m.Path.Points {
			found = found || x.Reg == best.Reg && x.Model == best.Model
		}
		if !found || (best.Metric != "") != (dev != "") || (best.Error != nil) != (dev != "") {
			t.Errorf("development data %q: best %+v", dev, best)
		}
		if want := map[bool]string{true: "dev_f1=", false: "no development data: C is nearest to 1"}[dev != ""]; !strings.Contains(o.stderr, "kept_reg="+fmt.Sprint(best.Reg)) || !strings.Contains(o.stderr, want) {
			t.Errorf("the log does not say %q:\n%s", want, o.stderr)
		}
	}
}

// Settings that have another name now work by the old one: as flags, with a word about it, in configuration files, and
// in runs and models of earlier versions.
func TestOldNamesOfSettings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run, whole := filepath.Join(dir, "run"), filepath.Join(dir, "whole")
	on := func(out string, more ...string) []string {
		return append([]string{"train", "--task", "segment", "--examples", "4,1,1", "--baselines", "off", "--gap", "0", "--out", out}, more...)
	}
	o := dsp(t, on(run, "--cell", "24", "--neighbours", "8", "--passes", "2")...).ok()
	if strings.Count(o.stderr, "--cell is called --cell-pixels now") != 1 {
		t.Errorf("a flag's old name: %s", o.stderr)
	}
	dsp(t, on(whole, "--cell-pixels", "24", "--neighbours", "8", "--passes", "4", "--quiet")...).ok()

	path := filepath.Join(run, "config.yaml") // as an earlier version wrote it
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	old := strings.NewReplacer("cell-pixels", "cell", "search-grid", "cells", "candidate-pixels", "crop", "region-pixels", "patch", "region-context", "context").Replace(string(text))
	if old == string(text) || os.WriteFile(path, []byte(old), 0o666) != nil {
		t.Fatalf("the configuration has no new names:\n%s", text)
	}
	dsp(t, "train", "--resume", run, "--passes", "4", "--quiet").ok()
	if !bytes.Equal(modelBytes(t, run), modelBytes(t, whole)) {
		t.Error("a run of an earlier version went on to other bits")
	}
	for _, file := range []string{"model.safetensors", "checkpoint/state.safetensors"} {
		stored, err := os.ReadFile(filepath.Join(run, file))
		if err != nil || !bytes.Contains(stored, []byte("cell")) || bytes.Contains(stored, []byte("cell-pixels")) {
			t.Errorf("%s (%v) does not have the name that earlier versions wrote", file, err)
		}
	}
	if text, err = os.ReadFile(path); err != nil || !strings.Contains(string(text), "cell-pixels: 24") {
		t.Errorf("the configuration is written by the old names:\n%s", text)
	}
}
