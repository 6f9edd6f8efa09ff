package train_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/dsp-go/dsp/structured/sys/safetensors"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/methods"
	"github.com/dsp-go/dsp/train/record"
	"github.com/dsp-go/dsp/train/traintest"
)

// TestMain runs a training run instead of the tests if TestKill asks for one.
func TestMain(m *testing.M) {
	if dir := os.Getenv(killVariable); dir != "" {
		if err := trainInFolder(dir); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// trainInFolder trains or resumes in a folder, slowly enough to be killed, and prints its passes to standard output.
func trainInFolder(dir string) error {
	identity := map[string]string{"seed": "3"}
	folder := filepath.Join(dir, "checkpoint")
	c, err := train.OpenCheckpoint(folder, identity)
	if errors.Is(err, os.ErrNotExist) {
		c, err = train.NewCheckpoint(folder, identity)
	}
	if err != nil {
		return err
	}
	metrics, _, err := record.OpenMetrics(filepath.Join(dir, "metrics.jsonl"), c.Pass())
	if err != nil {
		return err
	}
	p, s := traintest.LoopProblem()
	m := &script{SGD: methods.SGD{Rate: 0.1}, pass: func(context.Context, *train.State) error {
		os.Stdout.WriteString("pass\n")
		time.Sleep(time.Millisecond)
		return nil
	}}
	r, err := (&train.Trainer{Problem: p, Method: m, Passes: killPasses, Checkpoint: c, Recorders: []record.Recorder{metrics}}).Run(context.Background(), s)
	if err != nil {
		return err
	}
	f := &safetensors.File{}
	safetensors.Add(f, "w", r.W)
	return safetensors.Write(filepath.Join(dir, "model.safetensors"), f)
}

// A run that is killed (-9) at random moments and resumed, again and again, ends with the bits and the metrics of an
// undisturbed run.
func TestKill(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// run lets a process train until the given number of passes have begun and then kills it. It reports whether it
	// ended by itself.
	run := func(dir string, passes int) bool {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), killVariable+"="+dir)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for range passes {
			lines.Scan()
		}
		time.Sleep(time.Duration(rand.IntN(2000)) * time.Microsecond)
		if passes < killPasses {
			_ = cmd.Process.Kill() // it may have just ended
		}
		for lines.Scan() {
		}
		err = cmd.Wait()
		if stderr.Len() > 0 {
			t.Fatalf("%v: %s", err, stderr.String())
		}
		return err == nil
	}
	whole, killed := t.TempDir(), t.TempDir()
	if !run(whole, killPasses) {
		t.Fatal("the run without kills failed")
	}
	kills := 0
	for !run(killed, min(1+rand.IntN(12)+kills, killPasses)) {
		if kills++; kills == 60 {
			t.Fatal("no progress")
		}
	}
	t.Logf("%d kills", kills)
	if kills == 0 {
		t.Error("no process was killed")
	}
	for _, name := range []string{"model.safetensors", "metrics.jsonl"} {
		if got, want := readTimeless(t, killed, name), readTimeless(t, whole, name); got != want {
			t.Errorf("%s differs: %q, want %q", name, got, want)
		}
	}
}

const killVariable = "DSP_TEST_KILL_FOLDER"
