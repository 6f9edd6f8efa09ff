package branching

import (
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/dsp-go/dsp/oracles/factors"
	"github.com/dsp-go/dsp/oracles/junction"
)

// Limits of the search for an order of elimination.
const (
	orders   = 40   // drawn orders
	drawnFor = 3000 // variables at most
)

// order returns the order of elimination whose tables are smallest in sum, among min-fill, min-weight and min-fill with
// ties broken at random.
func order(n *network, r *rand.Rand, stop func() bool) []int {
	m := &factors.Model{States: n.states}
	for _, t := range n.tables {
		m.Factors = append(m.Factors, factors.Factor{Scope: t.scope})
	}
	var best []int
	least := math.Inf(1)
	for _, h := range []junction.Heuristic{junction.MinFill, junction.MinWeight} {
		if o := junction.Order(m, h); best == nil {
			best, least = o, entries(n, o)
		} else if e := entries(n, o); e < least {
			best, least = o, e
		}
	}
	if len(n.states) > drawnFor {
		return best
	}
	for range orders {
		if stop() {
			break
		}
		if o, e := drawOrder(n, r, least); e < least {
			best, least = o, e
		}
	}
	return best
}

// entries returns the entries of all tables that elimination makes.
func entries(n *network, order []int) float64 {
	sum := 0.0
	g := newGraph(n)
	for _, v := range order {
		sum += g.size(v)
		g.eliminate(v, func(int) {})
	}
	return sum
}

// drawOrder is min-fill; among equals it draws. It gives up, with an infinite size, where the tables' entries exceed
// most.
func drawOrder(n *network, r *rand.Rand, most float64) (order []int, size float64) {
	g := newGraph(n)
	fill := make([]int, len(n.states))
	for v := range fill {
		fill[v] = g.fill(v)
	}
	for range fill {
		v, ties := -1, 0
		for u, f := range fill {
			switch {
			case g.gone[u] || v >= 0 && f > fill[v]:
			case v < 0 || f < fill[v]:
				v, ties = u, 1
			default:
				if ties++; r.IntN(ties) == 0 {
					v = u
				}
			}
		}
		if size += g.size(v); size > most {
			return nil, math.Inf(1)
		}
		order = append(order, v)
		g.eliminate(v, func(u int) { fill[u] = g.fill(u) })
	}
	return order, size
}

// graph joins variables that share a table; rows are sets of bits.
type graph struct {
	states []int
	row    [][]uint64
	gone   []bool
}

func newGraph(n *network) *graph {
	g := &graph{states: n.states, gone: make([]bool, len(n.states))}
	words := (len(n.states) + 63) / 64
	for range n.states {
		g.row = append(g.row, make([]uint64, words))
	}
	for _, t := range n.tables {
		for _, u := range t.scope {
			for _, v := range t.scope {
				if u != v {
					g.row[u][v/64] |= 1 << (v % 64)
				}
			}
		}
	}
	return g
}

// each calls f with the members of a set.
func each(set []uint64, f func(v int)) {
	for w, x := range set {
		for ; x != 0; x &= x - 1 {
			f(64*w + bits.TrailingZeros64(x))
		}
	}
}

// fill returns twice the number of pairs of neighbours of v that are not neighbours.
func (g *graph) fill(v int) int {
	missing := 0
	each(g.row[v], func(u int) {
		missing--
		for w, x := range g.row[v] {
			missing += bits.OnesCount64(x &^ g.row[u][w])
		}
	})
	return missing
}

// size returns the entries of the table that eliminating v makes.
func (g *graph) size(v int) float64 {
	size := float64(g.states[v])
	each(g.row[v], func(u int) { size *= float64(g.states[u]) })
	return size
}

// eliminate joins the neighbours of v and removes it. It calls changed with all whose fill may differ.
func (g *graph) eliminate(v int, changed func(u int)) {
	g.gone[v] = true
	near := append([]uint64(nil), g.row[v]...)
	each(g.row[v], func(u int) {
		for w, x := range g.row[v] {
			g.row[u][w] |= x
		}
		g.row[u][u/64] &^= 1 << (u % 64)
		g.row[u][v/64] &^= 1 << (v % 64)
	})
	each(g.row[v], func(u int) {
		for w, x := range g.row[u] {
			near[w] |= x
		}
	})
	each(near, changed)
}
