// Package chart answers every question about structures whose outputs are derivations, from one declaration of how they
// are derived: best outputs, sums, K best, samples, expectations, entropies, divergences, and products of the Hessian
// of log Z with a direction. It is the reference of kernels that answer the same, and the oracle of structures that
// have none.
//
// A chart is a directed acyclic hypergraph (Klein and Manning 2001; Goodman 1999): cells in an order in which each
// depends on those before it only. A cell is the ⊕, a maximum or a log-sum, of terms; a term is the sum of a weight,
// which is one of the potentials, and of at most two cells. The cell that is defined last stands for all outputs. Each
// output must have exactly one derivation: one choice of a term in that cell, and in every cell that a chosen term has.
//
// Declarations do not list terms but ranges of them, whose weights and cells lie evenly in memory, so that a chart
// takes memory for its cells and little more: see Terms. All numbers are float64. No function is recursive: outputs may
// be as long as memory allows.
package chart

import (
	"math"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Declare declares the derivations of example b of θ, which is not empty. It reads the form of θ, and no potentials.
type Declare func(c *Chart, θ *structured.Potentials, b int)

// Chart is what was declared of one example, and its weights.
type Chart struct {
	weights []float64 // [1+entries]; weight 0 is 0
	parts   []int     // the first weight of each part

	cells  int     // with cell 0, whose only derivation is empty
	of     []int32 // [cells] the group that defines each, −1 for none
	groups []group
	ranges []Terms
	most   int  // terms of a cell
	none   bool // the last definition is of no cells

	scaled []scaled  // of each part
	exps   []float64 // exp(weight − top) of the weights of such parts
}

// group defines some cells, the q-th of which is first + q·step, by terms: ranges[from:to].
type group struct {
	first, step, cells, from, to, terms int
	part                                int // whose exponentials its cells share, −1 for none
}

func (g *group) cell(q int) int { return g.first + q*g.step }

// Terms declares a range of Count terms for each of the cells that were defined last. Term k of the q-th of these
// cells, both counted from 0, is the sum of a weight and two cells. The zero Run says that there is none.
type Terms struct {
	Count  int
	Weight Run // Chart.Part says where the weights of a part begin
	First  Run // a cell
	Then   Run // another one

	// A term may say that the output has a number at a place.
	Place  Run // counted from 1
	Number Run
}

// Run places what belongs to term k of cell q: at At + q·PerCell + k·PerTerm.
type Run struct{ At, PerCell, PerTerm int }

// At returns a Run that is the same for all terms and cells.
func At(at int) Run { return Run{At: at} }

func (r Run) of(q, k int) int { return r.At + q*r.PerCell + k*r.PerTerm }

// begin makes the chart that of example b of θ.
func (c *Chart) begin(declare Declare, θ *structured.Potentials, b int) {
	c.cells, c.of, c.most = 1, append(c.of[:0], -1), 0
	c.groups, c.ranges, c.parts = c.groups[:0], c.ranges[:0], c.parts[:0]
	entries := 1
	for k := range θ.Parts {
		c.parts = append(c.parts, entries)
		entries += len(θ.Parts[k].Of(b))
	}
	c.weights = vec.Grow(c.weights, entries)
	declare(c, θ, b)
	c.share()
}

// read reads the weights of example b of θ, times a rate.
func (c *Chart) read(θ *structured.Potentials, b int, rate float64) {
	c.weights[0] = 0
	for k, at := range c.parts {
		for i, x := range θ.Parts[k].Of(b) {
			c.weights[at+i] = float64(x) * rate
		}
	}
}

// Part returns the weight of the first entry of a part; the others follow.
func (c *Chart) Part(k int) int { return c.parts[k] }

// Reserve numbers n cells, of which it returns the first; the others follow. Those that are never defined have no
// derivation.
func (c *Chart) Reserve(n int) (first int) {
	first = c.cells
	c.cells += n
	for range n {
		c.of = append(c.of, -1)
	}
	return first
}

// Define begins the definition of n cells, first + q·step: the next calls of Sum say what their terms are. The cells of
// the terms must have been defined before, or never are. With n = 0 these calls do nothing.
func (c *Chart) Define(first, step, n int) {
	if c.none = n == 0; c.none {
		return
	}
	c.groups = append(c.groups, group{first: first, step: max(step, 1), cells: n, from: len(c.ranges), to: len(c.ranges)})
	for q := range n {
		c.of[first+q*step] = int32(len(c.groups) - 1)
	}
}

// Cells reserves n cells and begins their definition.
func (c *Chart) Cells(n int) (first int) {
	first = c.Reserve(n)
	c.Define(first, 1, n)
	return first
}

// Sum gives each of the cells that were declared last more terms, which come after those that it has. Among terms that
// tie the best output has the first.
func (c *Chart) Sum(t Terms) {
	if c.none || t.Count <= 0 {
		return
	}
	g := &c.groups[len(c.groups)-1]
	c.ranges = append(c.ranges, t)
	g.to++
	g.terms += t.Count
	c.most = max(c.most, g.terms)
}

// Add defines n new cells with one term each: the cells and the weights of two runs.
func (c *Chart) Add(n int, cells, weights Run) (first int) {
	first = c.Cells(n)
	c.Sum(Terms{Count: 1, Weight: weights, First: cells})
	return first
}

// root is the cell of all outputs, the one that was defined last.
func (c *Chart) root() int { return c.groups[len(c.groups)-1].first }

// at returns the group of a cell that is defined, and which of its cells that is.
func (c *Chart) at(cell int) (g *group, q int) {
	g = &c.groups[c.of[cell]]
	return g, (cell - g.first) / g.step
}

// term returns the range of a term of a group's cells, and its number there.
func (c *Chart) term(g *group, k int) (t *Terms, at int) {
	i := g.from
	for ; k >= c.ranges[i].Count; i++ {
		k -= c.ranges[i].Count
	}
	return &c.ranges[i], k
}

var minusInf = math.Inf(-1)

// fill writes the terms of cell q of a group, given the values of all cells before.
func (c *Chart) fill(to []float64, g *group, q int, weights, value []float64) []float64 {
	n := 0
	for i := g.from; i < g.to; i++ {
		t := &c.ranges[i]
		w, x, y := t.Weight.of(q, 0), t.First.of(q, 0), t.Then.of(q, 0)
		for k := range to[n : n+t.Count] {
			to[n+k] = weights[w] + value[x] + value[y]
			w += t.Weight.PerTerm
			x += t.First.PerTerm
			y += t.Then.PerTerm
		}
		n += t.Count
	}
	return to[:n]
}

// termsOf returns the terms of a cell that is defined. The next call changes them.
func (c *Chart) termsOf(in *inside, cell int) []float64 {
	g, q := c.at(cell)
	return c.fill(in.terms, g, q, c.weights, in.value)
}

// each calls visit with the weight and the cells of every term of cell q of a group.
func (c *Chart) each(g *group, q int, visit func(k, weight, first, then int)) {
	n := 0
	for i := g.from; i < g.to; i++ {
		t := &c.ranges[i]
		for k := range t.Count {
			visit(n+k, t.Weight.of(q, k), t.First.of(q, k), t.Then.of(q, k))
		}
		n += t.Count
	}
}
