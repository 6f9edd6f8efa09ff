package engine

import "github.com/dsp-go/dsp/nets"

// Lineariser is a scorer that is not affine but offers its linearisation, on which the prox-linear method works.
type Lineariser interface {
	nets.Scorer
	Linearise() Linearised
}

// Linearised is a network linearised at a point w_k: the affine scorer θ(w_k) + J(w_k)(w − w_k).
type Linearised interface {
	nets.Scorer
	// MoveTo copies w to w_k. Existing workers use it from their next Score.
	MoveTo(w []float32)
}
