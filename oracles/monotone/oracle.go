// Package monotone answers for monotone alignments: the best path through a table of pairs, the K best ones, and sums
// over all paths, in O(n·m) for n source and m target items. The pairs (i, j) with the same i+j do not depend on each
// other, so vector kernels compute them side by side.
package monotone

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/monotone"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Oracle is the oracle of monotone alignments. The answer for an example has the same bits in every batch and with
// every kernel.
//
// With d = i+j, the recurrence of Max is
//
//	α_d(i) = pair(i, d−i) + max(α_{d−1}(i), α_{d−1}(i−1) + ↓_i, α_{d−2}(i−1) + ↘_i),    α_0(0) = pair(0, 0).
//
// Exp has sums in place of maxima, of numbers with exponents of their own, which have no limits and need no logarithms.
// Marginals follow backwards, from the shares of a pair's predecessors in its sum.
type Oracle struct {
	k     *kernels
	guard oracles.Guard

	// The open example: n source and m target items, and its scores.
	n, m       int
	pair, step []float32
	stride     int // numbers in a row: n rounded up to whole vectors, and a vector before and after

	x          []float64 // [stride] scores of pairs with the same i+j, padded with −∞
	down, diag []float64 // [stride] scores of steps
	nothing    []float64 // [stride] −∞
	α          []float64 // [(n+m−1)×stride]

	sums             scaled // [(n+m−1)×stride]
	never            scaled // [stride] zeros
	byDown, byDiag   scaled // [stride] weights of steps
	p                [3][]float64
	downs, diagonals []float64 // [stride] marginals of steps
	ranking          ranking
}

// New returns an oracle of monotone alignments with the fastest kernels of this build and machine.
func New() *Oracle { return &Oracle{k: fastest} }

var (
	_ oracles.Oracle  = (*Oracle)(nil)
	_ oracles.Sampler = (*Oracle)(nil)
	_ oracles.Rounder = (*Oracle)(nil)

	minusInf = math.Inf(-1)
)

// open reads example b. It reports whether its potentials are valid.
func (o *Oracle) open(θ *structured.Potentials, b int) bool {
	o.n, o.m = monotone.Sizes(θ.Parts, b)
	o.pair, o.step = θ.Parts[0].Of(b), θ.Parts[1].Of(b)
	o.stride = (o.n+lanes-1)/lanes*lanes + 2*lanes
	o.x, o.nothing = vec.Grow(o.x, o.stride), vec.Grow(o.nothing, o.stride)
	for i := range o.nothing {
		o.x[i], o.nothing[i] = minusInf, minusInf
	}
	return o.guard.Valid(θ, b)
}

// span returns the first and the last source item of the pairs with i+j = d.
func (o *Oracle) span(d int) (first, last int) { return max(0, d-o.m+1), min(d, o.n-1) }

// read sets x to the scores of the pairs with i+j = d, times the rate, and returns the places that kernels compute.
func (o *Oracle) read(d int, rate float64) (lo, hi int) {
	first, last := o.span(d)
	lo, hi = lanes+first/lanes*lanes, lanes+(last/lanes+1)*lanes
	for i := lo; i < lanes+first; i++ {
		o.x[i] = minusInf
	}
	at := first*o.m + d - first
	for i := lanes + first; i <= lanes+last; i++ {
		o.x[i] = float64(o.pair[at]) * rate
		at += o.m - 1
	}
	for i := lanes + last + 1; i < hi; i++ {
		o.x[i] = minusInf
	}
	return lo, hi
}

// margins writes −∞ to the places of a row before lo and from hi on that the next rows read.
func margins(row []float64, lo, hi int) {
	row[lo-1] = minusInf
	copy(row[hi:hi+lanes], []float64{minusInf, minusInf, minusInf, minusInf, minusInf, minusInf, minusInf, minusInf})
}

func (o *Oracle) row(table []float64, d int) []float64 { return table[d*o.stride:][:o.stride] }

// Rounding implements oracles.Rounder. A path has at most L = n+m−1 pairs and n−1 steps, and each is one operation on a
// number that is no larger than Σ |θ| of a path, S. Max compares two paths, and scores them again. A sum's weights err
// by 2⁻⁵³ of their exponents, twice, and by 8 units; a pair meets 8 operations more; and exponents, which reach S/μ and
// the logarithm of the number of paths, are rounded beyond 2⁵³.
func (o *Oracle) Rounding(θ *structured.Potentials, b int, μ float64) float64 {
	n, m := monotone.Sizes(θ.Parts, b)
	if n == 0 || m == 0 {
		return 0
	}
	l := float64(n + m)
	size := l*oracles.Largest(θ.Parts[0].Of(b)) + float64(n)*oracles.Largest(θ.Parts[1].Of(b))
	if μ == 0 {
		return 8 * oracles.Double * l * size
	}
	return 16 * oracles.Double * l * (size + μ*(2*l+16))
}
