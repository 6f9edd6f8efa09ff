package chain

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// Exp computes μ·log Σ_y exp(⟨θ,1_y⟩/μ) of every chain and its gradient by forward-backward. It works with
// probabilities in float32 if their range suffices for the chain's potentials over μ, else in float64, else in the log
// domain, which is slower but works for any range.
func (c *Oracle) Exp(θ *structured.Potentials, μ float64, value []float64, u *structured.Marginals) {
	c.prepare(θ)
	in, to := &c.θ, (*chains.Marginals)(nil)
	if u != nil {
		u.Like(θ)
		view := chains.In(u)
		to = &view
	}
	c.single.begin(&c.k.single)
	c.double.begin(&c.k.double)
	for b := range θ.Len() {
		lo, hi := in.Offsets[b], in.Offsets[b+1]
		if lo == hi {
			value[b] = 0
			if to != nil {
				clear(to.EdgeOf(b))
			}
			continue
		}
		s := c.spanOf(lo, hi)
		ok := false
		if !s.node.valid() || !s.edge.valid() {
			value[b] = oracles.RefuseSums(u, b)
			continue
		}
		if value[b], ok = c.single.run(c, b, s, μ, to); ok {
			continue
		}
		if value[b], ok = c.double.run(c, b, s, μ, to); ok {
			continue
		}
		value[b] = c.logs.backward(c, lo, hi, μ)
		if to == nil {
			continue
		}
		clear(to.NodeOf(b))
		clear(to.EdgeOf(b))
		if !math.IsInf(value[b], -1) {
			c.logs.forward(c, b, μ, to)
		}
	}
}

// bounds are the smallest and the largest of the potentials that are not −∞; +∞ and −∞ if all are.
type bounds struct {
	lo, hi float32
	all    bool // none is −∞
	nan    bool // some is NaN
}

// valid reports whether the potentials are −∞ or within ±structured.MostPotential.
func (b bounds) valid() bool {
	return !b.nan && (b.hi == minusInf || b.lo >= -structured.MostPotential && b.hi <= structured.MostPotential)
}

// seemValid reports whether the potentials of the chain at positions lo to hi-1 are valid, without edges of its own. It
// may overlook finite numbers beyond ±structured.MostPotential. A total is faster than bounds, and shows NaN and +∞.
func (c *Oracle) seemValid(lo, hi int) bool {
	if c.k.grandTotal(c.θ.Node[lo*c.y:hi*c.y]) <= structured.MostPotential && (c.θ.PerPosition || c.sharedValid()) {
		return true
	}
	return c.valid(lo, hi)
}

// valid reports whether they are valid, and overlooks nothing.
func (c *Oracle) valid(lo, hi int) bool {
	if !c.k.bounds(c.θ.Node[lo*c.y : hi*c.y]).valid() {
		return false
	}
	if c.θ.PerPosition {
		return c.k.bounds(c.θ.Edge[(lo+1)*c.y*c.y : hi*c.y*c.y]).valid()
	}
	return c.sharedValid()
}

// sharedValid reports whether the edges that chains share are valid.
func (c *Oracle) sharedValid() bool {
	return c.sharedBounds().valid()
}

// sharedBounds returns their bounds.
func (c *Oracle) sharedBounds() bounds {
	if !c.checked {
		c.checked, c.shared = true, c.k.bounds(c.θ.Edge)
	}
	return c.shared
}

// width returns hi − lo, or 0 if all potentials are −∞.
func (b bounds) width() float64 {
	if b.hi == minusInf {
		return 0
	}
	return float64(b.hi) - float64(b.lo)
}

// span holds the bounds of a chain's potentials.
type span struct{ node, edge bounds }

// spanOf returns the bounds of the potentials of the chain at positions lo to hi-1, which is not empty.
func (c *Oracle) spanOf(lo, hi int) span {
	s := span{node: c.k.bounds(c.θ.Node[lo*c.y : hi*c.y])}
	if c.θ.PerPosition {
		s.edge = c.k.bounds(c.θ.Edge[(lo+1)*c.y*c.y : hi*c.y*c.y])
	} else {
		s.edge = c.sharedBounds()
	}
	return s
}
