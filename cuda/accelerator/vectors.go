package accelerator

import (
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/train/engine"
)

// vectors holds the vectors with one entry per weight on the device: the optimiser's path, the gradient, and weights
// that the host uploads. Objectives on the same weights share them.
type vectors struct {
	d          *device.Device
	dim        int
	w, b, mean device.Array[float32] // the path's iterate, its drift and the mean of the iterates
	start      device.Array[float32] // start of the path
	grad       device.Array[float32] // D of the last step
	at, from   device.Array[float32] // weights of a full pass, or of a step or change that is not on the path
	drifts     bool                  // whether the open path has a drift

	parts device.Array[float64] // [2][blocks] of products
	dual  device.Array[float64] // [3] of ascend
	seen  device.Array[float64] // [2] of observe
	by    device.Array[float64] // [1]
	γ     device.Array[float32] // [1]
	host  []float64             // parts
}

const vectorThreads = 256

// newVectors allocates all but b and mean, which a path with a drift or a mean allocates.
func newVectors(d *device.Device, dim int) *vectors {
	v := &vectors{d: d, dim: dim}
	v.w = device.New[float32](d, dim, "the iterate")
	v.start = device.New[float32](d, dim, "the start of a path")
	v.grad = device.New[float32](d, dim, "the gradient")
	v.at = device.New[float32](d, dim, "weights")
	v.host = make([]float64, 2*v.partBlocks())
	v.parts = device.New[float64](d, len(v.host), "inner products")
	v.dual = device.New[float64](d, 3, "the dual")
	v.seen = device.New[float64](d, 2, "observations")
	v.by = device.New[float64](d, 1, "a step")
	v.γ = device.New[float32](d, 1, "a step")
	return v
}

func (v *vectors) free() {
	for _, x := range []device.Array[float32]{v.w, v.start, v.b, v.mean, v.grad, v.at, v.from, v.γ} {
		device.Free(v.d, x)
	}
	for _, x := range []device.Array[float64]{v.parts, v.dual, v.seen, v.by} {
		device.Free(v.d, x)
	}
}

// partBlocks returns the grid of the products. It depends on the number of weights only.
func (v *vectors) partBlocks() int { return max(1, min(512, device.CeilDiv(v.dim, 4*vectorThreads))) }

// open starts a path.
func (v *vectors) open(w, b, mean []float32) {
	device.Upload(v.d, v.w, w)
	device.Copy(v.d, v.start, v.w)
	device.Zero(v.d, v.seen)
	if v.drifts = b != nil; v.drifts {
		device.Upload(v.d, device.Grow(v.d, &v.b, v.dim, "the drift"), b)
	}
	if mean != nil {
		device.Upload(v.d, device.Grow(v.d, &v.mean, v.dim, "the mean iterate"), mean)
	}
}

// walk takes a step along the path. If by is not empty, c is multiplied by it.
func (v *vectors) walk(s engine.Stride, by device.Array[float64]) {
	var b, mean device.Array[float32]
	if v.drifts && (s.Q != 0 || s.Beta != 0) {
		b = v.b
	}
	if s.Share != 0 {
		mean = device.Grow(v.d, &v.mean, v.dim, "the mean iterate")
	}
	grad := v.grad
	if s.C == 0 && s.Beta == 0 {
		grad = device.Array[float32]{} // there may be no gradient yet
	}
	v.d.Launch("walk", v.sweep(), device.Dim{X: vectorThreads}, 0, v.w, b, grad, mean, by,
		float32(s.Rho), float32(s.Q), s.C, float32(s.Beta), float32(s.Share), int64(v.dim))
}

// sweep returns a grid in which each thread processes a few weights.
func (v *vectors) sweep() device.Dim {
	return device.Dim{X: min(4096, device.CeilDiv(v.dim, vectorThreads))}
}

// read copies the path to the host.
func (v *vectors) read(w, mean []float32) error {
	device.Download(v.d, w, v.w)
	if mean != nil {
		device.Download(v.d, mean, v.mean)
	}
	return v.d.Err()
}

// multiply starts computing ‖D‖² and ⟨D, w − from⟩, in parts; from may be empty.
func (v *vectors) multiply(w, from device.Array[float32]) {
	v.d.Launch("products", device.Dim{X: v.partBlocks()}, device.Dim{X: vectorThreads}, vectorThreads/32*8, v.grad, w,
		from, v.parts, int64(v.dim))
}

// products returns ‖D‖² and ⟨D, w⟩.
func (v *vectors) products(w device.Array[float32]) (norm, dot float64) {
	v.multiply(w, device.Array[float32]{})
	device.Download(v.d, v.host, v.parts)
	n := len(v.host) / 2
	for k := range n {
		norm += v.host[k]
		dot += v.host[n+k]
	}
	return norm, dot
}

// ascend starts the line search of block-coordinate Frank-Wolfe along D. It leaves γ and the factor of the path's step
// on the device. sums are those of the step.
func (v *vectors) ascend(sums device.Array[float64], λ float64, n int, share float64) {
	v.multiply(v.w, device.Array[float32]{})
	v.d.Launch("ascend", device.Dim{X: 1}, device.Dim{X: vectorThreads}, vectorThreads/32*8,
		v.parts, int32(v.partBlocks()), sums, v.dual, v.by, v.γ, λ, float64(n), share)
}

// observe records how the gradient changes along the path, from a step on the given number of examples.
func (v *vectors) observe(sums device.Array[float64], examples int) {
	v.multiply(v.w, v.start)
	v.d.Launch("observe", device.Dim{X: 1}, device.Dim{X: vectorThreads}, vectorThreads/32*8,
		v.parts, int32(v.partBlocks()), sums, v.seen, float64(examples))
}
