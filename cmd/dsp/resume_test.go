package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
)

// methods are ways to train that keep state of very different kinds.
var methods = map[string][]string{
	"sgd":         {"--method", "sgd", "--passes", "6"},
	"prox-linear": {"--method", "prox-linear", "--passes", "10"},
	"bcfw":        {"--net", "linear", "--channels", "", "--hidden", "", "--method", "bcfw", "--passes", "6"},
}

// One seed gives one model, to the bit, whatever the number of threads.
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

// A run that was killed or interrupted at any moment resumes to the same bits as one that was not.
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
					interrupt(t, signal, time.Duration(after*float64(took)), resumed(flags, dir))
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

// resumed returns the arguments that begin the run in dir, or continue it.
func resumed(flags []string, dir string) []string {
	if _, err := os.Stat(filepath.Join(dir, "config.yaml")); err == nil {
		return []string{"train", "--resume", dir, "--quiet"}
	}
	return with(flags, "--out", dir)
}

// interrupt starts the program and sends it the signal after a while, unless it ended before.
func interrupt(t *testing.T, signal os.Signal, after time.Duration, args []string) {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command(binary, args...)
	cmd.Stdout, cmd.Stderr = io.Discard, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(after)
	_ = cmd.Process.Signal(signal) // it may have ended
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); signal == os.Interrupt && code != exitDone {
		if code != exitInterrupted || !strings.Contains(stderr.String(), "--resume") {
			t.Errorf("interrupted: exit %d\n%s", code, stderr.String())
		}
	}
}

// timeless returns metrics without the seconds.
func timeless(lines []map[string]any) []map[string]any {
	for _, m := range lines {
		delete(m, "seconds")
	}
	return lines
}
