//go:build gpu && linux && amd64

package cli

import (
	"path/filepath"
	"testing"
)

// Networks of boxes train on a device as on the CPU; features that stay out of memory are refused there.
func TestGPULocalises(t *testing.T) {
	emulated(t)
	tiny := []string{"train", "--task", "localise", "--examples", "6,2,2", "--passes", "2", "--quiet", "--json"}
	for name, flags := range map[string][]string{
		"linear":  {"--candidates", "10", "--crop", "8", "--method", "bcfw", "--gap", "0"},
		"crops":   {"--candidates", "8", "--crop", "8", "--net", "conv-crop", "--channels", "3", "--hidden", "4"},
		"maps":    {"--candidates", "8", "--crop", "16", "--net", "conv-map", "--channels", "3"},
		"windows": {"--search", "windows", "--cells", "5", "--gap", "0"},
	} {
		t.Run(name, func(t *testing.T) {
			var on, off struct{ Objective float64 }
			dsp(t, with(tiny, append(flags, "--device", "cpu", "--out", filepath.Join(t.TempDir(), "off"))...)...).ok().json(&off)
			dsp(t, with(tiny, append(flags, "--device", "cuda", "--out", filepath.Join(t.TempDir(), "on"))...)...).ok().json(&on)
			if d := on.Objective - off.Objective; d > 1e-3*off.Objective || d < -1e-3*off.Objective {
				t.Errorf("objective %g on the device, %g on the CPU", on.Objective, off.Objective)
			}
		})
	}
	dsp(t, with(tiny, "--candidates", "8", "--stream", "--device", "cuda")...).refused(exitBadInput, "--stream", "--device cpu")
}
