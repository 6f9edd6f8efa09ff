package branching

import (
	"slices"

	"github.com/dsp-go/dsp/oracles/factors"
)

// tree is the order in which a network is searched: variables are numbered by when they are eliminated, and a
// variable's parent is the first that is eliminated among those that its subtree depends on. Given the variables above
// it, a subtree is independent of all others.
type tree struct {
	states   []int     // [V]
	original []int     // [V] the network's number of each variable
	parent   []int     // [V] −1 for a root
	children [][]int   // [V]
	context  [][]int   // [V] what the subtree depends on, decreasing
	tables   [][]*view // [V] those whose first eliminated variable this is
	fixed    int64
}

// view is a table over variables of a tree in decreasing order: the entries of the last one, which is eliminated first,
// lie side by side.
type view struct {
	scope, strides []int
	value          []int64
}

func newTree(n *network, order []int) *tree {
	rank := make([]int, len(order))
	for k, v := range order {
		rank[v] = k
	}
	t := &tree{original: order, fixed: n.fixed, parent: make([]int, len(order)), children: make([][]int, len(order)),
		context: make([][]int, len(order)), tables: make([][]*view, len(order))}
	for _, v := range order {
		t.states = append(t.states, n.states[v])
	}
	for _, from := range n.tables {
		scope := make([]int, len(from.scope))
		for k, v := range from.scope {
			scope[k] = rank[v]
		}
		ordered := slices.Clone(scope)
		slices.SortFunc(ordered, func(a, b int) int { return b - a })
		to := t.newView(ordered)
		strides := make([]int, len(ordered))
		for k, step := range (&factors.Model{States: n.states}).Strides(from.scope) {
			strides[slices.Index(ordered, scope[k])] = step
		}
		factors.Walk(t.sizes(ordered), strides, func(i, j, n, stride int) {
			for k := range n {
				to.value[i+k] = from.value[j+k*stride]
			}
		})
		first := ordered[len(ordered)-1]
		t.tables[first] = append(t.tables[first], to)
	}
	for i := range order {
		var all []int
		for _, f := range t.tables[i] {
			all = append(all, f.scope...)
		}
		for _, c := range t.children[i] {
			all = append(all, t.context[c]...)
		}
		slices.SortFunc(all, func(a, b int) int { return b - a })
		all = slices.Compact(all)
		all = slices.DeleteFunc(all, func(u int) bool { return u == i })
		t.context[i], t.parent[i] = all, -1
		if len(all) > 0 {
			p := all[len(all)-1]
			t.parent[i] = p
			t.children[p] = append(t.children[p], i)
		}
	}
	return t
}

func (t *tree) sizes(scope []int) []int {
	s := make([]int, len(scope))
	for k, v := range scope {
		s[k] = t.states[v]
	}
	return s
}

// newView returns a table of zeros.
func (t *tree) newView(scope []int) *view {
	f := &view{scope: scope, strides: make([]int, len(scope))}
	step := 1
	for k := len(scope) - 1; k >= 0; k-- {
		f.strides[k] = step
		step *= t.states[scope[k]]
	}
	f.value = make([]int64, step)
	return f
}

// at returns the entry for an assignment.
func (f *view) at(states []int) int64 {
	at := 0
	for k, v := range f.scope {
		at += states[v] * f.strides[k]
	}
	return f.value[at]
}

// row returns the entries of all states of the last variable of the scope, for an assignment to the others.
func (f *view) row(states []int) []int64 {
	at, last := 0, len(f.scope)-1
	for k, v := range f.scope[:last] {
		at += states[v] * f.strides[k]
	}
	return f.value[at:]
}
