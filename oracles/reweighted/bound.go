package reweighted

import (
	"math"

	"github.com/dsp-go/dsp/structured/sys/simd"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// bound is an upper bound of log Σ exp(⟨θ, 1_y⟩/μ) for an example: see the package's description.
type bound struct {
	*example
	μ     float64
	w     []float64 // [E] the weight of each link, its edge's probability to appear in the random forest
	shift []float64 // [E×Y] ν_j(x_v), with Σ_j w_j ν_j = 0 over the links of each child

	most []float64 // [E] the largest potential of a link, over μ·w
	// [E×Y×Y] exp(potential/(μ·w) − most), or for a wide link the conditional probability of the child's label
	weight []float64
	wide   []bool // [E] the potentials of a link span too much for exp

	score []float64 // [V×Y] what a variable and its children say about its labels
	a     []float64 // [E×Y] exp(score + ν_j − its maximum) of the child
	z     []float64 // [E×Y] Σ over the child's labels of weight·a, given the parent's label
	p     []float64 // [V×Y] the marginals
	q     []float64 // [E×Y] the marginals of the child's labels according to each link
	r     []float64 // [Y]
}

// widest is the most that the exponents of a link's weights may span. Numbers that are lost by an underflow are then
// too small to matter.
const widest = 300

// begin starts with weights that are equal among the links of each child, and no shifts.
func (d *bound) begin(x *example, μ float64) {
	d.example, d.μ = x, μ
	links, size := len(x.links), x.y*x.y
	d.w, d.most, d.wide = vec.Grow(d.w, links), vec.Grow(d.most, links), vec.Grow(d.wide, links)
	d.weight, d.shift = vec.Grow(d.weight, links*size), vec.Grow(d.shift, links*x.y)
	d.a, d.z, d.q = vec.Grow(d.a, links*x.y), vec.Grow(d.z, links*x.y), vec.Grow(d.q, links*x.y)
	d.score, d.p, d.r = vec.Grow(d.score, x.n*x.y), vec.Grow(d.p, x.n*x.y), vec.Grow(d.r, x.y)
	clear(d.shift)
	for k := range x.order {
		from, to := x.of(k)
		for j := from; j < to; j++ {
			d.w[j] = 1 / float64(to-from)
		}
	}
	d.weigh()
}

// weigh computes the weights of pairs from the weights of links.
func (d *bound) weigh() {
	simd.Settle()
	for j := range d.links {
		table, rate := d.tableOf(j), 1/(d.μ*d.w[j])
		lo, hi := math.Inf(1), minusInf
		for _, s := range table {
			lo, hi = min(lo, s), max(hi, s)
		}
		d.most[j], d.wide[j] = hi*rate, !((hi-lo)*rate <= widest)
		if d.wide[j] {
			continue
		}
		weight := row(d.weight, j, d.y*d.y)
		for i, s := range table {
			weight[i] = math.Exp((s - hi) * rate)
		}
	}
}

// collect eliminates all variables, children before parents, and returns the bound.
func (d *bound) collect() float64 {
	value, y := 0.0, d.y
	for i, s := range d.node {
		d.score[i] = s / d.μ
	}
	for k := len(d.order) - 1; k >= 0; k-- {
		score := row(d.score, int(d.order[k]), y)
		from, to := d.of(k)
		if from == to {
			value += logSum(score)
		}
		for j := from; j < to; j++ {
			parent := row(d.score, int(d.links[j].parent), y)
			if d.wide[j] {
				d.eliminateWide(j, score, parent)
			} else {
				d.eliminate(j, score, parent)
			}
		}
	}
	return value
}

// eliminate adds w_j·log Σ exp(θ/(μ·w_j) + score + ν_j) over the child's labels to each label of the parent.
func (d *bound) eliminate(j int, score, parent []float64) {
	simd.Settle()
	y, w := d.y, d.w[j]
	a, z, ν, weight := row(d.a, j, y), row(d.z, j, y), row(d.shift, j, y), row(d.weight, j, y*y)
	top := minusInf
	for l, s := range score {
		a[l] = s + ν[l]
		top = max(top, a[l])
	}
	clear(z)
	if math.IsInf(top, -1) {
		clear(a)
		for l := range parent {
			parent[l] = minusInf
		}
		return
	}
	for l := range a {
		e := math.Exp(a[l] - top)
		a[l] = e
		for i, x := range weight[l*y:][:y] {
			z[i] += e * x
		}
	}
	top += d.most[j]
	for i, x := range z {
		parent[i] += w * (math.Log(x) + top)
	}
}

// eliminateWide is eliminate in logarithms. It leaves conditional probabilities in weight, with a = z = 1.
func (d *bound) eliminateWide(j int, score, parent []float64) {
	simd.Settle()
	y, w := d.y, d.w[j]
	ν, weight, table, rate := row(d.shift, j, y), row(d.weight, j, y*y), d.tableOf(j), 1/(d.μ*d.w[j])
	for l := range y {
		row(d.a, j, y)[l], row(d.z, j, y)[l] = 1, 1
	}
	for i := range y {
		for l := range y {
			d.r[l] = table[l*y+i]*rate + score[l] + ν[l]
		}
		s := logSum(d.r)
		for l, x := range d.r {
			weight[l*y+i] = 0
			if x > minusInf {
				weight[l*y+i] = math.Exp(x - s)
			}
		}
		parent[i] += w * s
	}
}

// distribute computes the marginals, the gradient of the bound, from parents to children. collect has run.
func (d *bound) distribute() {
	simd.Settle()
	y := d.y
	for k, v := range d.order {
		p := row(d.p, int(v), y)
		from, to := d.of(k)
		if from == to {
			score := row(d.score, int(v), y)
			s := logSum(score)
			for l := range p {
				p[l] = math.Exp(score[l] - s)
			}
			continue
		}
		clear(p)
		for j := from; j < to; j++ {
			a, q, weight := row(d.a, j, y), row(d.q, j, y), row(d.weight, j, y*y)
			d.ratios(j)
			for l := range q {
				s := 0.0
				for i, x := range weight[l*y:][:y] {
					s += x * d.r[i]
				}
				q[l] = a[l] * s
				p[l] += d.w[j] * q[l]
			}
		}
	}
}

// ratios sets r to the parent's marginals over z: the marginal of a pair of labels (l, i) of child and parent is
// a_l·weight_li·r_i.
func (d *bound) ratios(j int) {
	z := row(d.z, j, d.y)
	for i, x := range row(d.p, int(d.links[j].parent), d.y) {
		d.r[i] = 0
		if z[i] > 0 {
			d.r[i] = x / z[i]
		}
	}
}

// least is the smallest logarithm of a marginal that moves shifts.
const least = -300

// match sets move to what the shifts lack, if the marginals of the parents stayed, for marginals q_j of each child that
// are all proportional to their geometric mean. It is a descent direction of the bound, along which Σ_j w_j ν_j stays
// 0.
func (d *bound) match(move []float64) {
	simd.Settle()
	y := d.y
	for k := range d.order {
		from, to := d.of(k)
		for l := range y {
			mean := 0.0
			for j := from; j < to; j++ {
				move[j*y+l] = -max(least, math.Log(d.q[j*y+l]))
				mean -= d.w[j] * move[j*y+l]
			}
			for j := from; j < to; j++ {
				move[j*y+l] += mean
			}
		}
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
