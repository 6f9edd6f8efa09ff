package graph

import (
	"math"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/vec"
)

// Exp implements oracles.Summer.
func (o *Oracle) Exp(θ *structured.Potentials, μ float64, value []float64, u *structured.Marginals) {
	if u != nil {
		u.Like(θ)
		u.Clear()
	}
	for b := range θ.Len() {
		x := of(θ, b)
		var node, edge []float32
		if u != nil {
			node, edge = u.Parts[0].Of(b), u.Parts[1].Of(b)
		}
		if x.plan.forest {
			value[b] = o.forestExp(&x, μ, node, edge)
		} else {
			value[b] = o.loopyExp(&x, μ, node, edge)
		}
	}
}

// forestExp sums over the labels of a forest (Algorithm 9) and returns μ log Σ exp(score/μ). Unless node is nil it adds the marginals of
// labels to node and those of pairs to edge. below [V×Y] becomes the same sum over each variable's subtree given its label, and above [V×Y]
// the message of each variable to its parent.
func (o *Oracle) forestExp(x *example, μ float64, node, edge []float32) float64 {
	w := x.labels
	o.below, o.above = vec.Grow(o.below, x.n*w), vec.Grow(o.above, x.n*w)
	o.scores = vec.Grow(o.scores, w)
	for k, s := range x.node {
		o.below[k] = float64(s) / μ
	}
	for k := x.n - 1; k >= 0; k-- {
		v := x.plan.order[k]
		p := x.plan.parent[v]
		if p < 0 {
			continue
		}
		below, parent, message := o.below[int(v)*w:][:w], o.below[int(p)*w:][:w], o.above[int(v)*w:][:w]
		for l := range w {
			x.with(below, v, x.plan.edge[v], l, 1/μ, o.scores)
			message[l] = logSum(o.scores)
			parent[l] += message[l]
		}
	}
	total := 0.0
	for _, v := range x.plan.order {
		if x.plan.parent[v] < 0 {
			total += logSum(o.below[int(v)*w:][:w])
		}
	}
	if node == nil || math.IsInf(total, -1) {
		return μ * total
	}
	o.spread(x, μ, node, edge)
	return μ * total
}

// spread adds the marginals, from the roots to the leaves: P(y_v, y_p) = P(y_p)·P(y_v | y_p), and the latter is a normalised exponential of
// what forestExp has left.
func (o *Oracle) spread(x *example, μ float64, node, edge []float32) {
	w := x.labels
	o.p = vec.Grow(o.p, x.n*w)
	for _, v := range x.plan.order {
		below, mine := o.below[int(v)*w:][:w], o.p[int(v)*w:][:w]
		parent := x.plan.parent[v]
		if parent < 0 {
			z := logSum(below)
			for l, s := range below {
				mine[l] = math.Exp(s - z)
			}
		} else {
			clear(mine)
			e, message := x.plan.edge[v], o.above[int(v)*w:][:w]
			for l, p := range o.p[int(parent)*w:][:w] {
				if p == 0 {
					continue
				}
				x.with(below, v, e, l, 1/μ, o.scores)
				for k, s := range o.scores {
					joint := p * math.Exp(s-message[l])
					mine[k] += joint
					x.add(edge, v, e, k, l, float32(joint))
				}
			}
		}
		for l, p := range mine {
			node[int(v)*w+l] += float32(p)
		}
	}
}

// add adds c to the entry of edge e for label k of variable v and label l at the other end.
func (x *example) add(edge []float32, v, e int32, k, l int, c float32) {
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

// logSum returns log Σ exp(x).
func logSum(xs []float64) float64 {
	most := minusInf
	for _, x := range xs {
		most = max(most, x)
	}
	if math.IsInf(most, -1) {
		return most
	}
	s := 0.0
	for _, x := range xs {
		s += math.Exp(x - most)
	}
	return most + math.Log(s)
}
