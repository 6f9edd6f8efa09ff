package exact

import (
	"math"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
)

var minusInf = math.Inf(-1)

// example is one example's potentials.
type example struct {
	kind       graphs.Edges
	labels, n  int
	node, edge []float32
	graph      *structured.Graph
	plan       *plan
	apart      bool // all edges are 0, so that variables do not depend on one another
}

func exampleOf(θ *structured.Potentials, b int) example {
	x := example{
		kind: θ.Structure.(graphs.Pairwise).Edges, labels: θ.Parts[0].Width, n: θ.Outputs[b+1] - θ.Outputs[b],
		node: θ.Parts[0].Of(b), edge: θ.Parts[1].Of(b), graph: θ.Graphs[b],
	}
	x.plan = planOf(x.graph, x.n)
	if !x.plan.forest && x.kind == graphs.Potts && zero(x.edge) {
		x.plan, x.apart = apartOf(x.graph, x.n), true
	}
	return x
}

func zero(xs []float32) bool {
	for _, x := range xs {
		if x != 0 {
			return false
		}
	}
	return true
}

// apart is the plan of a graph without its edges.
type apart struct{ plan *plan }

func apartOf(g *structured.Graph, n int) *plan {
	return structured.Derived(g, func(*structured.Graph) *apart { return &apart{newPlan(&structured.Graph{}, n)} }).plan
}

// pairs sets the marginals of edges to those of independent variables.
func (x *example) pairs(node, edge []float32) {
	for e, ends := range x.graph.Ends {
		u, v := node[int(ends[0])*x.labels:][:x.labels], node[int(ends[1])*x.labels:][:x.labels]
		p := 0.0
		for l := range u {
			p += float64(u[l]) * float64(v[l])
		}
		edge[e] = float32(p)
	}
}

// table returns the potentials [Y×Y] of an edge that is not a Potts edge.
func (x *example) table(e int32) []float32 {
	if x.kind == graphs.Typed {
		e = x.graph.Types[e]
	}
	size := x.labels * x.labels
	return x.edge[int(e)*size : (int(e)+1)*size]
}

// first reports whether variable v is the first end of edge e.
func (x *example) first(v, e int32) bool { return x.graph.Ends[e][0] == v }

// with adds to every label of variable v the potential, times scale, of edge e to a variable with label l: scores[k] =
// below[k] + scale·θ(k, l).
func (x *example) with(below []float64, v, e int32, l int, scale float64, scores []float64) {
	y := x.labels
	switch {
	case x.kind == graphs.Potts:
		copy(scores, below)
		scores[l] += scale * float64(x.edge[e])
	case x.first(v, e):
		t := x.table(e)
		for k := range scores {
			scores[k] = below[k] + scale*float64(t[k*y+l])
		}
	default:
		for k, w := range x.table(e)[l*y : (l+1)*y] {
			scores[k] = below[k] + scale*float64(w)
		}
	}
}

// add adds c to the entry of edge e for label k of variable v and label l at the other end.
func (x *example) add(edge []float64, v, e int32, k, l int, c float64) {
	if !x.first(v, e) {
		k, l = l, k
	}
	switch x.kind {
	case graphs.Potts:
		if k == l {
			edge[e] += c
		}
	case graphs.Typed:
		edge[(int(x.graph.Types[e])*x.labels+k)*x.labels+l] += c
	default:
		edge[(int(e)*x.labels+k)*x.labels+l] += c
	}
}
