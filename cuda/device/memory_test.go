package device

import (
	"strings"
	"testing"
)

// The variable chooses how a device lends memory, whether it is emulated or real.
func TestMemoryByVariable(t *testing.T) {
	emulated, real := Info{Name: "dsp emulated device"}, Info{Name: "NVIDIA H200"}
	for _, c := range []struct {
		way   string
		on    Info
		arena bool
	}{{"", emulated, false}, {"", real, true}, {"arena", emulated, true}, {"arena", real, true}, {"guarded", emulated, false}, {"guarded", real, false}} {
		t.Setenv("DSP_CUDA_MEMORY", c.way)
		m, err := newMemory(newFake(1<<20), c.on)
		if err != nil {
			t.Fatal(err)
		}
		if _, arena := m.(*arena); arena != c.arena {
			t.Errorf("%q on %s: %T", c.way, c.on.Name, m)
		}
	}
	t.Setenv("DSP_CUDA_MEMORY", "heap")
	if _, err := newMemory(newFake(1<<20), real); err == nil || !strings.Contains(err.Error(), "DSP_CUDA_MEMORY=heap") {
		t.Errorf("error %v", err)
	}
}
