package exact

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Exp implements oracles.Summer.
func (o *Oracle) Exp(θ *structured.Potentials, μ float64, value []float64, u *structured.Marginals) {
	if u != nil {
		u.Like(θ)
	}
	o.prepareExp(θ, μ)
	for b := range θ.Len() {
		x := exampleOf(θ, b)
		var node, edge []float32
		if u != nil {
			node, edge = u.Parts[0].Of(b), u.Parts[1].Of(b)
		}
		if !o.guard.Valid(θ, b) {
			value[b] = oracles.RefuseSums(u, b)
			continue
		}
		if !x.plan.forest {
			clear(node)
			clear(edge)
			value[b] = o.loopyExp(&x, μ, node, edge)
			continue
		}
		var ok bool
		if value[b], ok = o.forestExp(&x, μ, node, edge); !ok {
			value[b] = o.logExp(&x, μ, node, edge)
		}
		if x.apart && u != nil {
			x.pairs(node, edge)
		}
		if math.IsInf(value[b], -1) {
			clear(node)
			clear(edge)
		}
	}
}

// weights are the exponentials of the potentials of edges, relative to the largest in their row of the potentials'
// part.
type weights struct {
	most  []float64 // [types] the largest potential of a type of edges
	least float64   // the smallest exponent
	sums  []float64 // [types × y × wide] of typed edges, the marginals of pairs divided by the weights
	a, b  []float64 // [types × 4 × wide] factors of marginals that sums still lacks, for the first and the second end
	count []int     // [types] of these factors
}

// prepareExp computes the weights of typed edges.
func (o *Oracle) prepareExp(θ *structured.Potentials, μ float64) {
	o.prepare(θ)
	o.logs.ready = false
	types, w := o.types(θ), &o.weights
	w.most, w.count, w.least = vec.Grow(w.most, types), vec.Grow(w.count, types), 0
	for r := range types {
		size := o.y * o.y
		w.most[r] = o.tableExps(o.typed(int32(2*r)), θ.Parts[1].Values[r*size:][:size], μ, &w.least)
	}
	o.transpose(types)
	w.sums, w.a, w.b = vec.Grow(w.sums, types*o.y*o.wide), vec.Grow(w.a, types*4*o.wide), vec.Grow(w.b, types*4*o.wide)
	o.floor = vec.Grow(o.floor, o.k.lanes)
}

// tableExps sets to [y×wide] to exp(potential/μ), relative to the largest potential, which it returns. It lowers least
// to the smallest exponent.
func (o *Oracle) tableExps(to []float64, from []float32, μ float64, least *float64) float64 {
	most := float32(math.Inf(-1))
	for _, x := range from {
		if x > most {
			most = x
		}
	}
	if math.IsInf(float64(most), -1) {
		clear(to)
		return 0
	}
	*least = min(*least, o.k.expsFrom(to, from, o.y, o.y, o.wide, float64(most), 1/μ))
	return float64(most)
}

// enough is the smallest exponent of a number that may be multiplied by another one without an underflow.
const enough = -345

// crowd is the number of children after which the row of a parent is normalised.
const crowd = 16

// forestExp sums over the labels of a forest (Algorithm 9), with probabilities that are scaled at every variable. It
// returns μ log Σ exp(score/μ). Unless node is nil it sets the marginals. It returns false if the potentials span too
// much for that.
//
// With n_v = exp(θ_v/μ) and E_v(k, l) = exp(θ(k, l)/μ) for label k of v and label l of its parent,
//
//	below_v = n_v ∘ Π_children above / Σ,   above_v(l) = Σ_k below_v(k) E_v(k, l),
//	P(k, l) = below_v(k) E_v(k, l) r(l),    r(l) = P_parent(l)/above_v(l).
//
// A zero must be a zero of the exact sums: no product of two numbers may underflow. So forestExp keeps the smallest
// positive number in floor, the smallest exponents of potentials included.
func (o *Oracle) forestExp(x *example, μ float64, node, edge []float32) (value float64, ok bool) {
	o.below, o.above = vec.Grow(o.below, x.n*o.wide), vec.Grow(o.above, x.n*o.wide)
	if x.n == 0 {
		clear(edge)
		return 0, true
	}
	for l := range o.floor {
		o.floor[l] = 1
	}
	value, least := o.k.exps(o.below, x.node, x.n, o.y, o.wide, 1/μ)
	least = min(least, o.weights.least)
	if math.IsInf(value, -1) {
		return value, true
	}
	if !(least > enough) {
		return 0, false
	}
	log, moved, ok := o.collectSums(x, μ, &least)
	for _, f := range o.floor {
		least = min(least, math.Log(f))
	}
	if !(least > enough) {
		return 0, false
	}
	if !ok {
		return minusInf, true
	}
	if node != nil {
		o.distribute(x, μ, node, edge)
	}
	return value + moved + μ*log, true
}

// collectSums computes below and above. It returns the logarithm of the product of all scales and the sum of the edges'
// potentials that their weights are relative to, or false if a sum is 0.
func (o *Oracle) collectSums(x *example, μ float64, least *float64) (log, moved float64, ok bool) {
	product, last, children := 1.0, int32(-1), 0
	scale := func(row []float64) bool {
		s := o.k.normalise(row)
		if product *= s; !(product > 1e-100 && product < 1e100) {
			log += math.Log(product)
			product = 1
		}
		return s > 0
	}
	steps := x.plan.steps
	for k := len(steps) - 1; k >= 0; k-- {
		s := steps[k]
		below := o.rowOf(o.below, s.v)
		if !scale(below) {
			return 0, 0, false
		}
		if s.parent < 0 {
			continue
		}
		above, parent := o.rowOf(o.above, s.v), o.rowOf(o.below, s.parent)
		moved += o.message(x, s, μ, above, below, least)
		o.k.multiply(parent, above, o.floor)
		if s.parent != last {
			last, children = s.parent, 0
		} else if children++; children%crowd == 0 && !scale(parent) {
			return 0, 0, false
		}
	}
	return log + math.Log(product), moved, true
}

// message sets above to the message of variable s.v to its parent. It returns the potential that the edge's weights are
// relative to.
func (o *Oracle) message(x *example, s step, μ float64, above, below []float64, least *float64) float64 {
	switch {
	case x.kind == graphs.Typed:
		o.k.sums(above, below, o.typed(s.table), o.y)
		return o.weights.most[s.table/2]
	case x.kind == graphs.Potts:
		return o.pottsSums(above, below, x.edge[s.edge], μ, least)
	}
	most := o.tableExps(o.table, x.table(s.edge), μ, least)
	if s.table&1 == 0 {
		o.k.sums(above, below, o.table, o.y)
	} else {
		o.k.dots(above, below, o.table, o.y)
	}
	return most
}

// pottsWeights returns the weights of equal and of different labels, relative to the larger, whose potential it
// returns, too.
func pottsWeights(same float32, μ float64) (equal, different, most float64) {
	if θ := float64(same); θ > 0 {
		return 1, math.Exp(-θ / μ), θ
	} else {
		return math.Exp(θ / μ), 1, 0
	}
}

// pottsSums sets to_l = Σ_k x_k E(k, l) for a Potts edge. It adds the other labels' numbers from both sides, since
// subtracting x_l from the sum of all would lose digits.
func (o *Oracle) pottsSums(to, x []float64, same float32, μ float64, least *float64) float64 {
	equal, different, most := pottsWeights(same, μ)
	if θ := float64(same); !math.IsInf(θ, -1) {
		*least = min(*least, -math.Abs(θ)/μ)
	}
	before := 0.0
	for l, v := range x {
		to[l] = before
		before += v
	}
	after := 0.0
	for l := len(x) - 1; l >= 0; l-- {
		to[l] = (to[l]+after)*different + x[l]*equal
		after += x[l]
	}
	clear(to[o.y:])
	return most
}

// distribute sets the marginals, from the roots to the leaves.
func (o *Oracle) distribute(x *example, μ float64, node, edge []float32) {
	w := &o.weights
	if x.kind == graphs.Typed {
		clear(w.sums)
		clear(w.count)
	}
	y := o.y
	for _, s := range x.plan.steps {
		below, p, out := o.rowOf(o.below, s.v), o.rowOf(o.above, s.v), node[int(s.v)*y:][:y]
		if s.parent < 0 {
			copy(p, below)
			for l := range out {
				out[l] = float32(p[l])
			}
			continue
		}
		r, sum := o.row, o.sum
		o.k.divide(r, o.rowOf(o.above, s.parent), p)
		first := s.table&1 == 0
		switch x.kind {
		case graphs.Typed:
			o.k.sums(sum, r, o.typed(s.table^1), y)
			o.later(s.table, below, r)
		case graphs.Potts:
			least := 0.0
			o.pottsSums(sum, r, x.edge[s.edge], μ, &least)
			equal, _, _ := pottsWeights(x.edge[s.edge], μ)
			total := 0.0
			for l, v := range r[:y] {
				total += below[l] * v
			}
			edge[s.edge] = float32(total * equal)
		default:
			least := 0.0
			o.tableExps(o.table, x.table(s.edge), μ, &least)
			to := edge[int(s.edge)*y*y:][:y*y]
			if first {
				o.k.dots(sum, r, o.table, y)
				o.k.joint(to, below, r, o.table, y)
			} else {
				o.k.sums(sum, r, o.table, y)
				o.k.joint(to, r, below, o.table, y)
			}
		}
		o.k.product(p, out, below, sum)
	}
	if x.kind == graphs.Typed {
		o.flush(edge)
	}
}

// later notes the factors of the marginals of a typed edge, and adds them to the sums when there are four.
func (o *Oracle) later(table int32, below, r []float64) {
	w, t := &o.weights, int(table/2)
	at := (4*t + w.count[t]) * o.wide
	a, b := w.a[at:][:o.wide], w.b[at:][:o.wide]
	if table&1 == 0 {
		copy(a, below)
		copy(b, r)
	} else {
		copy(a, r)
		copy(b, below)
	}
	if w.count[t]++; w.count[t] == 4 {
		o.addFour(t)
	}
}

func (o *Oracle) addFour(t int) {
	w, size := &o.weights, 4*o.wide
	o.k.outer(w.sums[t*o.y*o.wide:], w.a[t*size:][:size], w.b[t*size:][:size], o.y, o.wide)
	w.count[t] = 0
}

// flush sets the marginals of typed edges.
func (o *Oracle) flush(edge []float32) {
	w, size := &o.weights, o.y*o.wide
	for t, n := range w.count {
		if n > 0 {
			at := (4*t + n) * o.wide
			clear(w.a[at : 4*(t+1)*o.wide])
			clear(w.b[at : 4*(t+1)*o.wide])
			o.addFour(t)
		}
		o.k.weigh(edge[t*o.y*o.y:], w.sums[t*size:][:size], o.typed(int32(2*t)), o.y, o.wide)
	}
}
