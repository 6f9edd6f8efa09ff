package exact

import (
	"math"

	"github.com/dsp-go/dsp/oracles/factors"
	"github.com/dsp-go/dsp/oracles/junction"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
)

// junctionPlan is the junction tree of a graph with loops, for a number of labels.
type junctionPlan struct {
	labels int
	plan   *junction.Plan
}

// Fits reports whether exact inference in a graph with n variables needs at most that many table entries; entries is
// how many it needs at least. A forest needs none. What it finds serves inference later.
func Fits(g *structured.Graph, n, labels int, most float64) (entries float64, ok bool) {
	p := planOf(g, n)
	if p.forest {
		return 0, true
	}
	if known := p.junction.Load(); known != nil && known.labels == labels {
		return known.plan.Entries, known.plan.Entries <= most
	}
	m := &factors.Model{}
	for range n {
		m.States = append(m.States, labels)
	}
	for v := range n {
		m.Factors = append(m.Factors, factors.Factor{Scope: []int{v}})
	}
	for _, ends := range g.Ends {
		m.Factors = append(m.Factors, factors.Factor{Scope: []int{int(ends[0]), int(ends[1])}})
	}
	of, entries := junction.PlanWithin(m, most)
	if of == nil {
		return entries, false
	}
	p.junction.Store(&junctionPlan{labels, of})
	return entries, true
}

// tree returns the junction tree of an example's potentials, divided by μ. Its first n factors are the variables', the
// others the edges'.
func (x *example) tree(μ float64) *junction.Tree {
	m := &factors.Model{}
	w := x.labels
	for v := range x.n {
		f := factors.Factor{Scope: []int{v}, Table: make([]float64, w)}
		for l, s := range x.node[v*w : (v+1)*w] {
			f.Table[l] = float64(s) / μ
		}
		m.States, m.Factors = append(m.States, w), append(m.Factors, f)
	}
	for e, ends := range x.graph.Ends {
		f := factors.Factor{Scope: []int{int(ends[0]), int(ends[1])}, Table: make([]float64, w*w)}
		if x.kind == graphs.Potts {
			for l := range w {
				f.Table[l*w+l] = float64(x.edge[e]) / μ
			}
		} else {
			for k, s := range x.table(int32(e)) {
				f.Table[k] = float64(s) / μ
			}
		}
		m.Factors = append(m.Factors, f)
	}
	known := x.plan.junction.Load()
	if known == nil || known.labels != w {
		known = &junctionPlan{w, junction.NewPlan(m)}
		x.plan.junction.Store(known)
	}
	return junction.NewTree(m, known.plan)
}

func (o *Oracle) loopyMax(x *example, y []int32) {
	states, _ := x.tree(1).Max()
	for v, s := range states {
		y[v] = int32(s)
	}
}

func (o *Oracle) loopyExp(x *example, μ float64, node, edge []float32) float64 {
	t := x.tree(μ)
	if node == nil {
		return μ * t.Sum()
	}
	z, p := t.Marginals()
	if math.IsInf(z, -1) {
		return z
	}
	w := x.labels
	for v, of := range p {
		for l, q := range of {
			node[v*w+l] += float32(q)
		}
	}
	sums := make([]float64, len(edge))
	for e, ends := range x.graph.Ends {
		for k, q := range t.FactorMarginals(x.n + e) {
			x.add(sums, ends[0], int32(e), k/w, k%w, q)
		}
	}
	for k, q := range sums {
		edge[k] = float32(q)
	}
	return μ * z
}

func (o *Oracle) loopyTopK(x *ranking) int {
	best := x.tree(1).TopK(x.k)
	x.output = func(rank int, y []int32) {
		for v, s := range best[rank] {
			y[v] = int32(s)
		}
	}
	return len(best)
}
