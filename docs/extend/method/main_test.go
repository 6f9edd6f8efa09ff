package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/cmd/dsp/cli/clitest"
	"github.com/dsp-go/dsp/models/optimisers"
)

func TestMain(m *testing.M) {
	optimisers.Register(descriptor)
	os.Exit(m.Run())
}

func modelOf(t *testing.T, dir string) []byte {
	t.Helper()
	model, err := os.ReadFile(filepath.Join(dir, "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// The program trains by its method with its settings, and a resumed run has the bits of one without a break.
func TestTail(t *testing.T) {
	dir := t.TempDir()
	train := func(out, passes, from string) []byte {
		t.Helper()
		code, text := clitest.Run(t, "train", "--method", "tail", "--net", "linear", "--lr", "0.05", "--method-settings", "average-from="+from,
			"--examples", "40,10,10", "--passes", passes, "--baselines", "off", "--quiet", "--out", filepath.Join(dir, out))
		if code != 0 || !strings.Contains(text, "tail") {
			t.Fatalf("exit code %d: %s", code, text)
		}
		return modelOf(t, filepath.Join(dir, out))
	}
	whole, other := train("whole", "5", "3"), train("other", "5", "0")
	if bytes.Equal(whole, other) {
		t.Error("average-from changes nothing")
	}
	train("resumed", "2", "3")
	if code, text := clitest.Run(t, "train", "--resume", filepath.Join(dir, "resumed"), "--passes", "5", "--quiet"); code != 0 {
		t.Fatal(text)
	}
	if !bytes.Equal(whole, modelOf(t, filepath.Join(dir, "resumed"))) {
		t.Error("a resumed run ends with other weights")
	}
}

func TestTailIsListed(t *testing.T) {
	if code, text := clitest.Run(t, "info", "--methods"); code != 0 || !strings.Contains(text, "--method-settings average-from=1: passes before") {
		t.Errorf("exit code %d: %s", code, text)
	}
	if code, text := clitest.Run(t, "train", "--method", "tail", "--help"); code != 0 || !strings.Contains(text, "--method-settings NAME=VALUE") {
		t.Errorf("exit code %d: %s", code, text)
	}
}

func TestTailRefuses(t *testing.T) {
	for flags, want := range map[string]string{
		"--method-settings average=2":                   `--method tail has no setting "average"; it has average-from`,
		"--method-settings average-from=x":              `--method-settings average-from: "x": expected a whole number`,
		"--method-settings average-from=-1":             "--method-settings average-from -1: expected at least 0",
		"--clip 1":                                      "--clip 1 has no effect with --method tail; it is for --method adam",
		"--gap 0.1":                                     "--method tail does not give",
		"--l1 1 --net linear":                           "tail takes no steps for λ₁‖w‖₁",
		"--method sgd --method-settings average-from=1": "has no effect with --method sgd; it is for --method counts, tail",
	} {
		args := append([]string{"train", "--method", "tail", "--examples", "40,10,10", "--out", filepath.Join(t.TempDir(), "x")}, strings.Fields(flags)...)
		if code, text := clitest.Run(t, args...); code != 2 || !strings.Contains(text, want) {
			t.Errorf("%s: exit code %d, %s; want %s", flags, code, text, want)
		}
	}
}
