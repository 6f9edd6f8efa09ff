package endtoend

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
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

// A terminal that goes away ends training as other signals do, with a checkpoint; under nohup training goes on.
func TestHangup(t *testing.T) {
	t.Parallel()
	// Children of a process that ignores the signal, such as one under nohup, ignore it, too; those of one that catches
	// it do not.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	defer signal.Stop(caught)
	text := write(t, "train.conll", lessons(0, 400, "ish"))
	for _, ignored := range []bool{false, true} {
		run := filepath.Join(t.TempDir(), "run")
		args := []string{"train", "--train", text, "--method", "sgd", "--passes", "100000", "--quiet", "--out", run}
		p := (*process)(nil)
		if ignored {
			p = startedAs(t, "/bin/sh", append([]string{"-c", `trap '' HUP; exec "$@"`, "sh", binary}, args...))
		} else {
			p = started(t, args)
		}
		p.awaitPass(run)
		if !ignored {
			if !p.end(syscall.SIGHUP) {
				t.Fatal("the run ended before the signal")
			}
			dsp(t, "train", "--resume", run, "--passes", "1", "--quiet").ok()
			continue
		}
		if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		p.awaitPass(run)
		select {
		case <-p.ended:
			t.Fatalf("the signal ended a run under nohup:\n%s", p.stderr.String())
		default:
		}
		if !p.end(syscall.SIGTERM) {
			t.Fatal("the run ended before the second signal")
		}
	}
}

// A pipe in place of a model is refused, and not waited for.
func TestPipeAsModel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "model.safetensors")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	closing(t, pipe)
	for _, path := range []string{pipe, dir} {
		for _, args := range [][]string{
			{"predict", "--model", path}, {"info", path}, {"serve", "--model", path, "--listen", "127.0.0.1:0"}, {"export", "--model", path, "--release", "--to", filepath.Join(dir, "x.safetensors")},
			{"train", "--init", path, "--train", write(t, "train.conll", sentences), "--out", filepath.Join(dir, "run")},
		} {
			dsp(t, args...).refused(exitBadInput, pipe, "a pipe, expected a file on disk")
		}
	}
	model, _ := aPipeline(t)
	copied := filepath.Join(dir, "pipeline")
	if err := os.CopyFS(copied, os.DirFS(model)); err != nil {
		t.Fatal(err)
	}
	stage := filepath.Join(copied, "upos", "model.safetensors")
	if err := os.Remove(stage); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(stage, 0o600); err != nil {
		t.Fatal(err)
	}
	closing(t, stage)
	dsp(t, "predict", "--model", copied, "--input", write(t, "x.txt", "a")).refused(exitBadInput, stage, "a pipe, expected a file on disk")
}

// closing gives every reader of a pipe an empty file: it opens the pipe to write and closes it at once. Without it, a
// reader would wait for ever.
func closing(t *testing.T, pipe string) {
	ctx, stop := context.WithCancel(t.Context())
	var closed sync.WaitGroup
	closed.Go(func() {
		for ctx.Err() == nil {
			if w, err := os.OpenFile(pipe, os.O_WRONLY, 0); err == nil { // waits for a reader
				_ = w.Close()
			}
		}
	})
	t.Cleanup(func() {
		stop()
		if r, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil { // the last one
			closed.Wait()
			_ = r.Close()
		}
	})
}

// A path that is not UTF-8 is refused before a run begins that nobody could resume, also where a folder or a pattern
// leads to it.
func TestPathNotUTF8(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folder := filepath.Join(dir, "d\xe9")
	file := filepath.Join(dir, "plain", "tr\xe9.conll")
	for _, path := range []string{filepath.Join(folder, "train.conll"), file} {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(sentences), 0o666); err != nil {
			t.Skip(err) // a file system that takes no such names
		}
	}
	run := filepath.Join(dir, "run")
	for _, path := range []string{
		filepath.Join(folder, "train.conll"), file, filepath.Join(dir, "plain", "*.conll"), filepath.Join(dir, "d*", "train.conll"), filepath.Join(dir, "plain"),
	} {
		dsp(t, "train", "--train", path, "--format", "conll", "--columns", "word=0,label=1", "--quiet", "--out", run).refused(exitBadInput, "UTF-8")
		if _, err := os.Stat(run); err == nil {
			t.Errorf("%q: a run was begun", path)
		}
	}
}
