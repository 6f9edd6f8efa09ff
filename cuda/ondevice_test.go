package cuda_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/cuda"
	"github.com/dsp-go/dsp/cuda/cudatest"
)

func TestUploadsOnADevice(t *testing.T) {
	d := cudatest.Device(t)
	var arrays []cuda.Array[uint64]
	var want [][]uint64
	for i, n := range []int{1, 3 << 20, 5, 1 << 20, 0, 32} { // 32 MiB, twice what the ring holds
		from := make([]uint64, n)
		for j := range from {
			from[j] = uint64(j)<<8 + uint64(i)
		}
		x := cuda.New[uint64](d, n, "x")
		cuda.Upload(d, x, from)
		arrays, want = append(arrays, x), append(want, slices.Clone(from))
		clear(from)
	}
	for i, x := range arrays {
		got := make([]uint64, x.Len())
		if cuda.Download(d, got, x); !slices.Equal(got, want[i]) {
			t.Errorf("an array of %d came back changed", x.Len())
		}
		cuda.Free(d, x)
	}
}

// The kernel's module is not loaded before, and a capture forbids to load it.
func TestFirstLaunchIsCaptured(t *testing.T) {
	d := cudatest.Device(t)
	x := cuda.New[float32](d, 8, "x")
	cuda.Zero(d, x)
	g := d.Capture(func() { d.Launch("fill", cuda.Dim{X: 1}, cuda.Dim{X: 32}, 0, x.Slice(2, 4), float32(3), int64(2)) })
	defer g.Free()
	got := make([]float32, 8)
	if cuda.Download(d, got, x); !slices.Equal(got, make([]float32, 8)) {
		t.Errorf("%v: a capture has run", got)
	}
	from := d.Record()
	d.Replay(g)
	to := d.Record()
	if cuda.Download(d, got, x); !slices.Equal(got, []float32{0, 0, 3, 3, 0, 0, 0, 0}) {
		t.Errorf("%v, expected two threes", got)
	}
	if since := to.Since(from); since < 0 || from.Since(to) > 0 {
		t.Errorf("%v from before a replay to after it", since)
	}
}

// A device that a wrong kernel broke says so, does nothing more, and another takes its place.
func TestFaultLosesTheDevice(t *testing.T) {
	d := cudatest.Emulated(t)
	x := cuda.New[float32](d, 8, "x")
	d.Launch("fill", cuda.Dim{X: 1}, cuda.Dim{X: 32}, 0, x, float32(3), int64(9))
	err := d.Sync()
	if lost, ok := errors.AsType[*cuda.LostError](err); !ok || lost.Err.Name != "CUDA_ERROR_ILLEGAL_ADDRESS" || !strings.HasPrefix(lost.Err.Call, "cu") {
		t.Fatalf("%v, expected an illegal address", err)
	}
	cuda.Zero(d, x)
	if y := cuda.New[float32](d, 8, "y"); y.Len() != 8 || d.Err() != err || d.Close() != err {
		t.Errorf("%v, expected the first error", d.Err())
	}
	again := cudatest.Device(t)
	z := cuda.New[float32](again, 8, "z")
	cuda.Zero(again, z)
	got := []float32{1, 1, 1, 1, 1, 1, 1, 1}
	if cuda.Download(again, got, z); !slices.Equal(got, make([]float32, 8)) {
		t.Errorf("%v, expected zeros", got)
	}
}
