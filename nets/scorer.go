package nets

import "github.com/dsp-go/dsp/structured"

// Scorer is a map from weights w [Dim] and inputs to potentials.
type Scorer interface {
	// Dim returns the number of weights.
	Dim() int
	// Labels returns Y.
	Labels() int
	// PerPosition reports whether edge potentials differ from position to position.
	PerPosition() bool
	// Affine reports whether θ is an affine function of w, θ_i(w) = a_i + J_i w, as convex methods need.
	Affine() bool
	// NewWorker returns a worker, which owns all scratch memory: one a goroutine.
	NewWorker() Worker
}

// Worker evaluates a Scorer on batches. The same batch gives the same bits on any worker.
type Worker interface {
	// Score computes the potentials θ of every chain of the batch at w into θ, resized to fit. It neither keeps nor
	// changes w.
	Score(w []float32, batch *structured.Batch, θ *structured.Potentials) error
	// Pullback adds Jᵀv to grad [Dim], with J = ∂θ/∂w at the weights and batch of the last Score, and v as
	// marginals of that batch (with shared edges, the chains' edge parts are summed).
	Pullback(v *structured.Marginals, grad []float32) error
}
