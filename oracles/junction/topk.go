package junction

import (
	"cmp"
	"math"
	"slices"

	"github.com/dsp-go/dsp/oracles/factors"
)

// option is one of the best assignments of a subtree: its value, the entry of the clique's table, and for every child
// the rank among the child's options that agree.
type option struct {
	value float64
	entry int
	ranks []int32
}

// TopK returns the k best allowed assignments, best first, or as many as there are. The messages of Max become lists.
func (t *Tree) TopK(k int) [][]int {
	t.collect(maxes)
	for c, q := range t.Cliques { // without what the children sent
		clear(t.tables[c])
		for _, f := range q.Factors {
			t.multiply(c, t.model.Factors[f].Scope, t.model.Factors[f].Table)
		}
	}
	children := make([][]int, len(t.Cliques))
	lists := make([][][]option, len(t.Cliques)) // [clique][entry of the separator]
	all := []option{{}}                         // of the roots so far
	var roots []int
	for c, q := range t.Cliques {
		lists[c] = t.options(c, children[c], lists, k)
		if q.Parent >= 0 {
			children[q.Parent] = append(children[q.Parent], c)
			continue
		}
		roots = append(roots, c)
		all = extend(all, lists[c][0], k)
	}
	best := make([][]int, 0, len(all))
	for _, o := range all {
		states := make([]int, len(t.model.States))
		type task struct {
			clique int
			o      option
		}
		var tasks []task
		for i, c := range roots {
			tasks = append(tasks, task{c, lists[c][0][o.ranks[i]]})
		}
		for len(tasks) > 0 {
			now := tasks[len(tasks)-1]
			tasks = tasks[:len(tasks)-1]
			t.assign(now.clique, now.o.entry, states)
			for i, child := range children[now.clique] {
				s := 0
				for _, v := range t.Cliques[child].Separator {
					s = s*t.model.States[v] + states[v]
				}
				tasks = append(tasks, task{child, lists[child][s][now.o.ranks[i]]})
			}
		}
		best = append(best, states)
	}
	if len(t.Cliques) == 0 && math.IsInf(t.collect(maxes), -1) {
		return nil
	}
	return best
}

// options lists, for every entry of a clique's separator, the k best assignments of the subtree that agree with it.
func (t *Tree) options(c int, children []int, lists [][][]option, k int) [][]option {
	q := t.Cliques[c]
	sizes := t.sizes(q.Vars)
	to := make([][]option, len(t.sent[c]))
	at := make([][]int, len(children)) // of every entry, the entry of the child's separator
	for i, child := range children {
		at[i] = t.entries(sizes, q.Vars, t.Cliques[child].Separator)
	}
	own := t.entries(sizes, q.Vars, q.Separator)
	for entry, x := range t.tables[c] {
		best := x // of what this entry can give
		for i, child := range children {
			best += t.sent[child][at[i][entry]]
		}
		s := own[entry]
		if math.IsInf(best, -1) || len(to[s]) == k && best <= to[s][k-1].value {
			continue
		}
		some := []option{{value: x, entry: entry}}
		for i, child := range children {
			some = extend(some, lists[child][at[i][entry]], k)
		}
		to[s] = append(to[s], some...)
		slices.SortStableFunc(to[s], descending)
		to[s] = to[s][:min(k, len(to[s]))]
	}
	return to
}

func descending(a, b option) int { return cmp.Compare(b.value, a.value) }

// extend returns the k best sums of an option and one of a further child.
func extend(some, child []option, k int) []option {
	var best []option
	for i, a := range some {
		for j, b := range child {
			if (i+1)*(j+1) > k {
				break
			}
			best = append(best, option{a.value + b.value, a.entry, append(slices.Clone(a.ranks), int32(j))})
		}
	}
	slices.SortStableFunc(best, descending)
	return best[:min(k, len(best))]
}

// entries returns, for every entry of a table over vars, the entry of a table over scope, some of vars, that agrees.
func (t *Tree) entries(sizes, vars, scope []int) []int {
	to := make([]int, factors.Entries(sizes))
	factors.Walk(sizes, t.stridesIn(vars, scope), func(i, j, n, stride int) {
		for k := range n {
			to[i+k] = j + k*stride
		}
	})
	return to
}

// assign sets the states of a clique's variables to those of an entry of its table.
func (t *Tree) assign(c, entry int, states []int) {
	vars := t.Cliques[c].Vars
	for k := len(vars) - 1; k >= 0; k-- {
		n := t.model.States[vars[k]]
		states[vars[k]] = entry % n
		entry /= n
	}
}
