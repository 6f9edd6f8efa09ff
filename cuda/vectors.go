package cuda

import "github.com/dsp-go/dsp/train/engine"

// vectors are those of the weights' size that live on the device while an optimiser works: of the path at work, of the
// gradient, and of points that the host asks about. Objectives on the same weights share them.
type vectors struct {
	d          *Device
	dim        int
	w, b, mean Array[float32] // the path's iterate, its drift and the mean of the iterates
	start      Array[float32] // where the path was opened
	grad       Array[float32] // D of the last step
	at, from   Array[float32] // weights of a full pass, or of a step or change that is not on the path
	drifts     bool           // whether the open path has a drift

	parts Array[float64] // [2][blocks] of products
	dual  Array[float64] // [3] of ascend
	seen  Array[float64] // [2] of observe
	by    Array[float64] // [1]
	γ     Array[float32] // [1]
	host  []float64      // parts
}

const vectorThreads = 256

// newVectors allocates them; b and mean only when a path has them.
func newVectors(d *Device, dim int) *vectors {
	v := &vectors{d: d, dim: dim}
	v.w = New[float32](d, dim, "the iterate")
	v.start = New[float32](d, dim, "the start of a path")
	v.grad = New[float32](d, dim, "the gradient")
	v.at = New[float32](d, dim, "weights")
	v.host = make([]float64, 2*v.partBlocks())
	v.parts = New[float64](d, len(v.host), "inner products")
	v.dual = New[float64](d, 3, "the dual")
	v.seen = New[float64](d, 2, "observations")
	v.by = New[float64](d, 1, "a step")
	v.γ = New[float32](d, 1, "a step")
	return v
}

func (v *vectors) free() {
	for _, x := range []Array[float32]{v.w, v.start, v.b, v.mean, v.grad, v.at, v.from, v.γ} {
		Free(v.d, x)
	}
	for _, x := range []Array[float64]{v.parts, v.dual, v.seen, v.by} {
		Free(v.d, x)
	}
}

// partBlocks is the grid of products, which depends on the number of weights alone.
func (v *vectors) partBlocks() int { return max(1, min(512, blocks(v.dim, 4*vectorThreads))) }

// open takes up a path.
func (v *vectors) open(w, b, mean []float32) {
	Upload(v.d, v.w, w)
	Copy(v.d, v.start, v.w)
	Zero(v.d, v.seen)
	if v.drifts = b != nil; v.drifts {
		Upload(v.d, room(v.d, &v.b, v.dim, "the drift"), b)
	}
	if mean != nil {
		Upload(v.d, room(v.d, &v.mean, v.dim, "the mean iterate"), mean)
	}
}

// walk does a step of the path; where by is not empty, its c is to be multiplied by that.
func (v *vectors) walk(s engine.Stride, by Array[float64]) {
	var b, mean Array[float32]
	if v.drifts && (s.Q != 0 || s.Beta != 0) {
		b = v.b
	}
	if s.Share != 0 {
		mean = room(v.d, &v.mean, v.dim, "the mean iterate")
	}
	grad := v.grad
	if s.C == 0 && s.Beta == 0 {
		grad = Array[float32]{} // there may be none yet
	}
	v.d.Launch("walk", v.sweep(), Dim{X: vectorThreads}, 0, v.w, b, grad, mean, by,
		float32(s.Rho), float32(s.Q), s.C, float32(s.Beta), float32(s.Share), int64(v.dim))
}

// sweep is a grid for one thread a few weights.
func (v *vectors) sweep() Dim { return Dim{X: min(4096, blocks(v.dim, vectorThreads))} }

// settle copies the path to the host.
func (v *vectors) settle(w, mean []float32) error {
	Download(v.d, w, v.w)
	if mean != nil {
		Download(v.d, mean, v.mean)
	}
	return v.d.Err()
}

// multiply begins ‖D‖² and ⟨D, w − from⟩, by parts; from may be empty.
func (v *vectors) multiply(w, from Array[float32]) {
	v.d.Launch("products", Dim{X: v.partBlocks()}, Dim{X: vectorThreads}, vectorThreads/32*8, v.grad, w, from, v.parts, int64(v.dim))
}

// products returns ‖D‖² and ⟨D, w⟩.
func (v *vectors) products(w Array[float32]) (norm, dot float64) {
	v.multiply(w, Array[float32]{})
	Download(v.d, v.host, v.parts)
	n := len(v.host) / 2
	for k := range n {
		norm += v.host[k]
		dot += v.host[n+k]
	}
	return norm, dot
}

// ascend begins the line search of block-coordinate Frank-Wolfe for D: γ and what the path's step is to be multiplied by
// are left on the device. Sums are those of the step.
func (v *vectors) ascend(sums Array[float64], λ float64, n int, share float64) {
	v.multiply(v.w, Array[float32]{})
	v.d.Launch("ascend", Dim{X: 1}, Dim{X: vectorThreads}, vectorThreads/32*8,
		v.parts, int32(v.partBlocks()), sums, v.dual, v.by, v.γ, λ, float64(n), share)
}

// observe takes in what a step on so many examples tells of how the gradient changes along the path.
func (v *vectors) observe(sums Array[float64], examples int) {
	v.multiply(v.w, v.start)
	v.d.Launch("observe", Dim{X: 1}, Dim{X: vectorThreads}, vectorThreads/32*8,
		v.parts, int32(v.partBlocks()), sums, v.seen, float64(examples))
}
