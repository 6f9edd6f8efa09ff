package junction

import (
	"math"
	"slices"

	"github.com/dsp-go/dsp/oracles/factors"
)

// units is how many parts logarithms of sizes are counted in: whole numbers, so that sums that grow and shrink again
// stay exact, and ties stay ties.
const units = 1 << 36

// interaction is the graph of variables that share a factor, or a factor that elimination made. What orders are chosen
// by changes with every edge, so that a variable with very many neighbours costs no more than others.
type interaction struct {
	logs       []int64 // [V] units of the logarithm of the number of states
	weight     []int64 // [V] units of the logarithm of the size of the table that eliminating the variable makes
	fill       []int   // [V] how many pairs of neighbours are not neighbours yet; nil if orders do not depend on it
	neighbours []map[int]struct{}
}

func newInteraction(m *factors.Model, fill bool) *interaction {
	n := len(m.States)
	g := &interaction{logs: make([]int64, n), weight: make([]int64, n), neighbours: make([]map[int]struct{}, n)}
	for v, states := range m.States {
		g.logs[v], g.neighbours[v] = int64(math.Round(units*math.Log(float64(states)))), map[int]struct{}{}
	}
	copy(g.weight, g.logs)
	if fill {
		g.fill = make([]int, n)
	}
	for _, f := range m.Factors {
		g.join(f.Scope, func(int) {})
	}
	return g
}

// join joins all pairs of vars, and calls changed with the other variables whose fill that lowers.
func (g *interaction) join(vars []int, changed func(v int)) {
	for i, v := range vars {
		for _, u := range vars[:i] {
			if _, joined := g.neighbours[v][u]; !joined {
				g.link(u, v, changed)
			}
		}
	}
}

// link makes u and v neighbours. Fewer pairs are missing around their common neighbours, and more around u and v.
func (g *interaction) link(u, v int, changed func(v int)) {
	few, many := g.neighbours[u], g.neighbours[v]
	if len(few) > len(many) {
		few, many = many, few
	}
	if g.fill != nil {
		common := 0
		for w := range few {
			if _, both := many[w]; both {
				g.fill[w]--
				common++
				changed(w)
			}
		}
		g.fill[u] += len(g.neighbours[u]) - common
		g.fill[v] += len(g.neighbours[v]) - common
	}
	g.neighbours[u][v], g.neighbours[v][u] = struct{}{}, struct{}{}
	g.weight[u] += g.logs[v]
	g.weight[v] += g.logs[u]
}

// of returns the neighbours of v in order.
func (g *interaction) of(v int) []int {
	all := make([]int, 0, len(g.neighbours[v]))
	for u := range g.neighbours[v] {
		all = append(all, u)
	}
	slices.Sort(all)
	return all
}

// eliminate joins the neighbours of v and removes v. It returns the variables whose weight or fill may have changed, in
// order.
func (g *interaction) eliminate(v int) []int {
	all := g.of(v)
	list := slices.Clone(all)
	g.join(all, func(u int) {
		if u != v {
			list = append(list, u)
		}
	})
	for _, u := range all {
		if g.fill != nil {
			g.fill[u] -= len(g.neighbours[u]) - len(all) // the neighbours of u that v lacked
		}
		delete(g.neighbours[u], v)
		g.weight[u] -= g.logs[v]
	}
	g.neighbours[v] = nil
	slices.Sort(list)
	return slices.Compact(list)
}
