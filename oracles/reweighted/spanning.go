package reweighted

import (
	"cmp"
	"math"
	"slices"
)

// spanning is a spanning forest of an example's graph with its share of the potentials: table/(μ·ρ) for its edges, node/μ + shift for variables.
type spanning struct {
	weight float64   // λ
	links  []int     // of the forest
	order  []int32   // [V] parents in the forest before children
	up     []int     // [V] the link to the parent in the forest, −1 for a root
	shift  []float64 // [V×Y]

	score []float64 // [V×Y] what a variable and its subtree say about its labels
	sent  []float64 // [V×Y] the message to the parent
	p     []float64 // [V×Y] marginals
	pair  []float64 // [E×Y×Y] marginals of the forest's links, by child and parent of the link
}

// heaviest returns the spanning forest whose links have the largest sum of weights (Kruskal).
func (x *example) heaviest(weight func(j int) float64) *spanning {
	links, root := make([]int, len(x.links)), make([]int, x.n)
	for j := range links {
		links[j] = j
	}
	slices.SortStableFunc(links, func(a, b int) int { return cmp.Compare(weight(b), weight(a)) })
	for v := range root {
		root[v] = v
	}
	find := func(v int) int {
		for root[v] != v {
			root[v] = root[root[v]]
			v = root[v]
		}
		return v
	}
	t := &spanning{up: make([]int, x.n)}
	at := make([][]int, x.n)
	for _, j := range links {
		c, p := int(x.links[j].child), int(x.links[j].parent)
		if a, b := find(c), find(p); a != b {
			root[a] = b
			t.links = append(t.links, j)
			at[c], at[p] = append(at[c], j), append(at[p], j)
		}
	}
	seen := make([]bool, x.n)
	for first := range x.n {
		if seen[first] {
			continue
		}
		seen[first], t.up[first] = true, -1
		t.order = append(t.order, int32(first))
		for next := len(t.order) - 1; next < len(t.order); next++ {
			v := t.order[next]
			for _, j := range at[v] {
				if u := x.links[j].child + x.links[j].parent - v; !seen[u] {
					seen[u], t.up[u] = true, j
					t.order = append(t.order, u)
				}
			}
		}
	}
	size := x.n * x.y
	t.shift, t.score, t.sent, t.p = make([]float64, size), make([]float64, size), make([]float64, size), make([]float64, size)
	t.pair = make([]float64, len(x.links)*x.y*x.y)
	return t
}

// sum returns log Σ exp of the forest's potentials, and sets p and pair to its marginals.
func (t *spanning) sum(x *example, μ float64, ρ, scratch []float64) float64 {
	settle()
	y, value := x.y, 0.0
	for i, s := range x.node {
		t.score[i] = s/μ + t.shift[i]
	}
	for k := len(t.order) - 1; k >= 0; k-- {
		v := t.order[k]
		score, sent, j := row(t.score, int(v), y), row(t.sent, int(v), y), t.up[v]
		if j < 0 {
			value += logSum(score)
			continue
		}
		parent := row(t.score, int(x.links[j].child+x.links[j].parent-v), y)
		for i := range sent {
			for l, s := range score {
				scratch[l] = s + x.between(j, v, l, i)/(μ*ρ[j])
			}
			sent[i] = logSum(scratch)
			parent[i] += sent[i]
		}
	}
	for _, v := range t.order {
		p, score, j := row(t.p, int(v), y), row(t.score, int(v), y), t.up[v]
		if j < 0 {
			s := logSum(score)
			for l := range p {
				p[l] = math.Exp(score[l] - s)
			}
			continue
		}
		clear(p)
		pair, sent, parent := row(t.pair, j, y*y), row(t.sent, int(v), y), row(t.p, int(x.links[j].child+x.links[j].parent-v), y)
		for l, s := range score {
			for i, above := range parent {
				q := 0.0
				if above > 0 && s > minusInf {
					q = above * math.Exp(s+x.between(j, v, l, i)/(μ*ρ[j])-sent[i])
				}
				p[l] += q
				if x.links[j].child == v {
					pair[l*y+i] = q
				} else {
					pair[i*y+l] = q
				}
			}
		}
	}
	return value
}

// between returns the potential of link j for label l of its end v and label i of the other end.
func (x *example) between(j int, v int32, l, i int) float64 {
	if x.links[j].child != v {
		l, i = i, l
	}
	return x.table[(j*x.y+l)*x.y+i]
}
