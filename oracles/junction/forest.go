package junction

import (
	"fmt"
	"slices"

	"github.com/dsp-go/dsp/oracles/factors"
)

// NewForest returns the junction tree of a factor graph without loops: its cliques are scopes of factors, so inference
// costs as much as reading the tables. Factors whose variables all belong to a larger factor count as part of it; two
// factors may share one variable at most. The error of a graph with loops names a factor that closes one. It takes
// linear time, where NewPlan searches for an order.
func NewForest(m *factors.Model) (*Plan, error) {
	f := forest{model: m, root: make([]int, len(m.States)), at: make([][]int, len(m.States))}
	for v := range f.root {
		f.root[v] = v
	}
	largest := make([]int, len(m.Factors))
	for k := range largest {
		largest[k] = k
	}
	slices.SortStableFunc(largest, func(a, b int) int { return len(m.Factors[b].Scope) - len(m.Factors[a].Scope) })
	for _, k := range largest {
		if err := f.add(k); err != nil {
			return nil, err
		}
	}
	order := f.breadthFirst()
	slices.Reverse(order)
	return planFor(m, order), nil
}

// forest collects factors that form no loops.
type forest struct {
	model *factors.Model
	root  []int   // [V] union-find over the variables that are connected
	at    [][]int // [V] the factors that were added and are part of no other
}

func (f *forest) find(v int) int {
	for f.root[v] != v {
		f.root[v] = f.root[f.root[v]]
		v = f.root[v]
	}
	return v
}

// add adds factor k, after all larger ones.
func (f *forest) add(k int) error {
	scope := f.model.Factors[k].Scope
	if len(scope) < 2 || f.covered(scope) {
		return nil
	}
	for i, v := range scope {
		for _, u := range scope[:i] {
			if f.find(u) == f.find(v) {
				return fmt.Errorf("factor %d closes a loop: other factors connect its variables %d and %d, too", k, u, v)
			}
		}
	}
	for _, v := range scope {
		f.root[f.find(v)] = f.find(scope[0])
		f.at[v] = append(f.at[v], k)
	}
	return nil
}

// covered reports whether a factor that was added has all variables of a scope.
func (f *forest) covered(scope []int) bool {
	fewest := scope[0]
	for _, v := range scope {
		if len(f.at[v]) < len(f.at[fewest]) {
			fewest = v
		}
	}
	for _, k := range f.at[fewest] {
		if !slices.ContainsFunc(scope, func(v int) bool { return !slices.Contains(f.model.Factors[k].Scope, v) }) {
			return true
		}
	}
	return false
}

// breadthFirst lists the variables of each tree from its first one. In the opposite order, the neighbours of a variable
// that is eliminated are those of a single factor.
func (f *forest) breadthFirst() []int {
	order, seen := make([]int, 0, len(f.at)), make([]bool, len(f.at))
	for first := range f.at {
		if seen[first] {
			continue
		}
		seen[first] = true
		order = append(order, first)
		for next := len(order) - 1; next < len(order); next++ {
			for _, k := range f.at[order[next]] {
				for _, u := range f.model.Factors[k].Scope {
					if !seen[u] {
						seen[u] = true
						order = append(order, u)
					}
				}
			}
		}
	}
	return order
}
