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
		"train":    {"train", "--task", "tag", "--format", "conll", "--train"},
		"pipeline": {"train", "--task", "pipeline", "--format", "conllu", "--train"},
		"eval":     {"eval", "--model", tagger(t), "--format", "conll", "--data"},
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
		cmd := exec.Command(binary, args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() }) // where the signal does nothing
		to, err := os.OpenFile(pipe, os.O_WRONLY, 0)                           // returns when the program has opened it, too
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
			t.Errorf("%s: exit %d", name, code)
		}
		kill.Stop()
		_ = to.Close()
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: %s was left behind", name, out)
		}
	}
}
