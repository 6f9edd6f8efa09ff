package junction

import (
	"math"
	"slices"

	"github.com/dsp-go/dsp/oracles/factors"
)

// Plan is a junction tree without its tables: cliques of variables such that every factor's scope lies in one of them,
// and the cliques of each variable are connected (the running intersection property). Cliques come before their
// parents.
type Plan struct {
	Cliques []Clique
	Entries float64 // of all tables together
	Width   int     // variables of the largest clique, less 1

	cliqueOf []int // [V] the smallest clique of each variable
	place    []int // [F] the clique of each factor
}

// Clique is a node of a junction tree.
type Clique struct {
	Vars      []int // in increasing order
	Parent    int   // −1 for a root
	Separator []int // the variables that the parent has, too
	Factors   []int // that its table includes
}

// NewPlan returns the junction tree of the elimination order, among min-fill and min-weight, that needs fewer table
// entries.
func NewPlan(m *factors.Model) *Plan {
	fill, weight := planFor(m, Order(m, MinFill)), planFor(m, Order(m, MinWeight))
	if weight.Entries < fill.Entries {
		return weight
	}
	return fill
}

// PlanWithin returns the plan of NewPlan if its tables have at most that many entries. Otherwise the plan is nil, and
// entries is how many some plan that was tried needs at least; where they are very many, that takes less time than the
// plan itself.
func PlanWithin(m *factors.Model, most float64) (p *Plan, entries float64) {
	entries = math.Inf(1)
	for _, h := range []Heuristic{MinFill, MinWeight} {
		order, largest := orderWithin(m, h, math.Log(most)+1e-9)
		if order == nil {
			entries = min(entries, math.Exp(largest))
			continue
		}
		if q := planFor(m, order); q.Entries <= most && (p == nil || q.Entries < p.Entries) {
			p = q
		} else {
			entries = min(entries, q.Entries)
		}
	}
	if p != nil {
		entries = p.Entries
	}
	return p, entries
}

// planFor returns the junction tree of an elimination order: a clique of each variable with the neighbours that it has
// when it is eliminated, unless another clique covers it.
func planFor(m *factors.Model, order []int) *Plan {
	g := newInteraction(m, false)
	when := make([]int, len(order))
	for t, v := range order {
		when[v] = t
	}
	cliques := make([]Clique, len(order)) // at the time of elimination
	for t, v := range order {
		all := g.of(v)
		c := &cliques[t]
		c.Parent = -1
		for _, u := range all {
			if c.Parent < 0 || when[u] < c.Parent {
				c.Parent = when[u]
			}
		}
		c.Separator = all
		c.Vars = append(slices.Clone(all), v)
		slices.Sort(c.Vars)
		g.eliminate(v)
	}
	for f, factor := range m.Factors {
		first := -1
		for _, v := range factor.Scope {
			if first < 0 || when[v] < first {
				first = when[v]
			}
		}
		first = max(first, 0) // a constant goes anywhere
		if len(cliques) > 0 {
			cliques[first].Factors = append(cliques[first].Factors, f)
		}
	}
	return newPlan(m, absorb(cliques))
}

// absorb merges a clique into a child that has all of its variables, and returns what remains, children before their
// parents.
func absorb(cliques []Clique) []Clique {
	into := make([]int, len(cliques)) // itself, or the child that absorbed it
	for t := range cliques {
		into[t] = t
	}
	find := func(t int) int {
		for into[t] != t {
			t = into[t]
		}
		return t
	}
	for t, c := range cliques {
		if p := c.Parent; p >= 0 && into[p] == p && len(c.Separator) == len(cliques[p].Vars) {
			into[p] = t
		}
	}
	// A merged clique hangs where its topmost member hung. Members are numbered below their parents, so the topmost
	// comes first.
	merged, depth := make([]Clique, len(cliques)), make([]int, len(cliques))
	var kept []int
	for t := len(cliques) - 1; t >= 0; t-- {
		r, c := find(t), &cliques[t]
		if merged[r].Vars == nil {
			kept = append(kept, r)
			merged[r].Parent, merged[r].Separator = -1, c.Separator
			if c.Parent >= 0 {
				merged[r].Parent = find(c.Parent)
				depth[r] = depth[merged[r].Parent] + 1
			}
		}
		merged[r].Vars, merged[r].Factors = cliques[r].Vars, append(merged[r].Factors, c.Factors...)
	}
	slices.SortStableFunc(kept, func(a, b int) int { return depth[b] - depth[a] })
	number := make([]int, len(cliques))
	result := make([]Clique, len(kept))
	for k, r := range kept {
		number[r] = k
	}
	for k, r := range kept {
		result[k] = merged[r]
		if p := merged[r].Parent; p >= 0 {
			result[k].Parent = number[p]
		}
	}
	return result
}

func newPlan(m *factors.Model, cliques []Clique) *Plan {
	p := &Plan{Cliques: cliques, cliqueOf: make([]int, len(m.States)), place: make([]int, len(m.Factors))}
	best := make([]float64, len(m.States))
	for c, q := range cliques {
		size := 1.0
		for _, v := range q.Vars {
			size *= float64(m.States[v])
		}
		for _, f := range q.Factors {
			p.place[f] = c
		}
		p.Entries += size
		p.Width = max(p.Width, len(q.Vars)-1)
		for _, v := range q.Vars {
			if best[v] == 0 || size < best[v] {
				best[v], p.cliqueOf[v] = size, c
			}
		}
	}
	return p
}
