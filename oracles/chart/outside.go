package chart

import "github.com/dsp-go/dsp/structured/sys/vec"

// outside holds probabilities: of each cell, that an output's derivation has it, and of each weight, how often it is
// expected to.
type outside struct{ cell, weight []float64 }

// compute distributes the probability of each cell among its terms by their shares, from the last cell to the first. So
// whatever rounds, the result is a distribution over derivations. There is some output.
func (out *outside) compute(c *Chart, in *inside) {
	out.begin(c)
	out.cell[c.root()] = 1
	for i := len(c.groups) - 1; i >= 0; i-- {
		g := &c.groups[i]
		if g.part >= 0 {
			out.spreadShared(c, in, g)
			continue
		}
		for q := range g.cells {
			if p := out.cell[g.cell(q)]; p > 0 {
				out.spread(c, in, g, q, p)
			}
		}
	}
}

// spread distributes the probability of a cell among its terms.
func (out *outside) spread(c *Chart, in *inside, g *group, q int, p float64) {
	share := shares(c.fill(in.terms, g, q, c.weights, in.value))
	for i := g.from; i < g.to; i++ {
		t := &c.ranges[i]
		w, x, y := t.Weight.of(q, 0), t.First.of(q, 0), t.Then.of(q, 0)
		for _, s := range share[:t.Count] {
			s *= p
			out.weight[w] += s
			out.cell[x] += s
			out.cell[y] += s
			w += t.Weight.PerTerm
			x += t.First.PerTerm
			y += t.Then.PerTerm
		}
		share = share[t.Count:]
	}
}

// begin makes all probabilities 0.
func (out *outside) begin(c *Chart) {
	out.cell, out.weight = vec.Grow(out.cell, c.cells), vec.Grow(out.weight, len(c.weights))
	clear(out.cell)
	clear(out.weight)
}
