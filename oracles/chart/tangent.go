package chart

import (
	"math"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// tangent holds derivatives along a direction of potentials: dual numbers, whose first parts are inside and outside.
type tangent struct {
	weight []float64 // the direction
	cell   []float64 // of the cells' values: the expectation of ⟨direction, 1_y⟩ given that a derivation begins there
	terms  []float64
	out    outside
}

// read reads a direction for example b.
func (d *tangent) read(c *Chart, direction *structured.Potentials, b int) {
	d.weight = vec.Grow(d.weight, len(c.weights))
	d.weight[0] = 0
	for k, at := range c.parts {
		for i, x := range direction.Parts[k].Of(b) {
			d.weight[at+i] = float64(x)
		}
	}
}

// forward computes the derivatives of the values of all cells. What has no probability has no derivative.
func (d *tangent) forward(c *Chart, in *inside) {
	d.cell, d.terms = vec.Grow(d.cell, c.cells), vec.Grow(d.terms, c.most)
	d.cell[0] = 0
	for i := range c.groups {
		g := &c.groups[i]
		for q := range g.cells {
			d.cell[g.cell(q)] = 0
			if in.value[g.cell(q)] == minusInf {
				continue
			}
			share := shares(c.fill(in.terms, g, q, c.weights, in.value))
			along, sum := c.fill(d.terms, g, q, d.weight, d.cell), 0.0
			for k, s := range share {
				if s > 0 {
					sum += s * along[k]
				}
			}
			d.cell[g.cell(q)] = sum
		}
	}
}

// backward computes the derivatives of all probabilities, with the probabilities themselves.
func (d *tangent) backward(c *Chart, in *inside, out *outside) {
	out.begin(c)
	d.out.begin(c)
	out.cell[c.root()] = 1
	for i := len(c.groups) - 1; i >= 0; i-- {
		g := &c.groups[i]
		for q := range g.cells {
			p, dp := out.cell[g.cell(q)], d.out.cell[g.cell(q)]
			if !(p > 0) {
				continue
			}
			share := shares(c.fill(in.terms, g, q, c.weights, in.value))
			along, mean := c.fill(d.terms, g, q, d.weight, d.cell), d.cell[g.cell(q)]
			c.each(g, q, func(k, weight, first, then int) {
				s := share[k]
				if s == 0 {
					return
				}
				ds := dp*s + p*s*(along[k]-mean)
				s *= p
				out.cell[first] += s
				out.cell[then] += s
				d.out.cell[first] += ds
				d.out.cell[then] += ds
				d.out.weight[weight] += ds
			})
		}
	}
}

// HessianProduct writes to, laid out as marginals, the product of the Hessian of μ·log Σ_y exp(⟨θ, 1_y⟩/μ) with a
// direction, which has the form of θ: the derivative of the marginals along it, Cov(1_y)·d/μ. It is 0 for an example
// without an allowed output, and NaN where θ is not valid, or the direction not finite. Entries of the direction where
// θ is −∞ do not matter.
//
// It costs about twice what Exp does.
func (o *Oracle) HessianProduct(θ *structured.Potentials, μ float64, direction *structured.Potentials,
	to *structured.Marginals) {
	to.Like(θ)
	to.Clear()
	o.along(θ, μ, direction, func(b int, ok bool) {
		if !ok {
			fill(to, b, float32(math.NaN()))
			return
		}
		o.tangent.backward(&o.chart, &o.in, &o.out)
		for i := range o.tangent.out.weight {
			o.tangent.out.weight[i] /= μ
		}
		o.scatter(to, b, o.tangent.out.weight)
	})
}

// Expectation writes the expected value of ⟨c, 1_y⟩ of every example under its Gibbs distribution at temperature μ, for
// any c of the form of θ: 0 and NaN as of HessianProduct.
func (o *Oracle) Expectation(θ *structured.Potentials, μ float64, c *structured.Potentials, value []float64) {
	clear(value)
	o.along(θ, μ, c, func(b int, ok bool) {
		if value[b] = math.NaN(); ok {
			value[b] = o.tangent.cell[o.chart.root()]
		}
	})
}

// along computes the derivatives of all cells along a direction, of each example that has an output or, with ok false,
// is not valid.
func (o *Oracle) along(θ *structured.Potentials, μ float64, direction *structured.Potentials,
	then func(b int, ok bool)) {
	o.sums(θ, μ, nil, func(b int, logZ float64) {
		switch {
		case θ.Outputs[b] == θ.Outputs[b+1] || logZ == minusInf:
		case math.IsNaN(logZ) || !finite(direction, b):
			then(b, false)
		default:
			o.tangent.read(&o.chart, direction, b)
			o.tangent.forward(&o.chart, &o.in)
			then(b, true)
		}
	})
}

func finite(θ *structured.Potentials, b int) bool {
	for k := range θ.Parts {
		for _, x := range θ.Parts[k].Of(b) {
			if x-x != 0 {
				return false
			}
		}
	}
	return true
}

func fill(u *structured.Marginals, b int, with float32) {
	for k := range u.Parts {
		x := u.Parts[k].Of(b)
		for i := range x {
			x[i] = with
		}
	}
}
