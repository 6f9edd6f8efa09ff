package endtoend

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A signal ends the program while it reads, and the folder of the run goes with it.
func TestInterruptedReading(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"train":     {"train", "--task", "tag", "--format", "conll", "--train"},
		"pipeline":  {"train", "--task", "pipeline", "--format", "conllu", "--train"},
		"eval":      {"eval", "--model", tagger(t), "--format", "conll", "--data"},
		"export":    {"export", "--model", tagger(t), "--format", "conll", "--to", filepath.Join(t.TempDir(), "x.npz"), "--data"},
		"calibrate": {"calibrate", "--model", tagger(t), "--format", "conll", "--out", filepath.Join(t.TempDir(), "x.safetensors"), "--dev"},
		"report":    {"report", tagger(t), "--format", "conll", "--out", filepath.Join(t.TempDir(), "x.html"), "--data"},
	} {
		dir := t.TempDir()
		pipe, out := filepath.Join(dir, "pipe"), filepath.Join(dir, "run")
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Skip(err)
		}
		args = append(args, pipe)
		if args[0] == "train" {
			args = append(args, "--out", out)
		}
		if code := interruptedAt(t, pipe, args...); code != exitInterrupted {
			t.Errorf("%s: exit %d", name, code)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: %s was left behind", name, out)
		}
	}

	// report reads the development data of the run.
	run, held := filepath.Join(t.TempDir(), "run"), write(t, "held.conll", sentences)
	dsp(t, "train", "--train", write(t, "train.conll", sentences), "--dev", held, "--format", "conll", "--columns", "word=0,label=1", "--net", "linear", "--passes", "1", "--quiet", "--out", run).ok()
	err := os.Remove(held)
	if err == nil {
		err = syscall.Mkfifo(held, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if code := interruptedAt(t, held, "report", run); code != exitInterrupted {
		t.Errorf("report of a run: exit %d", code)
	}
}

// interruptedAt returns the exit code of the program that a signal meets while it reads a pipe.
func interruptedAt(t *testing.T, pipe string, args ...string) int {
	t.Helper()
	cmd := exec.Command(binary, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() }) // where the signal does nothing
	defer kill.Stop()
	to, err := os.OpenFile(pipe, os.O_WRONLY, 0) // returns when the program has opened it, too
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	return cmd.ProcessState.ExitCode()
}
