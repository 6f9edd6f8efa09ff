package cut

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// network writes graphs with two labels as flow networks. A node on the source's side has label 0.
type network struct {
	flow
	plan     *plan
	negative []int32   // edges whose capacities may have become negative; after repair, those that were changed
	lack     []float64 // of each of them, how far the scores of different labels are lowered
	size     []float64 // and Σ |potential|
	broken   []int32   // those of them that lack more than rounding in float32 may cause
	illegal  []int32   // edges that forbid equal labels only
}

// slack is how much an edge may lack to be submodular, relative to its potentials, without being counted: what rounding
// in float32 may cause.
const slack = 1e-6

// begin gives the network the shape of a graph with n variables. All capacities are 0.
func (w *network) begin(g *structured.Graph, n int) {
	p := planOf(g, n)
	if w.plan != p {
		w.plan = p
		w.nodes, w.arcs = vec.Grow(w.nodes, n+1), vec.Grow(w.arcs, len(p.arcs))
		for v, first := range p.first {
			w.nodes[v].first = first
		}
	}
	copy(w.arcs, p.arcs)
	w.negative, w.lack, w.size, w.broken, w.illegal = w.negative[:0], w.lack[:0], w.size[:0], w.broken[:0], w.illegal[:0]
}

// add adds the term of edge e between u and v.
func (w *network) add(e int, u, v int32, t term, legal bool) {
	if !legal {
		w.illegal = append(w.illegal, int32(e))
	}
	w.nodes[u].excess += t.u
	w.nodes[v].excess += t.v
	k := w.plan.of[e]
	a := &w.arcs[k]
	a.left += t.forward
	w.arcs[a.sister].left += t.backward
	if t.forward < 0 {
		w.negative, w.size = append(w.negative, int32(e)), append(w.size, t.size)
	}
}

// read sets the capacities to the potentials of example b, without labels that have masks. It returns false if they
// leave some variable without labels.
//
// It raises a negative capacity to 0, which lowers the scores of different labels until the edge is submodular (Rother,
// Kumar, Kolmogorov and Blake 2005).
func (w *network) read(θ *structured.Potentials, b int, masks oracles.Masks) bool {
	kind, g := θ.Structure.(graphs.Pairwise).Edges, θ.Graphs[b]
	node, edge := θ.Parts[0].Of(b), θ.Parts[1].Of(b)
	w.begin(g, len(node)/2)
	for v := range len(node) / 2 {
		w.nodes[v].excess = difference(masks.Hide(float64(node[2*v])), masks.Hide(float64(node[2*v+1])))
	}
	for e, ends := range g.Ends {
		var θ00, θ01, θ10, θ11 float64
		switch k := e; kind {
		case graphs.Potts:
			θ00 = masks.Hide(float64(edge[e]))
			θ11 = θ00
		case graphs.Typed:
			k = int(g.Types[e])
			fallthrough
		default:
			p := edge[4*k : 4*k+4]
			θ00, θ01, θ10, θ11 = masks.Hide(float64(p[0])), masks.Hide(float64(p[1])), masks.Hide(float64(p[2])),
				masks.Hide(float64(p[3]))
		}
		if w.plan.of[e] < 0 {
			w.nodes[ends[0]].excess += difference(θ00, θ11)
			continue
		}
		t, legal := termOf(θ00, θ01, θ10, θ11)
		w.add(e, ends[0], ends[1], t, legal)
	}
	w.repair()
	return w.possible()
}

// possible reports whether no variable lacks both labels.
func (w *network) possible() bool {
	for v := range w.nodes[:len(w.nodes)-1] {
		if math.IsNaN(w.nodes[v].excess) {
			return false
		}
	}
	return true
}

// repair raises negative capacities to 0. negative keeps the edges that are changed.
//
// If one direction is forbidden, nothing needs to change. For instance, without y_u = 0, y_v = 1, a cost of y_u = 1,
// y_v = 0 is the same cost of y_u = 1 and the opposite cost of y_v = 1.
func (w *network) repair() {
	bad := w.negative[:0]
	for k, e := range w.negative {
		a := &w.arcs[w.plan.of[e]]
		b := &w.arcs[a.sister]
		switch {
		case a.left == inf && b.left < 0:
			w.shift(b.head, a.head, b.left)
			b.left = 0
		case b.left == inf && a.left < 0:
			w.shift(a.head, b.head, a.left)
			a.left = 0
		case a.left < 0:
			lack := -min(a.left, b.left)
			bad, w.lack = append(bad, e), append(w.lack, lack)
			if lack > slack*w.size[k] {
				w.broken = append(w.broken, e)
			}
			a.left, b.left = 0, 0
		}
	}
	w.negative = bad
}

// shift adds a cost to label 1 of u and takes it off label 1 of v.
func (w *network) shift(u, v int32, cost float64) {
	w.nodes[u].excess += cost
	w.nodes[v].excess -= cost
}

// counted returns the number of pairs of variables that were changed, without those that lack no more than rounding may
// cause.
func (w *network) counted() int { return len(w.broken) + len(w.illegal) }

// changed reports whether any pair of variables was changed.
func (w *network) changed() bool { return len(w.negative)+len(w.illegal) > 0 }
