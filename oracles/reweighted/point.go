package reweighted

import (
	"math"

	"github.com/dsp-go/dsp/structured/sys/simd"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// point is a point of the local polytope.
type point struct {
	pair       []float64 // [E×Y×Y] marginals of the labels of child and parent
	rows, cols []float64 // [Y] what a table lacks
	// ⟨θ/μ, u⟩ plus the tree-reweighted entropy; −∞ if a forbidden pair of labels keeps the point from the polytope
	value float64
}

// project makes the marginals of d a point of the local polytope, and computes its value. The marginals of variables
// stay. Those of a pair agree with the parent's already; rows above the child's marginals are scaled down, and what is
// then missing is filled up by a product of marginals (Altschuler, Weed and Rigollet 2017, Algorithm 2).
func (f *point) project(d *bound) {
	y := d.y
	f.pair = vec.Grow(f.pair, len(d.links)*y*y)
	f.rows, f.cols = vec.Grow(f.rows, y), vec.Grow(f.cols, y)
	f.value = 0
	for i, p := range d.p {
		if p > 0 {
			f.value += p * d.node[i] / d.μ
		}
	}
	for k, v := range d.order {
		p := row(d.p, int(v), y)
		from, to := d.of(k)
		if from == to {
			f.value += entropy(p)
		}
		for j := from; j < to; j++ {
			d.ratios(j)
			if !f.fill(d, j, p) {
				f.value = minusInf
			}
			pair, score := row(f.pair, j, y*y), 0.0
			for i, s := range d.tableOf(j) {
				if pair[i] > 0 {
					score += pair[i] * s
				}
			}
			f.value += score/d.μ + d.w[j]*(entropy(pair)-entropy(row(d.p, int(d.links[j].parent), y)))
		}
	}
}

// fill sets the pair marginals of link j, with the ratios in d.r. It returns false if it would have to fill up a
// forbidden pair of labels.
func (f *point) fill(d *bound, j int, p []float64) bool {
	simd.Settle()
	y := d.y
	pair, a, weight := row(f.pair, j, y*y), row(d.a, j, y), row(d.weight, j, y*y)
	parent := row(d.p, int(d.links[j].parent), y)
	copy(f.cols, parent)
	missing, forbids := 0.0, false
	for l := range y {
		to, q := pair[l*y:][:y], 0.0
		for i, x := range weight[l*y:][:y] {
			to[i] = a[l] * x * d.r[i]
			q += to[i]
		}
		scale := 1.0
		if q > p[l] {
			scale = p[l] / q
		}
		f.rows[l] = max(0, p[l]-scale*q)
		missing += f.rows[l]
		for i := range to {
			to[i] *= scale
			f.cols[i] -= to[i]
		}
	}
	for _, s := range d.tableOf(j) {
		forbids = forbids || math.IsInf(s, -1)
	}
	if missing <= 0 || forbids {
		return missing <= 1e-9
	}
	for l, r := range f.rows {
		for i, c := range f.cols {
			pair[l*y+i] += r * max(0, c) / missing
		}
	}
	return true
}

func entropy(p []float64) float64 {
	h := 0.0
	for _, x := range p {
		if x > 0 {
			h -= x * math.Log(x)
		}
	}
	return h
}
