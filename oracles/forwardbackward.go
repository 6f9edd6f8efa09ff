package oracles

import (
	"math"

	"github.com/dsp-go/dsp/structured"
)

// Exp computes μ·log Σ_y exp(⟨θ,1_y⟩/μ) of every chain and its gradient by forward-backward: on probabilities in float32
// where the chain's potentials, over μ, span no more than that holds, else in float64, else in the log domain, which is
// slower and always holds.
func (c *Chain) Exp(θ *structured.Potentials, μ float64, value []float64, u *structured.Marginals) {
	c.prepare(θ)
	if u != nil {
		u.Resize(θ.Offsets, θ.Y, θ.PerPosition)
	}
	c.single.begin(&c.k.single)
	c.double.begin(&c.k.double)
	var shared bounds
	if !θ.PerPosition {
		shared = c.k.bounds(θ.Edge)
	}
	for b := range θ.Len() {
		lo, hi := θ.Offsets[b], θ.Offsets[b+1]
		if lo == hi {
			value[b] = 0
			if u != nil {
				clear(u.EdgeOf(b))
			}
			continue
		}
		s := span{node: c.k.bounds(θ.Node[lo*c.y : hi*c.y]), edge: shared}
		if θ.PerPosition {
			s.edge = c.k.bounds(θ.Edge[(lo+1)*c.y*c.y : hi*c.y*c.y])
		}
		ok := false
		if value[b], ok = c.single.run(c, b, s, μ, u); ok {
			continue
		}
		if value[b], ok = c.double.run(c, b, s, μ, u); ok {
			continue
		}
		value[b] = c.logs.backward(c, lo, hi, μ)
		if u == nil {
			continue
		}
		clear(u.NodeOf(b))
		clear(u.EdgeOf(b))
		if !math.IsInf(value[b], -1) {
			c.logs.forward(c, b, μ, value[b], u)
		}
	}
}

// bounds are the least and the largest of those potentials that are not −∞; +∞ and −∞ if there are none.
type bounds struct {
	lo, hi float32
	all    bool // none is −∞
}

// width returns hi − lo, or 0 if there are none.
func (b bounds) width() float64 {
	if b.hi == never {
		return 0
	}
	return float64(b.hi) - float64(b.lo)
}

// span is what the potentials of a chain span.
type span struct{ node, edge bounds }
