package chart

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// bounds holds bounds on what the recurrence rounds, of each cell over all its derivations. With unit u = 2⁻⁵³, and for
// a cell of n terms t_k = (w_k + x_k) + y_k, where all numbers are scores over μ:
//
//	size(cell)   = max_k |w_k| + size(x_k) + size(y_k)                     no derivation's Σ|w| is more
//	most(cell)   = max_k |w_k| + most(x_k) + most(y_k) + log n             |value| is not more; without log n for maxima
//	count(cell)  = max_k 1 + count(x_k) + count(y_k)                       weights of a derivation
//	error(cell)  = max_k error(w_k) + error(x_k) + error(y_k) + u·(3·most(cell) + 4·log n + n + 4)
//	noise(cell)  = max_k noise(x_k) + noise(y_k) + u·(3·most(cell) + 4·log n + 2n + 12 + min(700, 2·most(cell)) + uses(cell))
//
// Error bounds how far the value is off: the two additions of a term err by 2u·most; the maximum and log Σ exp are
// 1-Lipschitz in the largest error of a term. With d_k = t_k − max t, the sum has relative errors u·Σ share_k·|d_k| ≤
// u·log n from rounded d_k, since log Σ exp d ≥ 0 makes Σ share·|d| at most the entropy of the shares; 2u from exp,
// (n−1)·u from additions, and n·e⁻⁷⁰⁰ < u from terms that are left out. The logarithm, of at most log n, errs by 2u of
// itself, and the last addition by u·most. A maximum has the additions only: u·2·most(cell), without the rest. A weight
// is rounded where it is divided by μ: error(w) = 2u·|w|, 0 for maxima.
//
// Noise bounds the relative error of the probability that the top-down pass gives to a derivation. The shares of a cell
// are those of its computed terms, which sum to exp of the computed value but for the error above; along a derivation
// computed values cancel, and what is left of log p is the sum over its cells of the errors of a term and of a value,
// the error of log Z, and what shares round: |d_k|·u, where |d_k| ≤ 700 and ≤ 2·most, 4u from exp and the divisions,
// and the (n−1)·u of their sum. Each probability is a sum of as many as the cell has uses.
//
// Cells that share exponentials (shared.go) err by more where they do not fall back on the above, which S_q ≥ 10⁻⁵⁰
// says. The largest v_k may be that of a term whose weight is −∞ for this cell, and far above all that most counts; so
// bound it by
//
//	parts(cell) = max_k most(x_k) + most(y_k)                              over all terms whose cells exist, whatever their weights
//	far = |top| + parts                                                    |top| + |m| is not more
//	less = min(116, far + most)                                            −log S_q ≤ (top − w_k) + (m − v_k) of any term is not more
//
// The exponents of a product round by u·((top − w_k) + (m − v_k)), whose mean by shares is at most −log S_q + log n;
// products and the second exponential err by 3u, the logarithm by 2u·less, and the sum m + top, which is the value less
// log S_q, by u·min(far, most + less). The errors of top and m themselves cancel. What is not lost of a product by
// e^−less at most, as the top-down pass multiplies them, has exponents of at most 745 + less. So
//
//	error(cell) has u·(3·less + min(far, most + less) + 4) more, and noise(cell) that and u·(min(745 + less, far + most) + 4)
//
// What is of second order in u is covered by a factor of 1 + 10⁻⁶, for as long as all bounds that matter are below 10⁻⁷
// relative to what they bound.
type bounds struct {
	size, most, count, error, noise []float64
	uses                            []float64 // of cells, as parts of terms
	weightUses                      []float64
}

// secondOrder covers what is of second order in the unit.
const secondOrder = 1 + 1e-6

// compute computes the bounds of all cells, for sums or for maxima, of weights that err by so many units of themselves.
func (e *bounds) compute(c *Chart, sums bool, weights float64) {
	for _, table := range []*[]float64{&e.size, &e.most, &e.count, &e.error, &e.noise, &e.uses} {
		*table = vec.Grow(*table, c.cells)
		clear(*table)
	}
	for cell := range e.size[1:] {
		e.size[1+cell] = minusInf // of those that nothing defines
	}
	e.weightUses = vec.Grow(e.weightUses, len(c.weights))
	clear(e.weightUses)
	for i := range c.groups {
		g := &c.groups[i]
		for q := range g.cells {
			c.each(g, q, func(_, weight, first, then int) {
				e.weightUses[weight]++
				e.uses[first]++
				e.uses[then]++
			})
		}
	}
	for i := range c.groups {
		g := &c.groups[i]
		for q := range g.cells {
			e.bound(c, g, q, sums, weights)
		}
	}
}

// bound sets the bounds of a cell. Terms that are −∞ do not count; a cell without others has none itself, and size −∞
// says so.
func (e *bounds) bound(c *Chart, g *group, q int, sums bool, weights float64) {
	cell, n := g.cell(q), 0.0
	size, most, count, error, noise, parts := minusInf, 0.0, 0.0, 0.0, 0.0, 0.0
	c.each(g, q, func(_, weight, first, then int) {
		if e.size[first] == minusInf || e.size[then] == minusInf {
			return
		}
		parts = max(parts, e.most[first]+e.most[then])
		w := math.Abs(c.weights[weight])
		if math.IsInf(w, 1) {
			return
		}
		n++
		size = max(size, w+e.size[first]+e.size[then])
		most = max(most, w+e.most[first]+e.most[then])
		count = max(count, 1+e.count[first]+e.count[then])
		error = max(error, weights*oracles.Double*w+e.error[first]+e.error[then])
		noise = max(noise, e.noise[first]+e.noise[then])
	})
	if sums && (n > 1 || n > 0 && g.part >= 0) {
		log := math.Log(n)
		most += log
		step := 3*most + 4*log + n + 4
		error += oracles.Double * step
		noise += oracles.Double * (step + n + 8 + min(-negligible, 2*most))
		if g.part >= 0 {
			far := math.Abs(c.scaled[g.part].top) + parts
			less := min(116, far+most)
			more := 3*less + min(far, most+less) + 4
			error += oracles.Double * more
			noise += oracles.Double * (more + min(745+less, far+most) + 4)
		}
	} else {
		error += 2 * oracles.Double * most
		noise += 2 * oracles.Double * most
	}
	noise += oracles.Double * (1 + e.uses[cell])
	e.size[cell], e.most[cell], e.count[cell], e.error[cell], e.noise[cell] = size, most, count, error, noise
}

// Rounding implements oracles.Rounder; unlike those of kernels, the bound takes a recurrence over all terms (bounds).
// The best derivation may seem worse than the one that Max finds by the errors of both, and a score in float64 errs by
// a unit of the derivation's size for each of its weights.
func (o *Oracle) Rounding(θ *structured.Potentials, b int, μ float64) float64 {
	if θ.Outputs[b] == θ.Outputs[b+1] {
		return 0
	}
	rate, weights := 1.0, 0.0
	if μ > 0 {
		rate, weights = 1/μ, 2
	}
	o.open(θ, b, rate)
	o.chart.findTops()
	o.bounds.compute(&o.chart, μ > 0, weights)
	e, root := &o.bounds, o.chart.root()
	if e.size[root] == minusInf {
		return 0
	}
	if μ > 0 {
		return secondOrder * μ * (e.error[root] + 2*oracles.Double*e.most[root])
	}
	return secondOrder * 2 * (e.error[root] + e.count[root]*oracles.Double*e.size[root])
}

func (o *Oracle) ExpDoubly(θ *structured.Potentials, x structured.Doubles, marginals bool, a *oracles.DoubleAnswer) {
	a.Resize(θ.Len())
	for b := range θ.Len() {
		a.Error[b], a.Noise[b], a.Size[b], a.Value[b] = 0, 0, 0, 0
		to := func(k int) []float64 {
			n := len(θ.Parts[k].Of(b))
			if θ.Parts[k].Offsets == nil {
				return a.U[k][b*n : (b+1)*n]
			}
			return a.U.Of(k, &θ.Parts[k], b)
		}
		if marginals {
			for k := range θ.Parts {
				clear(to(k))
			}
		}
		if θ.Outputs[b] == θ.Outputs[b+1] {
			continue
		}
		c := &o.chart
		c.begin(o.declare, θ, b)
		c.weights[0] = 0
		for k, at := range c.parts {
			copy(c.weights[at:], x.Of(k, &θ.Parts[k], b))
		}
		o.in.sum(c)
		if a.Value[b] = o.in.total(c); a.Value[b] == minusInf {
			continue
		}
		o.bounds.compute(c, true, 0)
		e, root := &o.bounds, c.root()
		a.Error[b], a.Size[b] = secondOrder*e.error[root], secondOrder*e.size[root]
		uses := 0.0
		for _, n := range e.weightUses[1:] {
			uses = max(uses, n)
		}
		a.Noise[b] = secondOrder * math.Expm1(secondOrder*(e.noise[root]+e.error[root]+uses*oracles.Double))
		if !(a.Noise[b] < 1e-3) {
			a.Error[b], a.Noise[b], a.Size[b] = math.Inf(1), math.Inf(1), math.Inf(1)
		}
		if marginals {
			o.out.compute(c, &o.in)
			for k, at := range c.parts {
				copy(to(k), o.out.weight[at:])
			}
		}
	}
}
