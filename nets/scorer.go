package nets

import (
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// Scorer is a map from weights w [Dim] and inputs to potentials.
type Scorer interface {
	// Dim returns the number of weights.
	Dim() int
	// Form returns the form of the potentials.
	Form() structured.Form
	// Affine reports whether θ is an affine function of w, θ_i(w) = a_i + J_i w, as convex methods need.
	Affine() bool
	// NewWorker returns a worker, which owns all scratch memory: one per goroutine.
	NewWorker() Worker
}

// Worker evaluates a Scorer on batches. All workers return the same bits for the same batch.
type Worker interface {
	// Score computes the potentials θ of every example of the batch at w into θ, resized to fit. It neither keeps nor
	// changes w.
	Score(w []float32, batch *structured.Batch, θ *structured.Potentials) error
	// Pullback adds Jᵀv to grad [Dim], with J = ∂θ/∂w at the weights and batch of the last Score, and v as
	// marginals of that batch (the examples' rows of a tied part are summed).
	Pullback(v *structured.Marginals, grad []float32) error
}

// DropoutWorker is a Worker of a scorer that has dropout.
type DropoutWorker interface {
	Worker
	// ScoreDropout is Score with dropout. The masks are a function of the seed, the example, the position in it and the
	// unit; seed 0 is Score. Pullback is at the masks of the last Score, too.
	ScoreDropout(w []float32, seed uint64, batch *structured.Batch, θ *structured.Potentials) error
}

// ThresholdWorker is a Worker that scores with thresholded weights without computing all of them.
type ThresholdWorker interface {
	Worker
	// ScoreThresholded is Score with sign(w_j)·max(|w_j| − τ, 0) instead of each w_j.
	ScoreThresholded(w []float32, τ float32, batch *structured.Batch, θ *structured.Potentials) error
}

// PartlyShrunk is a Scorer of which λ₁‖w‖₁ leaves some weights alone.
type PartlyShrunk interface {
	Scorer
	// Unshrunk lists their ranges w[lo:hi] in order.
	Unshrunk() [][2]int
}

// Unshrunk returns the ranges w[lo:hi] that λ₁‖w‖₁ leaves alone, in order; nil if there are none.
func Unshrunk(s Scorer) [][2]int {
	if p, ok := s.(PartlyShrunk); ok {
		return p.Unshrunk()
	}
	return nil
}

// Network is a Scorer whose weights have names and initial values: a Net or a sparse.Linear.
type Network interface {
	Scorer
	// Name names the kind of network.
	Name() string
	// Layout says where each parameter lives in w.
	Layout() graph.Layout
	// Init draws initial weights.
	Init(seed uint64) []float32
}

var _ Network = (*Net)(nil)
