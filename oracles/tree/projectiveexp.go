package tree

import (
	"math"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Exp returns μ·log Σ exp(score/μ) over all trees, for μ > 0. It writes its gradient, the probability of every arc at
// temperature μ, to marginals (n×n, laid out like arc; nil skips them). Without an allowed tree the value is −∞ and
// marginals are 0.
//
// It sums weights exp(score/μ) in float64 (Eisner 1996's recurrence over (+, ×); Paskin 2001). If the weights exceed
// float64's range, it rescales them (rescaled.go), and falls back to logarithms where that is not enough.
func (p *Projective) Exp(arc []float64, n int, μ float64, marginals []float32) float64 {
	if marginals != nil {
		clear(marginals[:n*n])
	}
	value, of := p.fill(arc, n, μ)
	if n == 0 || value == minusInf || marginals == nil {
		return value
	}
	p.differentiate(of, marginals)
	return value
}

// differentiate writes the marginals of a filled chart.
func (p *Projective) differentiate(of sumsOf, marginals []float32) {
	c, g := &p.sums, &p.adjoint
	switch of {
	case damped:
		g.run(c, &fastest.double)
		g.write(c, 1/c.total, marginals)
	case rescaled: // fill has differentiated
		g.write(c, 1/c.total, marginals)
	case logarithms:
		g.run(c, &logs)
		g.exponentiate(c)
		g.write(c, 1, marginals)
	}
}

// sumsOf says what a chart of sums has.
type sumsOf int

const (
	damped     sumsOf = iota // weights relative to each token's largest, damped
	rescaled                 // weights that sum to about 1
	logarithms               // logarithms of weights
)

// fill computes the chart of sums and returns the value of Exp.
func (p *Projective) fill(arc []float64, n int, μ float64) (value float64, of sumsOf) {
	if n == 0 {
		return 0, damped
	}
	scale := 1 / μ
	c := &p.sums
	c.resize(n)
	c.blank(0)
	p.weights = vec.Grow(p.weights, n)
	for d := range n {
		row := arc[d*n : (d+1)*n]
		m := fastest.largestDouble(row)
		if m == minusInf {
			return minusInf, damped
		}
		value += m
		fastest.exps(p.weights, row, m, scale, damping)
		c.setRow(d, p.weights)
	}
	if c.sum(&fastest.double) < leastTotal {
		if value, ok := p.fillRescaled(arc, n, μ); ok {
			return value, rescaled
		}
		return p.fillLogs(arc, n, μ), logarithms
	}
	return value + μ*(math.Log(c.total)-float64(n)*math.Log(damping)), damped
}

const (
	// damping keeps sums over many trees in range: n tokens have fewer than (27/4)ⁿ projective trees, so the damped
	// weights of all trees, each at most 1 before damping, sum to less than 1.
	damping = 4.0 / 27
	// leastTotal is the smallest sum that is certainly accurate. An underflow loses less than 1e-307 of the total,
	// since the multipliers of the lost number sum to less than 1; there are fewer than 1e10 operations.
	leastTotal = 1e-280
)

// sum computes the chart and returns its total.
func (c *eisner[F]) sum(k *semiring[F]) F {
	c.inside(k)
	c.terms[0] = k.zero
	total, term := c.terms[:1], c.terms[1:]
	for r := range c.n {
		left, right := c.sides(r)
		k.times(term, c.left[left:], c.right[right:])
		k.times(term, term, c.root[r:])
		k.plus(total, term)
	}
	c.total = total[0]
	return c.total
}

// fillLogs is fill for weights of any size.
func (p *Projective) fillLogs(arc []float64, n int, μ float64) float64 {
	c := &p.sums
	c.blank(logs.zero)
	for d := range n {
		for h, v := range arc[d*n : (d+1)*n] {
			p.weights[h] = v / μ
		}
		c.setRow(d, p.weights)
	}
	if c.sum(&logs) == minusInf {
		return minusInf
	}
	return μ * c.total
}

// exponentiate turns the logarithms of arcs' weights into probabilities.
func (g *outside) exponentiate(c *eisner[float64]) {
	for w := range c.n {
		g.root[w] = math.Exp(g.root[w] - c.total)
		if w == 0 {
			continue
		}
		for _, row := range [][]float64{c.row(g.rightArc, w), c.row(g.leftArc, w)} {
			for i, v := range row {
				row[i] = math.Exp(v - c.total)
			}
		}
	}
}

// write writes the weights of all arcs, times scale, laid out like arc scores.
func (g *outside) write(c *eisner[float64], scale float64, marginals []float32) {
	n := c.n
	for d := range n {
		row := marginals[d*n : (d+1)*n]
		row[d] = float32(scale * g.root[d])
		index := c.index(d, 0)
		for h := range d {
			row[h] = float32(scale * g.rightArc[index])
			index += 1 - c.stride
		}
		index = c.index(1, d)
		for h := d + 1; h < n; h++ {
			row[h] = float32(scale * g.leftArc[index])
			index += c.stride
		}
	}
}
