package device_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/device"
)

func TestUploadsOnADevice(t *testing.T) {
	d := cudatest.Device(t)
	var arrays []device.Array[uint64]
	var want [][]uint64
	for i, n := range []int{1, 3 << 20, 5, 1 << 20, 0, 32} { // 32 MiB, twice the staging ring
		from := make([]uint64, n)
		for j := range from {
			from[j] = uint64(j)<<8 + uint64(i)
		}
		x := device.New[uint64](d, n, "x")
		device.Upload(d, x, from)
		arrays, want = append(arrays, x), append(want, slices.Clone(from))
		clear(from)
	}
	for i, x := range arrays {
		got := make([]uint64, x.Len())
		if device.Download(d, got, x); !slices.Equal(got, want[i]) {
			t.Errorf("an array of %d came back changed", x.Len())
		}
		device.Free(d, x)
	}
}

// The first launch of a kernel is in a capture, during which its module cannot be loaded.
func TestFirstLaunchIsCaptured(t *testing.T) {
	d := cudatest.Device(t)
	x := device.New[float32](d, 8, "x")
	device.Zero(d, x)
	g := d.Capture(func() {
		d.Launch("fill", device.Dim{X: 1}, device.Dim{X: 32}, 0, x.Slice(2, 4), float32(3), int64(2))
	})
	defer g.Free()
	got := make([]float32, 8)
	if device.Download(d, got, x); !slices.Equal(got, make([]float32, 8)) {
		t.Errorf("%v: the capture has run its work", got)
	}
	from := d.Record()
	d.Replay(g)
	to := d.Record()
	if device.Download(d, got, x); !slices.Equal(got, []float32{0, 0, 3, 3, 0, 0, 0, 0}) {
		t.Errorf("%v, expected two threes", got)
	}
	if since := to.Since(from); since < 0 || from.Since(to) > 0 {
		t.Errorf("%v from before a replay to after it", since)
	}
}

// A device that a faulty kernel broke reports it and does nothing more; a new device works.
func TestFaultLosesTheDevice(t *testing.T) {
	d := cudatest.Emulated(t)
	x := device.New[float32](d, 8, "x")
	d.Launch("fill", device.Dim{X: 1}, device.Dim{X: 32}, 0, x, float32(3), int64(9))
	err := d.Sync()
	if lost, ok := errors.AsType[*device.LostError](err); !ok || lost.Err.Name != "CUDA_ERROR_ILLEGAL_ADDRESS" ||
		!strings.HasPrefix(lost.Err.Call, "cu") {
		t.Fatalf("%v, expected an illegal address", err)
	}
	device.Zero(d, x)
	if y := device.New[float32](d, 8, "y"); y.Len() != 8 || d.Err() != err || d.Close() != err {
		t.Errorf("%v, expected the first error", d.Err())
	}
	again := cudatest.Device(t)
	z := device.New[float32](again, 8, "z")
	device.Zero(again, z)
	got := []float32{1, 1, 1, 1, 1, 1, 1, 1}
	if device.Download(again, got, z); !slices.Equal(got, make([]float32, 8)) {
		t.Errorf("%v, expected zeros", got)
	}
}

// An array that grows by one element at a time is replaced rarely, and what it returns has the length asked for.
func TestGrowIsSeldom(t *testing.T) {
	d := cudatest.Device(t)
	var x device.Array[float32]
	defer func() { device.Free(d, x) }()
	for n := 1; n <= 1000; n++ {
		if got := device.Grow(d, &x, n, "a test"); got.Len() != n {
			t.Fatalf("%d elements, asked for %d", got.Len(), n)
		}
	}
	if d.Moves() > 20 { // 1.5^18 > 1000
		t.Errorf("replaced %d times", d.Moves())
	}
	before := x.Len()
	if device.Grow(d, &x, 5, "a test"); x.Len() != before {
		t.Errorf("%d elements, %d before", x.Len(), before)
	}
}
