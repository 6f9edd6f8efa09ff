package cudatest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/cuda/device"
)

// Must fails the test if err is not nil.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Near fails the test unless got equals want to a tolerance relative to the largest entry of want, or to 1 if that is
// larger.
func Near(t testing.TB, what string, got, want []float32, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d entries, want %d", what, len(got), len(want))
	}
	top := 1.0
	for _, x := range want {
		top = max(top, math.Abs(float64(x)))
	}
	for i, g := range got {
		if d := math.Abs(float64(g) - float64(want[i])); !(d <= tolerance*top) {
			t.Fatalf("%s[%d] = %g, want %g (scale %g)", what, i, g, want[i], top)
		}
	}
}

// Vector draws n numbers from a normal distribution with mean 0 and standard deviation scale.
func Vector(rng *rand.Rand, n int, scale float64) []float32 {
	w := make([]float32, n)
	for i := range w {
		w[i] = float32(rng.NormFloat64() * scale)
	}
	return w
}

// Uploaded returns a new array that holds x.
func Uploaded[E device.Element](d *device.Device, x []E) device.Array[E] {
	to := device.New[E](d, len(x), "a test's")
	device.Upload(d, to, x)
	return to
}

// Downloaded returns what an array holds.
func Downloaded[E device.Element](d *device.Device, x device.Array[E]) []E {
	to := make([]E, x.Len())
	device.Download(d, to, x)
	return to
}
