//go:build gpu && linux && amd64

package endtoend

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// emulated sets environment variables for the emulated device, and skips the test if there is none.
func emulated(t *testing.T, settings ...string) {
	t.Helper()
	if os.Getenv("DSP_CUDA_LIBRARY") == "" {
		t.Skip("no device: make test-gpu emulates one")
	}
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		t.Setenv(name, value)
	}
}

// tiny holds the flags of a training run that takes a fraction of a second on the emulated device.
var tiny = []string{"train", "--examples", "24,8,8", "--baselines", "off", "--device", "cuda"}

// gpuMethods are ways to train that keep very different kinds of state on a device.
var gpuMethods = map[string][]string{
	"sgd":                    {"--net", "mlp", "--hidden", "4", "--method", "sgd", "--lr", "0.1", "--batch", "8", "--passes", "3"},
	"bcfw":                   {"--net", "linear", "--method", "bcfw", "--gap", "0", "--passes", "3"},
	"saga":                   {"--net", "linear", "--method", "saga", "--gap", "0", "--batch", "6", "--passes", "3"},
	"casimir":                {"--net", "linear", "--method", "casimir", "--gap", "0", "--batch", "6", "--passes", "3"},
	"prox-linear":            {"--net", "mlp", "--hidden", "4", "--method", "prox-linear", "--warm-up", "-1", "--eta", "1", "--batch", "8", "--passes", "3"},
	"prox-linear on batches": {"--net", "mlp", "--hidden", "4", "--model-batch", "8", "--passes", "3"},
	"adam":                   {"--net", "mlp", "--hidden", "4", "--method", "adam", "--clip", "1", "--batch", "8", "--passes", "3"},
	"nesterov":               {"--net", "mlp", "--hidden", "4", "--method", "sgd", "--lr", "0.02", "--momentum", "0.9", "--nesterov", "--average", "ema", "--batch", "8", "--passes", "3"},
}

// A run on a GPU gives the same model twice, even if the device is lost on the way and the run resumes from its
// checkpoint.
func TestGPUTrainsAndResumes(t *testing.T) {
	emulated(t)
	for name, flags := range gpuMethods {
		t.Run(name, func(t *testing.T) { resumesOnDevice(t, with(tiny, flags...)) })
	}
}

// resumesOnDevice fails unless a run on the emulated device gives the same model when the device is lost and the run
// resumes. Flags name no folder.
func resumesOnDevice(t *testing.T, flags []string) {
	t.Helper()
	whole, lost := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "lost")
	o := dsp(t, with(flags, "--out", whole)...).ok()
	if !strings.Contains(o.stderr, "device cuda:0 dsp emulated device") || !strings.Contains(o.stderr, "products=own") {
		t.Errorf("the log does not name the device or what multiplies matrices:\n%s", o.stderr)
	}
	if c, err := os.ReadFile(filepath.Join(whole, "config.yaml")); err != nil || !bytes.Contains(c, []byte("cuda:0")) {
		t.Errorf("config.yaml does not name the device: %v\n%s", err, c)
	}
	cut := with(flags, "--out", lost)
	early, late := 0, 1<<13 // launches until the device is lost: early loses it before the first pass ends, late never
	for resumable := false; !resumable; resumable = strings.Contains(o.stderr, "--resume continues") {
		at := (early + late) / 2
		if at == early {
			t.Fatal("the device was never lost after the first pass")
		}
		os.RemoveAll(lost)
		t.Setenv("DSP_EMULATED_LOSE", strconv.Itoa(at))
		if o = dsp(t, cut...); o.code == exitDone {
			late = at
		} else {
			early = at
		}
	}
	o.refused(exitFailed, "the device is lost", "CUDA_ERROR_LAUNCH_FAILED", "the last good checkpoint is pass", filepath.Join(lost, "checkpoint"))
	t.Setenv("DSP_EMULATED_LOSE", "")
	dsp(t, "train", "--resume", lost).ok()
	if !bytes.Equal(modelOf(t, whole), modelOf(t, lost)) {
		t.Error("resumed, the run gave another model")
	}
}

// Evaluation, prediction and export print the same on a GPU as on the CPU.
func TestGPUUse(t *testing.T) {
	emulated(t)
	dir := filepath.Join(t.TempDir(), "run")
	dsp(t, with(with(tiny, gpuMethods["casimir"]...), "--out", dir)...).ok()
	for _, args := range [][]string{
		{"eval", "--data", "builtin"},
		{"predict", "--input", "builtin"},
		{"predict", "--input", "builtin", "--marginals"},
		{"predict", "--input", "builtin", "--decode", "risk"}, // the host's oracle answers these two
		{"predict", "--input", "builtin", "--samples", "2", "--json"},
	} {
		args = append(args, "--model", dir)
		cpu, gpu := dsp(t, args...).ok(), dsp(t, append(args, "--device", "cuda:0")...).ok()
		if a, b := strings.Fields(cpu.stdout), strings.Fields(gpu.stdout); len(a) != len(b) || share(a, b) < 0.99 {
			t.Errorf("%v: on the CPU\n%.500s\non the GPU\n%.500s", args, cpu.stdout, gpu.stdout)
		}
	}
	var best struct {
		NBest []struct {
			Labels      []string
			Probability float64
		}
	}
	dsp(t, "predict", "--model", dir, "--input", "builtin", "--nbest", "3", "--json", "--device", "cuda").ok().json(&best)
	if len(best.NBest) != 3 || !(best.NBest[0].Probability >= best.NBest[2].Probability) {
		t.Errorf("%+v, want three outputs, best first", best)
	}
	to := filepath.Join(t.TempDir(), "p.npz")
	dsp(t, "export", "--model", dir, "--data", "builtin", "--to", to, "--device", "cuda").ok()
	if info, err := os.Stat(to); err != nil || info.Size() < 1000 {
		t.Errorf("potentials: %v", err)
	}
}

// share returns the fraction of fields that are equal.
func share(a, b []string) float64 {
	same := 0
	for i := range a {
		if a[i] == b[i] {
			same++
		}
	}
	return float64(same) / float64(len(a))
}

// dsp refuses what a GPU cannot do, with an exit code and a message.
func TestGPURefusals(t *testing.T) {
	emulated(t)
	out := filepath.Join(t.TempDir(), "run")
	linear := with(tiny, "--net", "linear", "--passes", "1", "--out", out)
	dsp(t, with(linear, "--device", "cuda:7")...).refused(exitBadInput, "--device cuda:7", "cuda:0", "--device cpu")
	dsp(t, with(linear, "--loss", "crf", "--method", "sdca")...).refused(exitBadInput, "--method sdca", "--device cpu")
	dsp(t, with(linear, "--tf32", "--device", "cpu")...).refused(exitBadInput, "--tf32")
	if o := dsp(t, with(linear, "--device", "auto")...).ok(); strings.Contains(o.stderr, "cuda:0") {
		t.Errorf("auto took the emulated device:\n%s", o.stderr)
	}
	dsp(t, with(linear, "--tf32", "--method", "svrg", "--out", out+"2")...).ok()

	emulated(t, "DSP_EMULATED_MEMORY=20000000")
	dsp(t, with(linear, "--batch", "8", "--method", "svrg", "--out", out+"3")...).refused(exitFailed, "out of device memory", "needs", "free", "lower --batch (now 8)")
	emulated(t, "DSP_EMULATED_DEVICES=0")
	dsp(t, with(linear, "--out", out+"4")...).refused(exitBadInput, "--device cuda", "CUDA_ERROR_NO_DEVICE", "--device cpu, or auto")
	if o := dsp(t, with(linear, "--device", "auto", "--out", out+"4")...).ok(); !strings.Contains(o.stderr, "device cpu: cuInit: CUDA_ERROR_NO_DEVICE") {
		t.Errorf("auto does not say why it takes the CPU:\n%s", o.stderr)
	}
}

// The method that auto picks for networks, prox-linear on batches, ends on a GPU where it ends on the CPU: on drawn
// words, and on text whose embeddings a batch reads only in part.
func TestGPUTrainsOnBatches(t *testing.T) {
	emulated(t)
	text := write(t, "train.conll", strings.Repeat(sentences+"\n", 6))
	for name, flags := range map[string][]string{
		"words":        {"--examples", "24,8,8", "--baselines", "off", "--net", "mlp", "--hidden", "4", "--loss", "crf"},
		"embeddings":   {"--train", text, "--format", "conll", "--net", "embed", "--channels", "6"},
		"crf on words": {"--train", text, "--format", "conll", "--net", "embed", "--channels", "6", "--loss", "crf", "--model-batch", "4"},
	} {
		t.Run(name, func(t *testing.T) {
			var r [2]resultJSON
			for k, device := range []string{"cpu", "cuda"} {
				o := dsp(t, with([]string{"train", "--passes", "3", "--json", "--device", device, "--out", filepath.Join(t.TempDir(), device)}, flags...)...).ok()
				o.json(&r[k])
				if device == "cuda" && !strings.Contains(o.stderr, "device cuda:0") {
					t.Errorf("it does not run on the device:\n%s", o.stderr)
				}
			}
			if a, b := *r[0].Objective, *r[1].Objective; r[1].Method != "prox-linear" || math.Abs(a-b) > 1e-3*a {
				t.Errorf("%s: objective %g on the CPU, %g on the device", r[1].Method, a, b)
			}
		})
	}
}

// A network for trees trains on the device as on the CPU, entirely unless the K best trees smooth the hinge: then the
// oracle is on the CPU. The model predicts the same on both.
func TestGPUTrainsParser(t *testing.T) {
	emulated(t)
	flags := with([]string{"train", "--examples", "12,4,4", "--passes", "1", "--batch", "4", "--json"}, smallBiaffine...)
	known := write(t, "known.conllu", "1\tthe\t_\tDET\t_\t_\t_\t_\t_\t_\n2\tdog\t_\tNOUN\t_\t_\t1\t_\t_\t_\n3\tbarks\t_\tVERB\t_\t_\t_\t_\t_\t_\n\n")
	for _, how := range [][]string{{"--method", "sgd", "--loss", "hinge"}, {"--method", "adam", "--loss", "softmax-margin"}, {"--method", "prox-linear", "--loss", "crf"},
		{"--method", "sgd", "--loss", "hinge", "--smoothing", "l2", "--mu", "1"}} {
		var r [2]resultJSON
		run := ""
		for k, device := range []string{"cpu", "cuda"} {
			run = filepath.Join(t.TempDir(), device)
			o := dsp(t, with(flags, with(how, "--device", device, "--out", run)...)...).ok()
			o.json(&r[k])
			if hosted := strings.Contains(o.stderr, "the oracle of a projective tree on the CPU"); device == "cuda" && hosted != slices.Contains(how, "l2") {
				t.Errorf("%v: the log does not say which half runs where:\n%s", how, o.stderr)
			}
		}
		if a, b := *r[0].Objective, *r[1].Objective; math.Abs(a-b) > 1e-3*a {
			t.Errorf("%v: objective %g on the CPU, %g on the device", how, a, b)
		}
		for _, asked := range [][]string{{"--input", "builtin"}, {"--input", "builtin", "--decode", "risk"}, {"--input", known, "--force"}} {
			ask := with([]string{"predict", "--model", run}, asked...)
			if here, there := dsp(t, ask...).ok().stdout, dsp(t, with(ask, "--device", "cuda")...).ok().stdout; here != there || !strings.Contains(here, "\t") {
				t.Errorf("%v %v: the device predicts\n%s\nthe CPU\n%s", how, asked, there, here)
			}
		}
	}
	dsp(t, "train", "--task", "parse", "--device", "cuda", "--examples", "24,8,8", "--out", filepath.Join(t.TempDir(), "linear")).refused(exitBadInput, "cpu")
}

// An own network trains on a GPU; one with an op of the user's own is refused by the name of the op, in training and in
// prediction.
func TestGPUOwnNetworks(t *testing.T) {
	emulated(t)
	own, example := ownNetworks, program(t, exampleProgram)
	on := []string{"--examples", "24,8,8", "--baselines", "off", "--method", "sgd", "--passes", "2"}
	run := filepath.Join(t.TempDir(), "run")
	o := example(t, with(with([]string{"train", "--net", "mine", "--device", "cuda", "--out", run}, on...))...).ok()
	if !strings.Contains(o.stderr, "device cuda:0 dsp emulated device") {
		t.Errorf("the log does not name the device:\n%s", o.stderr)
	}
	host := example(t, "predict", "--model", run, "--input", "builtin").ok().stdout
	if example(t, "predict", "--model", run, "--input", "builtin", "--device", "cuda").ok().stdout != host {
		t.Error("the GPU predicts other labels")
	}

	flags := with([]string{"train", "--net", "softsign", "--quiet"}, on...)
	own(t, with(flags, "--device", "cuda", "--out", filepath.Join(t.TempDir(), "x"))...).refused(exitBadInput, `own op "softsign"`, "--device cpu")
	cpu := filepath.Join(t.TempDir(), "cpu")
	own(t, with(flags, "--device", "cpu", "--out", cpu)...).ok()
	own(t, "predict", "--model", cpu, "--input", "builtin", "--device", "cuda").refused(exitBadInput, `own op "softsign"`)
}
