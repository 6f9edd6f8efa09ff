package chart

import (
	"math"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Where several cells sum over the same cells and differ in weights, as the labels of a position do over those before,
// and the nonterminals of a span over pairs of symbols, exponentials are shared: with v_k the sum of the cells of term
// k, and weights w_qk of cell q, all of one part,
//
//	log Σ_k exp(w_qk + v_k) = top + m + log S_q,    S_q = Σ_k exp(w_qk − top)·exp(v_k − m)
//
// where top is the largest weight of the part, and m the largest v_k. That takes an exponential per weight of the part
// and one per term, instead of one per term of every cell. Where S_q is so small that products may have been lost, the
// cell is summed as others.

// leastSum is the least sum for which products below e⁻⁷⁰⁰, which are lost, have shares below 10⁻²⁵⁴.
const leastSum = 1e-50

// scaled are the weights of a part as exp(weight − top).
type scaled struct {
	used bool // by a group that shares exponentials
	top  float64
}

// share finds the groups that share exponentials, and the parts whose weights they have.
func (c *Chart) share() {
	c.scaled = vec.Grow(c.scaled, len(c.parts))
	clear(c.scaled)
	for i := range c.groups {
		g := &c.groups[i]
		g.part = c.sharedPart(g)
		if g.part >= 0 {
			c.scaled[g.part].used = true
		}
	}
}

// sharedPart returns the part whose weights the terms of a group have, if its cells share exponentials, else −1.
func (c *Chart) sharedPart(g *group) int {
	if g.cells < 2 || g.terms < 2 {
		return -1
	}
	part := -1
	for i := g.from; i < g.to; i++ {
		t := &c.ranges[i]
		if t.First.PerCell != 0 || t.Then.PerCell != 0 || t.Weight.At == 0 {
			return -1
		}
		of := len(c.parts) - 1
		for c.parts[of] > t.Weight.At {
			of--
		}
		if part >= 0 && of != part {
			return -1
		}
		part = of
	}
	return part
}

// weightsOf returns the first weight of a part, and the first behind it.
func (c *Chart) weightsOf(part int) (lo, hi int) {
	if part+1 < len(c.parts) {
		return c.parts[part], c.parts[part+1]
	}
	return c.parts[part], len(c.weights)
}

// findTops sets the largest weight of each part that groups share, 0 if all are −∞.
func (c *Chart) findTops() {
	for part := range c.scaled {
		if s := &c.scaled[part]; s.used {
			lo, hi := c.weightsOf(part)
			if s.top = largest(c.weights[lo:hi]); s.top == minusInf {
				s.top = 0
			}
		}
	}
}

// scale sets the exponentials of the weights of parts that groups share.
func (c *Chart) scale() {
	c.findTops()
	c.exps = vec.Grow(c.exps, len(c.weights))
	for part, s := range c.scaled {
		if !s.used {
			continue
		}
		lo, hi := c.weightsOf(part)
		for w := lo; w < hi; w++ {
			c.exps[w] = exp(c.weights[w] - s.top)
		}
	}
}

// exp is math.Exp, and 0 for what is negligible.
func exp(x float64) float64 {
	if x > negligible {
		return math.Exp(x)
	}
	return 0
}

// common writes exp(v_k − m) of the terms of a group, and returns m: −∞ if the cells have no derivations.
func (c *Chart) common(to []float64, g *group, value []float64) (m float64) {
	n := 0
	for i := g.from; i < g.to; i++ {
		t := &c.ranges[i]
		x, y := t.First.At, t.Then.At
		for range t.Count {
			to[n] = value[x] + value[y]
			n++
			x += t.First.PerTerm
			y += t.Then.PerTerm
		}
	}
	if m = largest(to[:n]); m > minusInf {
		for k, v := range to[:n] {
			to[k] = exp(v - m)
		}
	}
	return m
}

// weigh returns S_q of a cell, given the exponentials of common.
func (c *Chart) weigh(g *group, q int, common []float64) (sum float64) {
	for i := g.from; i < g.to; i++ {
		t := &c.ranges[i]
		w := t.Weight.of(q, 0)
		if t.Weight.PerTerm == 1 {
			sum += dot(common[:t.Count], c.exps[w:])
		} else {
			for _, e := range common[:t.Count] {
				sum += e * c.exps[w]
				w += t.Weight.PerTerm
			}
		}
		common = common[t.Count:]
	}
	return sum
}

// dot returns Σ x_k·y_k. Four sums at a time do not wait for each other.
func dot(x, y []float64) float64 {
	y = y[:len(x)]
	var a, b, c, d float64
	for ; len(x) >= 4 && len(y) >= 4; x, y = x[4:], y[4:] {
		a += x[0] * y[0]
		b += x[1] * y[1]
		c += x[2] * y[2]
		d += x[3] * y[3]
	}
	for k, v := range x {
		a += v * y[k]
	}
	return a + b + (c + d)
}

// sumShared sets the values of the cells of a group that shares exponentials.
func (in *inside) sumShared(c *Chart, g *group) {
	m, top := c.common(in.common, g, in.value), c.scaled[g.part].top
	for q := range g.cells {
		cell := g.cell(q)
		if m == minusInf {
			in.value[cell] = m
		} else if in.shared[cell] = c.weigh(g, q, in.common); in.shared[cell] >= leastSum {
			in.value[cell] = m + top + math.Log(in.shared[cell])
		} else {
			in.value[cell] = logSum(c.fill(in.terms, g, q, c.weights, in.value))
		}
	}
}

// spreadShared distributes the probabilities of the cells of a group that shares exponentials.
func (out *outside) spreadShared(c *Chart, in *inside, g *group) {
	if c.common(in.common, g, in.value) == minusInf {
		return
	}
	rates := in.terms[:g.terms] // Σ_q p_q/S_q·exp(w_qk − top)
	clear(rates)
	few := false // some S_q is small
	for q := range g.cells {
		p := out.cell[g.cell(q)]
		if !(p > 0) {
			continue
		}
		sum := in.shared[g.cell(q)]
		if sum < leastSum {
			few = true
			continue
		}
		p /= sum
		common, rates := in.common, rates
		for i := g.from; i < g.to; i++ {
			t := &c.ranges[i]
			w := t.Weight.of(q, 0)
			if t.Weight.PerTerm == 1 {
				exps, weight, rates := c.exps[w:w+t.Count], out.weight[w:w+t.Count], rates[:t.Count]
				for k, e := range common[:t.Count] {
					r := p * exps[k]
					rates[k] += r
					weight[k] += r * e
				}
			} else {
				for k, e := range common[:t.Count] {
					r := p * c.exps[w]
					rates[k] += r
					out.weight[w] += r * e
					w += t.Weight.PerTerm
				}
			}
			common, rates = common[t.Count:], rates[t.Count:]
		}
	}
	n := 0
	for i := g.from; i < g.to; i++ {
		t := &c.ranges[i]
		x, y := t.First.At, t.Then.At
		for range t.Count {
			s := rates[n] * in.common[n]
			out.cell[x] += s
			out.cell[y] += s
			n++
			x += t.First.PerTerm
			y += t.Then.PerTerm
		}
	}
	for q := 0; few && q < g.cells; q++ {
		if p := out.cell[g.cell(q)]; p > 0 && in.shared[g.cell(q)] < leastSum {
			out.spread(c, in, g, q, p)
		}
	}
}
