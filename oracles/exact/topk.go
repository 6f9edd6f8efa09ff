package exact

import (
	"cmp"
	"slices"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// TopK implements oracles.Ranker.
func (o *Oracle) TopK(θ *structured.Potentials, k int, best *oracles.KBest) {
	best.Resize(θ, k)
	o.guard.Begin(θ)
	for b := range θ.Len() {
		if !o.guard.Valid(θ, b) {
			best.Refuse(θ, b)
			continue
		}
		x := exampleOf(θ, b)
		lo, hi := θ.Outputs[b], θ.Outputs[b+1]
		ranked := &ranking{example: &x, k: k}
		found := 0
		if x.plan.forest {
			found = o.forestTopK(ranked)
		} else {
			found = o.loopyTopK(ranked)
		}
		for r := range found {
			y := best.Output(r, lo, hi)
			ranked.output(r, y)
			best.Score[b*k+r] = θ.Score(b, y)
		}
		best.Count[b] = found
	}
}

// ranking holds the K best labelings of an example.
type ranking struct {
	*example
	k      int
	output func(rank int, y []int32)
}

// option is one of the best labelings of a part of a forest: its score, and where its two halves are listed.
type option struct {
	score float64
	a, b  int32
}

// forestTopK finds the K best labelings of a forest (Algorithm 8): lists take the place of the numbers of forestMax. A
// root counts as a child of a variable n that has a single label.
//
// For a variable v and a label l of its parent, labels[v][l] lists the best labelings of v's subtree, (label of v, rank
// in v's list for it), and joined[v][l] the best labelings of the parent, given l, with the children up to v: (rank
// without v, rank in labels[v][l]).
func (o *Oracle) forestTopK(x *ranking) int {
	w, n := x.labels, x.n
	lists := make([][]option, n*w+1) // of every variable and label, with the children so far
	for k, s := range x.node {
		if float64(s) > minusInf {
			lists[k] = []option{{score: float64(s)}}
		}
	}
	lists[n*w] = []option{{}}
	labels, joined := make([][]option, n*w), make([][]option, n*w)
	o.scores = vec.Grow(o.scores, w)
	zero := make([]float64, w)
	for k := n - 1; k >= 0; k-- {
		v := x.plan.order[k]
		below := lists[int(v)*w:][:w]
		parent, of := x.plan.parent[v], w
		if parent < 0 {
			parent, of = int32(n), 1
		}
		for l := range of {
			clear(o.scores)
			if int(parent) < n {
				x.with(zero, v, x.plan.edge[v], l, 1, o.scores)
			}
			cell, up := int(v)*w+l, &lists[int(parent)*w+l]
			labels[cell] = merge(below, o.scores, x.k)
			joined[cell] = pairs(*up, labels[cell], x.k)
			*up = joined[cell]
		}
	}
	x.output = func(rank int, y []int32) {
		at := make([]int32, n+1) // of each variable, the rank in its list with the children that are still to come
		at[n] = int32(rank)
		for _, v := range x.plan.order {
			parent, l := x.plan.parent[v], int32(0)
			if parent < 0 {
				parent = int32(n)
			} else {
				l = y[parent]
			}
			cell := int(v)*w + int(l)
			both := joined[cell][at[parent]]
			at[parent] = both.a
			y[v], at[v] = labels[cell][both.b].a, labels[cell][both.b].b
		}
	}
	return len(lists[n*w])
}

// merge returns the k best of several lists, each raised by a score: (list, rank in it).
func merge(lists [][]option, raise []float64, k int) []option {
	next := make([]int32, len(lists))
	var best []option
	for len(best) < k {
		top, score := -1, minusInf
		for i, list := range lists {
			if int(next[i]) < len(list) {
				if s := list[next[i]].score + raise[i]; s > score {
					top, score = i, s
				}
			}
		}
		if top < 0 {
			break
		}
		best = append(best, option{score, int32(top), next[top]})
		next[top]++
	}
	return best
}

// pairs returns the k best sums of an entry of each of two lists: (rank in a, rank in b). An entry (i, j) has
// (i+1)(j+1)−1 entries that are at least as good.
func pairs(a, b []option, k int) []option {
	var best []option
	for i := range a {
		for j := range b {
			if (i+1)*(j+1) > k {
				break
			}
			best = append(best, option{a[i].score + b[j].score, int32(i), int32(j)})
		}
	}
	slices.SortStableFunc(best, func(p, q option) int { return cmp.Compare(q.score, p.score) })
	return best[:min(k, len(best))]
}
