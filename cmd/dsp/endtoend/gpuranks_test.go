//go:build gpu && linux && amd64

package endtoend

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/train/ranks/rankstest"
)

// Ranks that take steps of their own have a GPU each, by their place on the machine. They train the same model twice,
// and the one of the CPU up to rounding.
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

// inParts are flags of runs that share each batch, or all examples, on GPUs.
var inParts = map[string][]string{
	"adam":        {"--net", "mlp", "--hidden", "4", "--method", "adam", "--batch", "16", "--clip", "1"},
	"momentum":    {"--net", "mlp", "--hidden", "4", "--method", "sgd", "--lr", "0.02", "--momentum", "0.9", "--batch", "16"},
	"sgd":         {"--net", "mlp", "--hidden", "4", "--method", "sgd", "--loss", "crf", "--batch", "16"}, // which searches a step size
	"prox-linear": {"--net", "mlp", "--hidden", "4", "--method", "prox-linear", "--loss", "crf", "--model-batch", "16"},
	"lbfgs":       {"--net", "linear", "--method", "lbfgs", "--loss", "crf", "--gap", "0"},
}

// Ranks that share batches on GPUs train the model of one process that evaluates as many parts, to the bit.
func TestGPURanksTrainTheModelOfOne(t *testing.T) {
	emulated(t, "DSP_EMULATED_DEVICES=2")
	l := rankstest.Launchers(t)[0]
	for name, flags := range inParts {
		t.Run(name, func(t *testing.T) {
			flags := with([]string{"train", "--device", "cuda", "--examples", "150,8,8", "--passes", "2", "--threads", "1", "--baselines", "off"}, flags...)
			one, two := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "two")
			dsp(t, with(flags, "--device-parts", "2", "--out", one)...).ok()
			out, err := l.Run(t, 2, []string{asProgram + "=1"}, binary, with(flags, "--out", two)...)
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if !bytes.Equal(modelBytes(t, one), modelBytes(t, two)) {
				t.Error("two ranks train another model than one process")
			}
			if a, b := metricsWithoutTimes(t, one), metricsWithoutTimes(t, two); a != b {
				t.Errorf("metrics of two ranks\n%s\nof one process\n%s", b, a)
			}
			gathered := filepath.Join(t.TempDir(), "gathered")
			out, err = l.Run(t, 2, []string{asProgram + "=1", emulatedNCCL()}, binary, with(flags, "--out", gathered)...)
			if err != nil || !strings.Contains(out, "gradients of the ranks' parts go from GPU to GPU, by NCCL 2.20.5") {
				t.Fatalf("%v\n%s", err, out)
			}
			if !bytes.Equal(modelBytes(t, one), modelBytes(t, gathered)) {
				t.Error("two GPUs that exchange gradients train another model than one process")
			}
			if a, b := metricsWithoutTimes(t, one), metricsWithoutTimes(t, gathered); a != b {
				t.Errorf("metrics of two GPUs that exchange gradients\n%s\nof one process\n%s", b, a)
			}
			if name != "lbfgs" {
				return
			}
			more := []string{"train", "--passes", "3", "--resume"}
			out, err = l.Run(t, 2, []string{asProgram + "=1"}, binary, with(more, one)...)
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			dsp(t, with(more, two)...).ok()
			if !bytes.Equal(modelBytes(t, one), modelBytes(t, two)) {
				t.Error("another number of ranks does not continue a run to the same bits")
			}
		})
	}
}

// Ranks with a GPU each predict and evaluate what one GPU does: text whose inputs each makes for its own part, raw
// text, and numbers.
func TestGPURanksPredictAsOne(t *testing.T) {
	emulated(t, "DSP_EMULATED_DEVICES=2")
	l, text := rankstest.Launchers(t)[0], drawnText(t)
	test := filepath.Join(text, "test.conll")
	raw := write(t, "raw.txt", strings.Repeat("The fox sees Anna in Rome. It runs.\n\n", 40))
	for name, c := range map[string][]string{
		"text":     {"predict", "--model", tagger(t), "--input", write(t, "new.conll", strings.Repeat(sentences+"\n", 40)), "--confidence"},
		"raw text": {"predict", "--model", tagger(t), "--text", "--input", raw, "--json"},
		"scores":   {"eval", "--model", tagger(t), "--data", write(t, "gold.conll", strings.Repeat(sentences+"\n", 40)), "--json"},
		"numbers":  {"eval", "--model", reader(t), "--data", "builtin"},
		"samples":  {"predict", "--model", reader(t), "--input", "builtin", "--samples", "2", "--seed", "3", "--json"},
		"a curve":  {"eval", "--model", reader(t), "--data", "builtin", "--errors", "3", "--json"},
	} {
		one := dsp(t, with(c, "--device", "cuda")...).ok().stdout
		if two, _ := ranksPrint(t, l, 2, "", with(c, "--device", "cuda")...); two != one {
			t.Errorf("%s: two GPUs print\n%s\none\n%s", name, two, one)
		}
	}
	dsp(t, "predict", "--model", reader(t), "--device", "cuda:2", "--input", test).refused(exitBadInput, "cuda:2")
}

// What GPUs do not share is refused by name.
func TestGPURanksRefuse(t *testing.T) {
	emulated(t, "DSP_EMULATED_DEVICES=2")
	l := rankstest.Launchers(t)[0]
	base := []string{"train", "--device", "cuda", "--examples", "150,8,8", "--baselines", "off"}
	for name, c := range map[string]struct {
		flags []string
		says  string
	}{
		"a method with a memory": {[]string{"--net", "linear", "--method", "svrg"}, "use one of adam, lbfgs, prox-linear, sgd"},
		"models of all examples": {[]string{"--net", "mlp", "--method", "prox-linear", "--model-batch", "all"}, "does not work in parts"},
		"too few parts":          {[]string{"--net", "mlp", "--method", "adam", "--device-parts", "1"}, "2 ranks need at least a part each"},
		"steps of their own":     {[]string{"--net", "mlp", "--method", "adam", "--local-steps", "2", "--device-parts", "2"}, "leave out --local-steps 2"},
	} {
		run := filepath.Join(t.TempDir(), "run")
		out, err := l.Run(t, 2, []string{asProgram + "=1"}, binary, with(with(base, c.flags...), "--out", run)...)
		if err == nil || !strings.Contains(out, c.says) {
			t.Errorf("%s: %v, expected %q in\n%s", name, err, c.says, out)
		}
		if _, err := os.Stat(filepath.Join(run, "model.safetensors")); err == nil {
			t.Errorf("%s: there is a model", name)
		}
	}
	dsp(t, "train", "--device", "cpu", "--device-parts", "2", "--examples", "24,8,8").refused(exitBadInput, "--device-parts 2 is for GPUs")
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

// emulatedNCCL is the variable that names the emulator's NCCL, which is in its library of the driver.
func emulatedNCCL() string { return "DSP_NCCL_LIBRARY=" + os.Getenv("DSP_CUDA_LIBRARY") }

// A rank that dies while GPUs exchange gradients ends the run of the other, whose GPU would wait for ever. The run
// resumes from its checkpoint to the bits of one without a break.
func TestGPURanksLoseOneInAnExchange(t *testing.T) {
	emulated(t, "DSP_EMULATED_DEVICES=2")
	flags := with([]string{"train", "--device", "cuda", "--examples", "150,8,8", "--passes", "4", "--threads", "1", "--baselines", "off", "--checkpoint-every", "1"}, inParts["adam"]...)
	whole := filepath.Join(t.TempDir(), "whole")
	dsp(t, with(flags, "--device-parts", "2", "--out", whole)...).ok()
	for dies, l := range rankstest.Launchers(t) { // the first loses rank 0
		dir := filepath.Join(t.TempDir(), "run")
		out, err := l.Run(t, 2, []string{asProgram + "=1", emulatedNCCL(), fmt.Sprintf("DSP_EMULATED_DEATH=%d:25", dies)}, binary, with(flags, "--out", dir)...)
		if err == nil || !strings.Contains(out, "go from GPU to GPU") {
			t.Fatalf("%s: %v\n%s", l.Name, err, out)
		}
		if l.Name == "Open MPI" && !strings.Contains(out, "is lost: it died") { // MPICH kills the others
			t.Errorf("%s:\n%s", l.Name, out)
		}
		if out, err := l.Run(t, 2, []string{asProgram + "=1", emulatedNCCL()}, binary, "train", "--resume", dir); err != nil {
			t.Fatalf("%s: %v\n%s", l.Name, err, out)
		}
		if !bytes.Equal(modelBytes(t, dir), modelBytes(t, whole)) {
			t.Errorf("%s: another model than that of a run without a break", l.Name)
		}
	}
}

// Ranks that share a GPU, or of which NCCL is turned off, add gradients on their hosts, and say why.
func TestGPURanksWithoutNCCL(t *testing.T) {
	emulated(t, "DSP_EMULATED_DEVICES=2")
	l := rankstest.Launchers(t)[0]
	flags := with([]string{"train", "--examples", "150,8,8", "--passes", "1", "--threads", "1", "--baselines", "off"}, inParts["adam"]...)
	for _, c := range []struct{ device, nccl, says string }{
		{"cuda:1", emulatedNCCL(), "share a GPU"},
		{"cuda", "DSP_NCCL_LIBRARY=off", "has no NCCL: DSP_NCCL_LIBRARY=off"},
	} {
		out, err := l.Run(t, 2, []string{asProgram + "=1", c.nccl}, binary, with(flags, "--device", c.device, "--out", filepath.Join(t.TempDir(), "run"))...)
		if err != nil || !strings.Contains(out, "gradients of the ranks' parts are added on the hosts: ") || !strings.Contains(out, c.says) {
			t.Errorf("%+v: %v\n%s", c, err, out)
		}
	}
	out, err := l.Run(t, 2, []string{asProgram + "=1", "DSP_NCCL_LIBRARY=/nothing.so"}, binary, with(flags, "--device", "cuda", "--out", filepath.Join(t.TempDir(), "run"))...)
	if err == nil || !strings.Contains(out, "DSP_NCCL_LIBRARY: /nothing.so") {
		t.Errorf("a library that is not there: %v\n%s", err, out)
	}
}
