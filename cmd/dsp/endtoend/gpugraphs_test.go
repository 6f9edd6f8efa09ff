//go:build gpu && linux && amd64

package endtoend

import (
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// graphRuns are ways to train on graphs and on images that take a fraction of a second, with networks and convex
// methods. None names a device.
func graphRuns(t *testing.T) map[string][]string {
	t.Helper()
	onGraphs := func(flags ...string) []string {
		return with([]string{"train", "--task", "graph", "--train", drawnGraphs(t, "train.npz", 12, 3, 1), "--baselines", "off", "--passes", "3"}, flags...)
	}
	onImages := func(flags ...string) []string {
		return with([]string{"train", "--task", "segment", "--examples", "6,1,1", "--baselines", "off", "--passes", "3"}, flags...)
	}
	return map[string][]string{
		"graph":            onGraphs("--net", "mlp", "--hidden", "4", "--edge-units", "3"),
		"graph, sgd":       onGraphs("--net", "mlp", "--hidden", "4", "--edges", "potts", "--method", "sgd", "--batch", "4", "--lr", "0.1"),
		"graph, linear":    onGraphs("--edges", "typed", "--method", "bcfw", "--gap", "0"),
		"segment":          onImages("--cell-pixels", "24", "--net", "mlp", "--hidden", "4"),
		"segment, linear":  onImages("--cell-pixels", "24", "--method", "casimir", "--gap", "0", "--batch", "3"),
		"pixels":           onImages("--cell-pixels", "24", "--net", "conv-crop", "--region-pixels", "6", "--channels", "3", "--hidden", "4"),
		"pixels, sgd":      onImages("--cell-pixels", "24", "--net", "conv-crop", "--region-pixels", "6", "--features", "pixels", "--channels", "3", "--hidden", "4", "--method", "sgd", "--lr", "0.02", "--dropout", "0.1"),
		"pixels, a stack":  onImages("--net", pixelStack(t), "--superpixels", "20", "--region-pixels", "6", "--edge-units", "3"),
		"pixels, relaxed":  onImages("--cell-pixels", "24", "--net", "conv-crop", "--region-pixels", "6", "--channels", "3", "--hidden", "4", "--classes", "4", "--edges", "typed"),
		"pixels, together": onImages("--cell-pixels", "24", "--net", "conv-crop", "--region-pixels", "6", "--channels", "3", "--hidden", "4", "--model-batch", "all", "--inner", "casimir"),
	}
}

// Graphs and images train on a GPU with the network there and the oracle on the CPU, as on the CPU alone.
func TestGPUTrainsGraphs(t *testing.T) {
	emulated(t)
	for name, flags := range graphRuns(t) {
		t.Run(name, func(t *testing.T) {
			var r [2]resultJSON
			var truncated [2]bool
			for k, device := range []string{"cpu", "cuda"} {
				o := dsp(t, with(flags, "--json", "--batch", "2", "--device", device, "--out", filepath.Join(t.TempDir(), device))...).ok()
				o.json(&r[k])
				truncated[k] = strings.Contains(o.stderr, "others were truncated")
			}
			if truncated[0] != truncated[1] {
				t.Errorf("edges are truncated on the CPU: %v, on the device: %v", truncated[0], truncated[1])
			}
			if a, b := *r[0].Objective, *r[1].Objective; math.Abs(a-b) > 1e-3*math.Abs(a) {
				t.Errorf("%s: objective %g on the CPU, %g on the device", r[1].Method, a, b)
			}
		})
	}
}

// A run on graphs or images that loses its device resumes to the same model.
func TestGPUResumesGraphs(t *testing.T) {
	emulated(t)
	runs := graphRuns(t)
	for _, name := range []string{"graph", "graph, linear", "segment", "pixels, sgd", "pixels, a stack"} {
		t.Run(name, func(t *testing.T) { resumesOnDevice(t, with(runs[name], "--device", "cuda")) })
	}
}
