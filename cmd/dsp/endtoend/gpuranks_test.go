//go:build gpu && linux && amd64

package endtoend

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/train/ranks/rankstest"
)

// Ranks that take steps of their own have a GPU each, by their place on the machine. They train the same model twice, and the one of the CPU up to rounding.
func TestGPURanksTakeStepsOfTheirOwn(t *testing.T) {
	emulated(t, "DSP_EMULATED_DEVICES=2")
	l := rankstest.Launchers(t)[0]
	for name, flags := range map[string][]string{
		"adam":        {"--method", "adam", "--batch", "16"},
		"sgd":         {"--method", "sgd", "--lr", "0.1", "--batch", "16"},
		"prox-linear": {"--method", "prox-linear", "--model-batch", "16"},
	} {
		t.Run(name, func(t *testing.T) {
			flags := with(flags, "--examples", "150,8,8", "--net", "mlp", "--hidden", "4", "--local-steps", "2", "--passes", "2", "--threads", "1", "--baselines", "off")
			train := func(device string) (dir, log string) {
				dir = filepath.Join(t.TempDir(), "run")
				out, err := l.Run(t, 2, []string{asProgram + "=1"}, binary, with([]string{"train", "--device", device, "--out", dir}, flags...)...)
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				return dir, out
			}
			first, log := train("cuda")
			for _, says := range []string{"device of rank 0 (", "): cuda:0 dsp emulated device", "device of rank 1 (", "): cuda:1 dsp emulated device"} {
				if !strings.Contains(log, says) {
					t.Errorf("no %q in the log:\n%s", says, log)
				}
			}
			if c, err := os.ReadFile(filepath.Join(first, "config.yaml")); err != nil || !bytes.Contains(c, []byte("device: cuda\n")) {
				t.Errorf("config.yaml names the device of one rank: %v\n%s", err, c)
			}
			again, _ := train("cuda")
			if !bytes.Equal(modelBytes(t, first), modelBytes(t, again)) {
				t.Error("another model the second time")
			}
			host, _ := train("cpu")
			if a, b := lastObjective(t, first), lastObjective(t, host); math.Abs(a-b) > 1e-3*b {
				t.Errorf("objective %v on GPUs, %v on the CPU", a, b)
			}
		})
	}
}

// More ranks than GPUs on a machine are refused.
func TestGPURanksWithoutADevice(t *testing.T) {
	emulated(t, "DSP_EMULATED_DEVICES=1")
	flags := []string{"train", "--examples", "150,8,8", "--net", "mlp", "--hidden", "4", "--method", "adam", "--local-steps", "2", "--device", "cuda", "--out", filepath.Join(t.TempDir(), "run")}
	out, err := rankstest.Launchers(t)[0].Run(t, 2, []string{asProgram + "=1"}, binary, flags...)
	if err == nil || !strings.Contains(out, "there is no device cuda:1: this machine has 1") {
		t.Errorf("%v\n%s", err, out)
	}
}

// lastObjective returns the objective of the last pass of a run.
func lastObjective(t *testing.T, dir string) float64 {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "metrics.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(b), []byte("\n"))
	var last struct{ Objective float64 }
	if err := json.Unmarshal(lines[len(lines)-1], &last); err != nil {
		t.Fatal(err)
	}
	return last.Objective
}
