package chain

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Max finds the best output of every chain (Viterbi 1967) with the recurrence
//
//	δ_t(j) = θ_t(j) + max_i (δ_{t−1}(i) + θ_t(i, j)).
//
// It stores δ but no back-pointers: it recomputes the argmax on the best path only. The recurrence runs in float32; the
// value is the score of the path in float64. Ties go to the smaller label, from the last position back.
func (c *Oracle) Max(θ *structured.Potentials, y []int32, value []float64) {
	c.prepare(θ)
	for b := range θ.Len() {
		lo, hi := c.θ.Offsets[b], c.θ.Offsets[b+1]
		if lo == hi {
			value[b] = 0
			continue
		}
		labels := y[lo:hi]
		switch allowed, valid := c.forward(lo, hi); {
		case !valid:
			value[b] = oracles.Refuse(labels)
			continue
		case !allowed:
			clear(labels)
			value[b] = math.Inf(-1)
			continue
		}
		c.backtrack(lo, labels)
		if value[b] = c.θ.Score(b, labels); math.IsInf(value[b], 0) {
			value[b] = oracles.Refuse(labels)
		}
	}
}

// rebase is the number of positions after which δ is shifted to a largest entry of 0. Otherwise float32 would lose the
// digits that distinguish paths of long chains.
const rebase = 64

// forward computes δ of the chain at positions lo to hi-1. It reports whether any output is allowed, and whether the
// potentials are valid. It does not read edges per position for that, which would take a quarter of the time: NaN among
// those of no best path goes unseen.
func (c *Oracle) forward(lo, hi int) (allowed, valid bool) {
	n := hi - lo
	c.δ = vec.Grow(c.δ, n*c.stride)
	c.shift = vec.Grow(c.shift, n)
	copy(c.row(0), c.node(lo)[:c.y])
	pad(c.row(0), c.y)
	c.shift[0] = 0
	for t := 1; t < n; t++ {
		edge, stride := c.edgeInto(lo + t)
		next := c.row(t)
		c.k.maxPlus(next, c.row(t-1), edge, c.node(lo+t), c.y, stride)
		c.shift[t] = 0
		if t%rebase == 0 {
			c.shift[t] = subtractMax(next)
		}
	}
	if !c.seemValid(lo, hi) {
		return false, false
	}
	last := c.row(n - 1)
	if last[c.k.argmax(last)] == minusInf {
		return false, c.valid(lo, hi) // or large numbers overflowed
	}
	return true, true
}

// subtractMax subtracts the largest entry of x from all entries and returns it, or returns 0 if all are −∞.
func subtractMax(x []float32) float32 {
	m := x[argmax(x)]
	if m == minusInf {
		return 0
	}
	for i := range x {
		x[i] -= m
	}
	return m
}

// backtrack reads the best path of the chain that starts at lo from δ.
func (c *Oracle) backtrack(lo int, labels []int32) {
	t := len(labels) - 1
	labels[t] = int32(c.k.argmax(c.row(t)))
	for ; t > 0; t-- {
		labels[t-1] = c.predecessor(lo, t, labels[t])
	}
}

// predecessor returns the label before label l of position t on the best path that ends there.
func (c *Oracle) predecessor(lo, t int, l int32) int32 {
	return int32(c.k.addArgmax(c.sum, c.row(t-1), c.columnInto(lo+t, l)))
}
