//go:build gpu && linux && amd64

package cli

import (
	"os"
	"strings"
	"testing"
)

func init() { buildFlags = append(buildFlags, "-tags", "gpu") }

func TestInfoOfGPUs(t *testing.T) {
	if os.Getenv("DSP_CUDA_LIBRARY") == "" {
		t.Skip("no device: make test-gpu emulates one")
	}
	t.Setenv("DSP_EMULATED_DEVICES", "2")
	var about struct {
		Devices []string
		GPUs    []struct {
			Name, Capability string
			Memory           int64
		}
		NoGPU string `json:"no_gpu"`
	}
	dsp(t, "info", "--json").ok().json(&about)
	if len(about.Devices) != 3 || about.Devices[2] != "cuda:1" || len(about.GPUs) != 2 || about.GPUs[1].Memory <= 0 || about.NoGPU != "" {
		t.Errorf("%+v, expected the CPU and two GPUs", about)
	}
	if o := dsp(t, "info").ok(); strings.Count(o.stdout, "\nGPU ") != 2 || !strings.Contains(o.stdout, "cuda:1 dsp emulated") {
		t.Errorf("%s, expected two lines of GPUs", o.stdout)
	}
	t.Setenv("DSP_EMULATED_DEVICES", "0")
	if o := dsp(t, "info").ok(); !strings.Contains(o.stdout, "GPU       none: cuInit: CUDA_ERROR_NO_DEVICE") {
		t.Errorf("%s, expected cuInit's error", o.stdout)
	}
}
