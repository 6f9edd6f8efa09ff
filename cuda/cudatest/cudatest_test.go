package cudatest_test

import (
	"errors"
	"math"
	"testing"

	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/device"
)

func TestKernelRuns(t *testing.T) {
	d := cudatest.Device(t)
	x := device.New[float32](d, 1000, "numbers")
	d.Launch("fill", device.Dim{X: 3}, device.Dim{X: 64}, 0, x, float32(2.5), int64(999))
	got := make([]float32, 1000)
	device.Download(d, got, x)
	for i, v := range got[:999] {
		if v != 2.5 {
			t.Fatalf("number %d is %v", i, v)
		}
	}
	if d.Info().Emulated() && !math.IsNaN(float64(got[999])) {
		t.Errorf("memory that was never written holds %v, expected poison", got[999])
	}
	device.Free(d, x)
}

func TestGraphReplays(t *testing.T) {
	d := cudatest.Device(t)
	x, y := device.New[float32](d, 100, "x"), device.New[float32](d, 100, "y")
	device.Zero(d, x)
	g := d.Capture(func() {
		device.Copy(d, y, x)
		d.Launch("fill", device.Dim{X: 1}, device.Dim{X: 32}, 0, x, float32(7), int64(50))
	})
	for replay, want := range []float32{0, 7} {
		d.Replay(g)
		got := make([]float32, 100)
		device.Download(d, got, y)
		if got[49] != want || got[50] != 0 {
			t.Errorf("replay %d: copied %v and %v, expected %v and 0", replay, got[49], got[50], want)
		}
	}
	g.Free()
}

func TestMemoryEnds(t *testing.T) {
	d := cudatest.Emulated(t, "DSP_EMULATED_MEMORY=10000")
	x := device.New[float32](d, 2000, "two thousand")
	if err := d.Sync(); err != nil {
		t.Fatal(err)
	}
	device.New[float32](d, 600, "six hundred")
	var full *device.OutOfMemoryError
	if !errors.As(d.Err(), &full) || full.Needed != 2400 || full.What != "six hundred" || full.Total != 10000 {
		t.Errorf("error %v, expected 2400 bytes needed of 10000", d.Err())
	}
	device.Free(d, x)
}

func TestDeviceIsLost(t *testing.T) {
	d := cudatest.Emulated(t, "DSP_EMULATED_LOSE=3:214")
	x := device.New[float32](d, 10, "x")
	for launch := range 5 {
		d.Launch("fill", device.Dim{X: 1}, device.Dim{X: 32}, 0, x, float32(1), int64(10))
		err := d.Sync()
		if launch < 2 && err != nil {
			t.Fatal(err)
		}
		var lost *device.LostError
		if launch >= 2 && (!errors.As(err, &lost) || lost.Err.Name != "CUDA_ERROR_ECC_UNCORRECTABLE") {
			t.Errorf("launch %d: error %v", launch, err)
		}
	}
	if err := d.Close(); err == nil {
		t.Error("closing a lost device returns no error")
	}
}

func TestDeviceOpensAgainAfterItsLoss(t *testing.T) {
	d := cudatest.Emulated(t)
	x := device.New[float32](d, 10, "x")
	d.Launch("fill", device.Dim{X: 1}, device.Dim{X: 32}, 0, x, float32(1), int64(10))
	if err := d.Sync(); err != nil {
		t.Error(err)
	}
}
