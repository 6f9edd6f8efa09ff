package endtoend

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
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

// A seed gives the same model, bit for bit, with any number of threads.
func TestThreadsDoNotMatter(t *testing.T) {
	for name, flags := range methods {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var first []byte
			for _, threads := range []string{"1", "2", "7"} {
				dir := filepath.Join(t.TempDir(), threads)
				dsp(t, with(with(small, flags...), "--threads", threads, "--out", dir)...).ok()
				switch model := modelOf(t, dir); {
				case first == nil:
					first = model
				case !bytes.Equal(model, first):
					t.Errorf("--threads %s gave another model than 1", threads)
				}
			}
		})
	}
}

// A run that is killed or interrupted at any moment resumes to the same bits as an undisturbed run.
func TestResume(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no signals here")
	}
	for name, flags := range methods {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flags := with(small, flags...)
			whole := filepath.Join(t.TempDir(), "whole")
			start := time.Now()
			dsp(t, with(flags, "--out", whole)...).ok()
			took := time.Since(start)
			for _, signal := range []os.Signal{os.Kill, os.Interrupt} {
				dir := filepath.Join(t.TempDir(), signal.String())
				for _, after := range []float64{0.3, 0.5, 0.7} {
					r := begun(t, resumed(flags, dir))
					if signal == os.Kill {
						time.Sleep(time.Duration(after * float64(took)))
					} else {
						r.awaitPass(dir)
					}
					r.end(signal)
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

// process is a run of the program that has not ended yet.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	stderr bytes.Buffer
	ended  chan struct{}
}

func begun(t *testing.T, args []string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(binary, args...), ended: make(chan struct{})}
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

// end sends a signal and waits. Unless the run had already finished, an interrupted run must say how to resume it.
func (p *process) end(signal os.Signal) {
	p.t.Helper()
	_ = p.cmd.Process.Signal(signal) // it may have ended
	<-p.ended
	code := p.cmd.ProcessState.ExitCode()
	if signal == os.Interrupt && code != exitDone && (code != exitInterrupted || !strings.Contains(p.stderr.String(), "--resume")) {
		p.t.Errorf("interrupted: exit %d\n%s", code, p.stderr.String())
	}
}

// timeless returns metrics without their seconds.
func timeless(lines []map[string]any) []map[string]any {
	for _, m := range lines {
		delete(m, "seconds")
	}
	return lines
}
