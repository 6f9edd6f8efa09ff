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
	}{{"", emulated, false}, {"", real, true}, {"arena", emulated, true}, {"arena", real, true},
		{"guarded", emulated, false}, {"guarded", real, false}} {
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

// What arrays hold is counted while they are lent, at least their bytes, and given back with each and with the device.
func TestHeld(t *testing.T) {
	for _, way := range []string{"arena", "guarded"} {
		t.Setenv("DSP_CUDA_MEMORY", way)
		lib := newFake(1 << 30)
		lib.current = 1
		m, err := newMemory(lib, Info{})
		if err != nil {
			t.Fatal(err)
		}
		before, sum := Held(), int64(0)
		for _, bytes := range []int64{1, Alignment, 5000} {
			at, err := m.allocate(bytes, "a test")
			if err != nil {
				t.Fatal(err)
			}
			with := Held()
			if more := with - before - sum; more < bytes || more >= bytes+Alignment {
				t.Errorf("%s: %d bytes are held of an array of %d", way, more, bytes)
			}
			if err := m.release(at); err != nil || Held() != before+sum {
				t.Errorf("%s: %d bytes are held after a release: %v", way, Held()-before-sum, err)
			}
			if _, err := m.allocate(bytes, "a test"); err != nil || Held() != with {
				t.Errorf("%s: %d bytes are held again, %d before: %v", way, Held(), with, err)
			}
			sum = with - before
		}
		if _, err := m.allocate(1<<40, "a test"); err == nil || Held() != before+sum {
			t.Errorf("%s: %d bytes are held of an array that was refused: %v", way, Held()-before-sum, err)
		}
		if err := m.release(1); err == nil || Held() != before+sum {
			t.Errorf("%s: an array that nobody lent is given back: %v", way, err)
		}
		if err := m.close(); err != nil || Held() != before {
			t.Errorf("%s: %d bytes are held at the end: %v", way, Held()-before, err)
		}
	}
}
