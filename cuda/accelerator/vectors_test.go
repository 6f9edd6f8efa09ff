package accelerator_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// walk computes the same stride as package vec, with any of its vectors missing.
func TestWalk(t *testing.T) {
	d := cudatest.Device(t)
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 255, 700} {
		for _, c := range []struct{ ρ, q, c, β, share, by float64 }{
			{1, 0, -0.5, 0, 0, 1},
			{0.9, 0, -0.5, 0, 1, 1},
			{0.9, 1, -0.5, 0, 0.25, 1},
			{0.9, 1, -0.5, -0.1, 0.25, 1},
			{1, 0, 0, 0, 0.5, 1},
			{0, 2, 1, 0, 0.5, -0.125},
		} {
			w, b, grad, mean := cudatest.Vector(r, n, 1), cudatest.Vector(r, n, 1), cudatest.Vector(r, n, 1), cudatest.Vector(r, n, 1)
			var none device.Array[float32]
			dw, db, dgrad, dmean := cudatest.Uploaded(d, w), none, none, none
			var by device.Array[float64]
			if c.q != 0 || c.β != 0 {
				db = cudatest.Uploaded(d, b)
			}
			if c.c != 0 {
				dgrad = cudatest.Uploaded(d, grad)
			}
			if c.share == 1 {
				dmean = device.New[float32](d, n, "a new mean")
			} else if c.share != 0 {
				dmean = cudatest.Uploaded(d, mean)
			}
			if c.by != 1 {
				by = cudatest.Uploaded(d, []float64{c.by})
			}
			d.Launch("walk", device.Dim{X: 2}, device.Dim{X: 256}, 0, dw, db, dgrad, dmean, by,
				float32(c.ρ), float32(c.q), c.c, float32(c.β), float32(c.share), int64(n))
			vec.Axpby(float32(c.q), b, float32(c.ρ), w)
			vec.Axpy(float32(c.c*c.by), grad, w)
			vec.Axpy(float32(c.β), grad, b)
			vec.Axpby(float32(c.share), w, float32(1-c.share), mean)
			cudatest.Near(t, "w", cudatest.Downloaded(d, dw), w, 1e-6)
			if c.β != 0 {
				cudatest.Near(t, "b", cudatest.Downloaded(d, db), b, 1e-6)
			}
			if c.share != 0 {
				cudatest.Near(t, "mean", cudatest.Downloaded(d, dmean), mean, 1e-6)
			}
		}
	}
}

// Products in parts add up to those of package vec, and the line search equals BCFW's.
func TestAscend(t *testing.T) {
	d := cudatest.Device(t)
	r := rand.New(rand.NewPCG(3, 4))
	const n, blocks, examples = 3000, 3, 7
	grad, w := cudatest.Vector(r, n, 1), cudatest.Vector(r, n, 1)
	parts := device.New[float64](d, 2*blocks, "parts")
	var none device.Array[float32]
	d.Launch("products", device.Dim{X: blocks}, device.Dim{X: 256}, 64, cudatest.Uploaded(d, grad), cudatest.Uploaded(d, w), none, parts, int64(n))
	got := cudatest.Downloaded(d, parts)
	norm, product := got[0]+got[1]+got[2], got[3]+got[4]+got[5]
	if want := vec.Norm2(grad); math.Abs(norm-want) > 1e-9*want {
		t.Errorf("‖D‖² is %v, want %v", norm, want)
	}
	if want := vec.Dot64(grad, w); math.Abs(product-want) > 1e-9*vec.Norm2(grad) {
		t.Errorf("⟨D, w⟩ is %v, want %v", product, want)
	}
	for _, linear := range []float64{3, 1e6, 0, -1} {
		const λ, share = 0.3, 0.25
		books, by, γ := cudatest.Uploaded(d, []float64{5, 4, 3}), device.New[float64](d, 1, "a step"), device.New[float32](d, 1, "γ")
		d.Launch("ascend", device.Dim{X: 1}, device.Dim{X: 256}, 64, parts, int32(blocks), cudatest.Uploaded(d, []float64{9, 9, linear}), books, by, γ,
			λ, float64(examples), share)
		gap, way := linear/examples, norm/(λ*examples*examples)
		step := float64(float32(min(max(gap/way, 0), 1)))
		b := 5 + step/examples*(linear-product)
		want := []float64{b, 4 + share*(b-4), 3 + step*gap - step*step/2*way, -step / (λ * examples), step}
		if got := append(append(cudatest.Downloaded(d, books), cudatest.Downloaded(d, by)...), float64(cudatest.Downloaded(d, γ)[0])); !slices.EqualFunc(got, want, func(x, y float64) bool {
			return math.Abs(x-y) <= 1e-9*(1+math.Abs(y))
		}) {
			t.Errorf("with a gap of %v the books are %v, want %v", gap, got, want)
		}
	}
}

// observe records a step only if all its answers are exact and something moved.
func TestObserve(t *testing.T) {
	d := cudatest.Device(t)
	r := rand.New(rand.NewPCG(5, 6))
	const n, blocks, size = 1500, 2, 4
	grad, w, from := cudatest.Vector(r, n, 1), cudatest.Vector(r, n, 1), cudatest.Vector(r, n, 1)
	parts, seen := device.New[float64](d, 2*blocks, "parts"), cudatest.Uploaded(d, []float64{1, 2})
	d.Launch("products", device.Dim{X: blocks}, device.Dim{X: 256}, 64, cudatest.Uploaded(d, grad), cudatest.Uploaded(d, w), cudatest.Uploaded(d, from), parts, int64(n))
	for _, c := range []struct{ exact, moved float64 }{{4, 0}, {3, 2}, {4, 2}} {
		d.Launch("observe", device.Dim{X: 1}, device.Dim{X: 256}, 64, parts, int32(blocks), cudatest.Uploaded(d, []float64{9, 9, 9, 9, 9, c.exact, c.moved}),
			seen, float64(size))
	}
	rise, progress := 1+vec.Norm2(grad)/(size*size), 2+(vec.Dot64(grad, w)-vec.Dot64(grad, from))/size
	if got := cudatest.Downloaded(d, seen); math.Abs(got[0]-rise) > 1e-9*rise || math.Abs(got[1]-progress) > 1e-6*rise {
		t.Errorf("observed %v, want %v and %v", got, rise, progress)
	}
}
