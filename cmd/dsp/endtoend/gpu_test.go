//go:build gpu && linux && amd64

package endtoend

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/cuda/cudatest"
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
	if o := dsp(t, "info").ok(); !strings.Contains(o.stdout, "\nNCCL      none: ") {
		t.Errorf("%s, expected why there is no NCCL", o.stdout)
	}
	t.Setenv("DSP_NCCL_LIBRARY", os.Getenv("DSP_CUDA_LIBRARY"))
	if o := dsp(t, "info").ok(); !strings.Contains(o.stdout, "\nNCCL      2.20.5 (/") {
		t.Errorf("%s, expected the emulator's NCCL", o.stdout)
	}
	if o := dsp(t, "info").ok(); strings.Count(o.stdout, "\nGPU ") != 2 || !strings.Contains(o.stdout, "cuda:1 dsp emulated") {
		t.Errorf("%s, expected two lines of GPUs", o.stdout)
	}
	t.Setenv("DSP_EMULATED_DEVICES", "0")
	if o := dsp(t, "info").ok(); !strings.Contains(o.stdout, "GPU       none: cuInit: CUDA_ERROR_NO_DEVICE") {
		t.Errorf("%s, expected cuInit's error", o.stdout)
	}
}

// Every kernel and every method agree with the CPU, and no kernel is left unchecked, however the device lends memory.
func TestSelftestOnGPU(t *testing.T) {
	cudatest.Device(t)
	for _, memory := range []string{"guarded", "arena"} {
		t.Run(memory, func(t *testing.T) {
			t.Setenv("DSP_CUDA_MEMORY", memory)
			selftestsOnGPU(t)
		})
	}
	t.Setenv("DSP_CUDA_MEMORY", "heap")
	dsp(t, "selftest", "--device", "cuda", "--list").refused(exitFailed, "DSP_CUDA_MEMORY=heap: expected arena or guarded")
}

func selftestsOnGPU(t *testing.T) {
	var report struct {
		OK     bool
		Checks []struct {
			Name, Found string
			OK          bool
			Cases       int
		}
	}
	o := dsp(t, "selftest", "--device", "cuda", "--json")
	o.json(&report)
	for _, c := range report.Checks {
		if !c.OK || c.Cases == 0 {
			t.Errorf("%s: %s", c.Name, c.Found)
		}
	}
	if o.code != exitDone || !report.OK || len(report.Checks) < 40 {
		t.Errorf("exit code %d, ok %v, %d checks", o.code, report.OK, len(report.Checks))
	}
}

// When the device fails, the check says so, and the next one runs on the device opened again.
func TestSelftestOnGPUFails(t *testing.T) {
	cudatest.Emulated(t, "DSP_EMULATED_LOSE=50")
	o := dsp(t, "selftest", "--device", "cuda", "--only", "arrays|products, float32|sums by key|launched")
	if o.code != exitFailed || !strings.Contains(o.stderr, "1 check failed") || strings.Count(o.stdout, "\nok ") != 2 || strings.Contains(o.stdout, "launched") {
		t.Errorf("exit code %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	if _, after, _ := strings.Cut(o.stdout, "FAIL  matrix products, float32"); !strings.Contains(after, "CUDA_ERROR_LAUNCH_FAILED") || !strings.Contains(after, "\nok    sums by key") {
		t.Errorf("the check after the one that failed is not ok:\n%s", o.stdout)
	}
}

func TestBenchOnGPU(t *testing.T) {
	cudatest.Device(t)
	var report struct {
		Copy float64 `json:"copy_gb_per_second"`
		Rows []struct {
			What         string
			Milliseconds float64
		}
	}
	dsp(t, "bench", "--device", "cuda", "--seconds", "0.001", "--json").ok().json(&report)
	for _, r := range report.Rows {
		if !(r.Milliseconds > 0) {
			t.Errorf("%s took %v ms", r.What, r.Milliseconds)
		}
	}
	if len(report.Rows) < 20 || !(report.Copy > 0) {
		t.Errorf("%d rows, a copy at %v GB/s", len(report.Rows), report.Copy)
	}
	dsp(t, "bench", "--device", "cuda:7").refused(exitBadInput, "cuda:7")
}

// Networks of boxes train on a device as on the CPU; features that stay out of memory are refused there.
func TestGPULocalises(t *testing.T) {
	emulated(t)
	tiny := []string{"train", "--task", "localise", "--examples", "6,2,2", "--passes", "2", "--quiet", "--json"}
	for name, flags := range map[string][]string{
		"linear":  {"--candidates", "10", "--candidate-pixels", "8", "--method", "bcfw", "--gap", "0"},
		"crops":   {"--candidates", "8", "--candidate-pixels", "8", "--net", "conv-crop", "--channels", "3", "--hidden", "4"},
		"maps":    {"--candidates", "8", "--candidate-pixels", "16", "--net", "conv-map", "--channels", "3"},
		"windows": {"--search", "windows", "--search-grid", "5", "--gap", "0"},
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
