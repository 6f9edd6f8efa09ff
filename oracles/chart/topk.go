package chart

import (
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/derivations"
	"github.com/dsp-go/dsp/structured"
)

// TopK implements oracles.Ranker, by lazy enumeration on top of Max's values (package derivations).
func (o *Oracle) TopK(θ *structured.Potentials, k int, best *oracles.KBest) {
	o.guard.Begin(θ)
	best.Resize(θ, k)
	for b := range θ.Len() {
		switch {
		case k == 0:
			best.Count[b] = 0
		case θ.Outputs[b] == θ.Outputs[b+1]:
			best.Count[b], best.Score[b*k] = 1, 0
		case !o.guard.Valid(θ, b):
			best.Refuse(θ, b)
		default:
			o.open(θ, b, 1)
			o.in.maximise(&o.chart)
			best.Count[b] = o.rank(θ, b, best)
		}
	}
}

// rank lists the best outputs of the open example, and returns how many there are.
func (o *Oracle) rank(θ *structured.Potentials, b int, best *oracles.KBest) int {
	lo, hi := θ.Outputs[b], θ.Outputs[b+1]
	o.ranking.Begin(table{o}, o.chart.cells)
	for n := range best.K {
		if _, ok := o.ranking.Derivation(o.chart.root(), n); !ok {
			return n
		}
		y := best.Output(n, lo, hi)
		clear(y)
		o.write(y, n)
		best.Place(b, n, lo, hi, θ.Score(b, y))
	}
	return best.K
}

// ranked is a derivation of a cell, by its rank.
type ranked struct {
	cell int
	rank int32
}

// write writes the output of a rank.
func (o *Oracle) write(y []int32, rank int) {
	c := &o.chart
	o.waiting = append(o.waiting[:0], ranked{c.root(), int32(rank)})
	for len(o.waiting) > 0 {
		w := o.waiting[len(o.waiting)-1]
		o.waiting = o.waiting[:len(o.waiting)-1]
		x, _ := o.ranking.Derivation(w.cell, int(w.rank))
		g, q := c.at(w.cell)
		t, k := c.term(g, int(x.Term))
		t.say(q, k, y)
		for _, part := range [2]ranked{{t.First.of(q, k), x.First}, {t.Then.of(q, k), x.Then}} {
			if part.cell > 0 {
				o.waiting = append(o.waiting, part)
			}
		}
	}
}

// table has the cells as derivations.Table.
type table struct{ *Oracle }

// Terms implements derivations.Table.
func (o table) Terms(cell int, open []derivations.Derivation) []derivations.Derivation {
	for k, v := range o.chart.termsOf(&o.in, cell) {
		open = derivations.Open(open, int32(k), v)
	}
	return open
}

// Parts implements derivations.Table.
func (o table) Parts(cell int, term int32) (first, then int) {
	g, q := o.chart.at(cell)
	t, k := o.chart.term(g, int(term))
	if first = t.First.of(q, k); first == 0 {
		first = derivations.None
	}
	if then = t.Then.of(q, k); then == 0 {
		then = derivations.None
	}
	return first, then
}
