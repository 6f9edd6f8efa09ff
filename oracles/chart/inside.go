package chart

import (
	"math"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// inside holds the values of all cells of a chart, and of one cell's terms.
type inside struct {
	value []float64 // [cells]
	terms []float64

	common []float64 // of a group that shares exponentials
	shared []float64 // [cells] S_q of the cells of such groups
	stack  []int     // of cells whose derivation is not written yet
}

// maximise makes the value of every cell the largest of its terms.
func (in *inside) maximise(c *Chart) {
	in.begin(c)
	for i := range c.groups {
		g := &c.groups[i]
		for q := range g.cells {
			in.value[g.cell(q)] = largest(c.fill(in.terms, g, q, c.weights, in.value))
		}
	}
}

// sum makes the value of every cell the log-sum of its terms.
func (in *inside) sum(c *Chart) {
	in.begin(c)
	c.scale()
	in.common, in.shared = vec.Grow(in.common, c.most), vec.Grow(in.shared, c.cells)
	for i := range c.groups {
		g := &c.groups[i]
		if g.part >= 0 {
			in.sumShared(c, g)
			continue
		}
		for q := range g.cells {
			in.value[g.cell(q)] = logSum(c.fill(in.terms, g, q, c.weights, in.value))
		}
	}
}

func (in *inside) begin(c *Chart) {
	in.value, in.terms = vec.Grow(in.value, c.cells), vec.Grow(in.terms, c.most)
	for cell := range in.value {
		in.value[cell] = minusInf // of those that nothing defines
	}
	in.value[0] = 0
}

// total returns the value of all outputs.
func (in *inside) total(c *Chart) float64 { return in.value[c.root()] }

func largest(x []float64) float64 {
	top := minusInf
	for _, v := range x {
		if v > top {
			top = v
		}
	}
	return top
}

// first returns the first of the largest terms.
func first(x []float64) int {
	best := 0
	for k, v := range x {
		if v > x[best] {
			best = k
		}
	}
	return best
}

func logSum(x []float64) float64 {
	if len(x) == 1 {
		return x[0]
	}
	top := largest(x)
	if top == minusInf {
		return top
	}
	sum := 0.0
	for _, v := range x {
		if v -= top; v > negligible {
			sum += math.Exp(v)
		}
	}
	return top + math.Log(sum)
}

// negligible is the logarithm of what adds nothing to a sum that has a term of 1.
const negligible = -700

// shares makes terms the shares that they have in their sum, and returns them. There is some term that is not −∞.
func shares(terms []float64) []float64 {
	if len(terms) == 1 {
		terms[0] = 1
		return terms
	}
	top, sum := largest(terms), 0.0
	for k, v := range terms {
		if terms[k] = 0; v-top > negligible {
			terms[k] = math.Exp(v - top)
		}
		sum += terms[k]
	}
	for k := range terms {
		terms[k] /= sum
	}
	return terms
}
