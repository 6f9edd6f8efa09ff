package graph

import (
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/vec"
)

// forestMax finds the best labels of a forest (Algorithm 7). below [V×Y] becomes the best score of each variable's subtree given its label.
func (o *Oracle) forestMax(x *example, y []int32) {
	w := x.labels
	o.below = vec.Grow(o.below, x.n*w)
	o.scores = vec.Grow(o.scores, w)
	for k, s := range x.node {
		o.below[k] = float64(s)
	}
	for k := x.n - 1; k >= 0; k-- {
		v := x.plan.order[k]
		if p := x.plan.parent[v]; p >= 0 {
			x.raise(o.below[int(v)*w:][:w], v, x.plan.edge[v], o.below[int(p)*w:][:w], o.scores)
		}
	}
	for _, v := range x.plan.order {
		below := o.below[int(v)*w:][:w]
		if p := x.plan.parent[v]; p >= 0 {
			x.with(below, v, x.plan.edge[v], int(y[p]), 1, o.scores)
			below = o.scores
		}
		y[v] = argmax(below)
	}
}

// raise adds max over the labels of variable v of below + θ to every label of its parent.
func (x *example) raise(below []float64, v, e int32, parent, best []float64) {
	w := x.labels
	switch {
	case x.kind == graphs.Potts:
		same, most := float64(x.edge[e]), minusInf
		for _, s := range below {
			most = max(most, s)
		}
		if same >= 0 || w == 1 {
			for l, s := range below {
				if w == 1 {
					parent[l] += s + same
				} else {
					parent[l] += max(most, s+same)
				}
			}
			return
		}
		for l := range below {
			m := below[l] + same
			for k, s := range below {
				if k != l {
					m = max(m, s)
				}
			}
			parent[l] += m
		}
	case x.first(v, e):
		t := x.table(e)
		for l := range best {
			best[l] = minusInf
		}
		for k, s := range below {
			row := t[k*w : (k+1)*w]
			for l, θ := range row {
				best[l] = max(best[l], s+float64(θ))
			}
		}
		for l, m := range best {
			parent[l] += m
		}
	default:
		t := x.table(e)
		for l := range parent {
			m := minusInf
			for k, θ := range t[l*w : (l+1)*w] {
				m = max(m, below[k]+float64(θ))
			}
			parent[l] += m
		}
	}
}

// argmax returns the lowest of the best labels.
func argmax(scores []float64) int32 {
	best := 0
	for l, s := range scores {
		if s > scores[best] {
			best = l
		}
	}
	return int32(best)
}

// Max implements oracles.Maximiser.
func (o *Oracle) Max(θ *structured.Potentials, y []int32, value []float64) {
	for b := range θ.Len() {
		x := of(θ, b)
		out := y[θ.Outputs[b]:θ.Outputs[b+1]]
		if x.plan.forest {
			o.forestMax(&x, out)
		} else {
			o.loopyMax(&x, out)
		}
		value[b] = θ.Score(b, out)
	}
}
