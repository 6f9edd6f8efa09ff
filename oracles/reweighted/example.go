package reweighted

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

var minusInf = math.Inf(-1)

// example is an example's potentials in float64. Tables have the labels of a link's child as rows and those of its
// parent as columns.
type example struct {
	*plan
	kind  graphs.Edges
	graph *structured.Graph
	y, n  int
	node  []float64 // [V×Y]
	table []float64 // [E×Y×Y] by link
}

// read makes x example b of θ, without masks, and reuses its memory.
func (x *example) read(θ *structured.Potentials, b int, masks oracles.Masks) {
	s := θ.Structure.(graphs.Pairwise)
	x.kind, x.graph, x.y, x.n = s.Edges, θ.Graphs[b], θ.Parts[0].Width, θ.Outputs[b+1]-θ.Outputs[b]
	x.plan = planOf(x.graph, x.n)
	size := x.y * x.y
	x.node, x.table = vec.Grow(x.node, x.n*x.y), vec.Grow(x.table, len(x.links)*size)
	for i, s := range θ.Parts[0].Of(b) {
		x.node[i] = masks.Hide(float64(s))
	}
	edges := θ.Parts[1].Of(b)
	for j, l := range x.links {
		to := x.tableOf(j)
		if x.kind == graphs.Potts {
			clear(to)
			for k := range x.y {
				to[k*x.y+k] = masks.Hide(float64(edges[l.edge]))
			}
			continue
		}
		from := edges[x.place(l):][:size]
		if !l.turned {
			for i, s := range from {
				to[i] = masks.Hide(float64(s))
			}
			continue
		}
		for i, s := range from {
			to[i%x.y*x.y+i/x.y] = masks.Hide(float64(s))
		}
	}
}

// magnitude returns Σ |θ| over variables and edges, of the largest finite potential of each.
func (x *example) magnitude() (sum float64) {
	for v := range x.n {
		sum += largest(row(x.node, v, x.y))
	}
	for j := range x.links {
		sum += largest(x.tableOf(j))
	}
	return sum
}

// largest returns the largest |x| that is finite.
func largest(xs []float64) (most float64) {
	for _, x := range xs {
		if x = math.Abs(x); x > most && x <= math.MaxFloat64 {
			most = x
		}
	}
	return most
}

// place returns where the table of a link's edge begins in the edge part of an example.
func (x *example) place(l link) int {
	if x.kind == graphs.Typed {
		return int(x.graph.Types[l.edge]) * x.y * x.y
	}
	return int(l.edge) * x.y * x.y
}

// tableOf returns the table of link j.
func (x *example) tableOf(j int) []float64 { return row(x.table, j, x.y*x.y) }

// row returns row i of a table with rows of a width.
func row[E any](of []E, i, width int) []E { return of[i*width:][:width] }
