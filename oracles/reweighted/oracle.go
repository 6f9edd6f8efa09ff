package reweighted

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/exact"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Oracle answers max and exp for graphs.Pairwise with bounds from above. Forests get the exact answers.
//
// The value of Max is a bound, and its labels are good ones whose score may be lower.
//
// The value H of Exp is a bound. The marginals u are a point of the local polytope, except where edges have potentials
// −∞: then they are the gradient of H for the shifts that were found, and pairs may disagree slightly with variables.
// With D ≥ 0 the difference between H and the value of u, which is at most Gap·μ·V if Passes suffice, the exact bound R
// satisfies H ≥ R(θ) ≥ H − D, and
//
//	R(θ') ≥ H − D + ⟨u, θ' − θ⟩ for all θ'.
//
// So u is the gradient of R up to D. R is convex, as a hinge or crf loss must be: learning with it minimises an upper
// bound of the loss (Finley and Joachims 2008). The hinge takes it at a small μ, by entropy smoothing, since max over
// the local polytope has no such u from messages alone; with no smoothing, u is that of the labels of Max.
type Oracle struct {
	Gap    float64 // D per variable and μ at which Exp stops; 0 means 1e-6
	Passes int     // the most passes over an example's graph; 0 means 100

	guard   oracles.Guard
	exact   *exact.Oracle
	example example
	descent descent
	chains  chains
	upper   []float64 // [B] of the latest Max
	proven  []bool    // [B]
	lacks   []float64 // [B] D of the latest Exp
	typed   []float64 // the sum of the marginals of typed edges
	single  structured.Potentials
	alone   structured.Marginals
}

func New() *Oracle { return &Oracle{exact: exact.New()} }

var (
	_ oracles.Relaxed = (*Oracle)(nil)
	_ oracles.Gapped  = (*Oracle)(nil)
)

func (o *Oracle) Relaxed() string {
	return "in graphs with loops, maxima and sums are bounds over the local polytope"
}

func (o *Oracle) Bound(b int) (upper float64, exact bool) { return o.upper[b], o.proven[b] }

func (o *Oracle) SumGap(b int) float64 { return o.lacks[b] }

func (o *Oracle) gap() float64 {
	if o.Gap == 0 {
		return 1e-6
	}
	return o.Gap
}

func (o *Oracle) passes() int {
	if o.Passes == 0 {
		return 100
	}
	return o.Passes
}

// forest reports whether the example has no loops.
func (x *example) forest() bool {
	for k := range x.order {
		if from, to := x.of(k); to-from > 1 {
			return false
		}
	}
	return true
}

// Max implements oracles.Maximiser.
func (o *Oracle) Max(θ *structured.Potentials, y []int32, value []float64) {
	o.guard.Begin(θ)
	o.upper, o.proven = vec.Grow(o.upper, θ.Len()), vec.Grow(o.proven, θ.Len())
	for b := range θ.Len() {
		x, out := &o.example, y[θ.Outputs[b]:θ.Outputs[b+1]]
		if !o.guard.Valid(θ, b) {
			value[b] = oracles.Refuse(out)
			o.upper[b], o.proven[b] = value[b], false
			continue
		}
		masks := oracles.FindMasks(θ, b, 0, 1)
		x.read(θ, b, masks)
		if x.forest() {
			θ.View(b, &o.single)
			o.exact.Max(&o.single, out, value[b:b+1])
			o.upper[b], o.proven[b] = value[b], true
			continue
		}
		bound := o.chains.run(x, 1e-7, o.passes())
		if masks.Any() && !(θ.Score(b, o.chains.labels) > masks.Most) {
			x.read(θ, b, oracles.NoMasks)
			bound = o.chains.run(x, 1e-7, o.passes())
		}
		copy(out, o.chains.labels)
		score := θ.Score(b, out)
		if o.proven[b] = bound-score <= o.rounding(0); o.proven[b] {
			bound = score
		}
		o.upper[b], value[b] = bound, bound
	}
}

// negligible is the logarithm of a share of a sum that does not matter.
const negligible = -40

// Exp implements oracles.Summer, with an upper bound of μ log Σ exp(score/μ) for the value.
func (o *Oracle) Exp(θ *structured.Potentials, μ float64, value []float64, u *structured.Marginals) {
	if u != nil {
		u.Like(θ)
		u.Clear()
	}
	o.guard.Begin(θ)
	o.lacks = vec.Grow(o.lacks, θ.Len())
	clear(o.lacks)
	for b := range θ.Len() {
		if !o.guard.Valid(θ, b) {
			value[b] = oracles.RefuseSums(u, b)
			continue
		}
		x, masks := &o.example, oracles.FindMasks(θ, b, 0, 1)
		x.read(θ, b, masks)
		if x.forest() {
			o.exactExp(θ, b, μ, value, u)
			continue
		}
		d, tolerance := &o.descent, o.gap()*float64(x.n)
		d.run(x, μ, tolerance, o.passes())
		if masks.Any() {
			// What all outputs with masks add to the sum is at most their number times the largest term.
			if more := masks.Most/μ + float64(x.n)*math.Log(float64(x.y)) - d.upper; more < negligible {
				d.upper += math.Exp(more)
			} else {
				x.read(θ, b, oracles.NoMasks)
				d.run(x, μ, tolerance, o.passes())
			}
		}
		if value[b] = μ * d.upper; math.IsInf(value[b], -1) {
			continue
		}
		o.lacks[b] = μ * max(0, d.upper-d.point.value)
		if u != nil {
			o.write(u.Parts[0].Of(b), u.Parts[1].Of(b))
		}
	}
}

func (o *Oracle) exactExp(θ *structured.Potentials, b int, μ float64, value []float64, u *structured.Marginals) {
	θ.View(b, &o.single)
	if u == nil {
		o.exact.Exp(&o.single, μ, value[b:b+1], nil)
		return
	}
	o.exact.Exp(&o.single, μ, value[b:b+1], &o.alone)
	u.Set(b, &o.alone, 0)
}

// write sets the marginals of an example to those of the point.
func (o *Oracle) write(node, edge []float32) {
	x, y := &o.example, o.example.y
	for i, p := range o.descent.p {
		node[i] = float32(p)
	}
	if x.kind == graphs.Typed {
		o.typed = vec.Grow(o.typed, len(edge))
		clear(o.typed)
	}
	for j, l := range x.links {
		pair := row(o.descent.point.pair, j, y*y)
		if x.kind == graphs.Potts {
			same := 0.0
			for k := range y {
				same += pair[k*y+k]
			}
			edge[l.edge] = float32(same)
			continue
		}
		at := x.place(l)
		for i, p := range pair {
			if l.turned {
				i = i%y*y + i/y
			}
			if x.kind == graphs.Typed {
				o.typed[at+i] += p
			} else {
				edge[at+i] = float32(p)
			}
		}
	}
	if x.kind == graphs.Typed {
		for i, s := range o.typed {
			edge[i] = float32(s)
		}
	}
}
