package engine

import "github.com/dsp-go/dsp/nets"

// Lineariser is a scorer that is not affine but offers its linearisation, on which the prox-linear method works.
// Networks of package nets need not implement it (LineariserOf).
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

// LineariserOf returns what linearises a scorer: the scorer itself, or the linearisation that every network of package
// nets has. It returns false for other scorers.
func LineariserOf(s nets.Scorer) (Lineariser, bool) {
	if l, ok := s.(Lineariser); ok {
		return l, true
	}
	net, ok := s.(*nets.Net)
	if !ok {
		return nil, false
	}
	return network{net}, true
}

// network is a network with its linearisation.
type network struct{ *nets.Net }

// Linearise returns the network's first-order model, taken at the origin until it is moved.
func (n network) Linearise() Linearised { return nets.Linearise(n.Net, make([]float32, n.Dim())) }
