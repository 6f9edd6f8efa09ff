package engine

import (
	"context"
	"math"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Met is what a pass at weights w tells of a dual point in memory for which w is, but for what additions to it have
// rounded, the minimiser of the linear lower bound: then neither a gradient nor its memory is needed to certify.
//
// With w̃ = −(1/λn) Σ c_i J_iᵀ(u_i − 1_{y_i}) and a scorer that is linear, −λ⟨w̃, w⟩ is the mean of c_i ⟨u_i − 1_{y_i},
// θ_i(w)⟩, and ‖w̃‖² = 2⟨w̃,w⟩ − ‖w‖² + ‖w̃ − w‖², so that for any w
//
//	D(u) = (1/n) Σ c_i [H(u_i) + ⟨u_i − 1_{y_i}, θ_i(w) + ℓ_i⟩] + (λ/2)‖w‖² − (λ/2)‖w̃ − w‖² + constant.
//
// The distance is of second order, and a bound on it is enough. It has two parts. The weights are the sum of what steps
// have added, and the roundings of additions are bounded by what was added (sparse.Additions). And the point of the
// polytope that the bound is of, ũ_i, differs from the numbers u_i by a share of them: rounding.go says how much, and
// sparse.Reach how far that moves w̃. Everything else errs as it does for other dual points in memory, at w; what there
// is left uncharged, ⟨g − g̃, w̃ − w⟩, is part of the distance here.
type Met struct {
	linear float64 // (1/n) Σ c_i ⟨u_i − 1_{y_i}, θ_i + ℓ_i⟩
	below  float64 // bound on its rounding errors and on those of the entropy that sizes of potentials tell
	length float64 // a bound on ‖Σ c_i J_iᵀu_i‖
	square float64 // ‖w‖²
	terms  int     // weights and examples
}

// CanMeet reports whether the engine can do without the gradient of a dual point in memory: whether the scorer is
// linear in attributes alone, with sums in float64, on this process alone, and the regulariser λ/2‖w‖².
func (e *Engine) CanMeet() bool {
	if !e.AttributesAlone() || !e.precise || !e.bounds || e.OnDevice() || e.Ranks().Size() > 1 || e.Relaxed() != "" {
		return false
	}
	if !e.Loss.Smooth() || e.Loss == Quadratic || e.Completion != nil || len(e.Data.LabelSets) > 0 {
		return false
	}
	if _, one := e.Scorer.Form().Structure.(structured.OneEntry); one { // whose v are moved (balance)
		return false
	}
	return e.Lambda > 0 && e.Plain() && e.Radius == 0 && e.Center == nil && !e.doubles.on
}

// Meet looks at a dual point in memory at w; length is that of the reach of all examples. The marginals must be known
// to float32 (Bound). If asked for, it also returns what Upper does, from the same potentials.
func (e *Engine) Meet(
	ctx context.Context, w []float32, memory *Memory, length float64, value bool,
) (met Met, upper, rounded float64, err error) {
	e.prepareLosses()
	e.blurs = nil
	total, err := e.sumOverShards(ctx, e.layout.shards, nil, false, func(ln *Lane) error {
		ln.V, ln.before = ln.before, ln.V // a pass keeps the V of several shards, and none of these is of use after it
		defer func() { ln.V, ln.before = ln.before, ln.V }()
		if err := e.precisely(ln, w); err != nil {
			return err
		}
		if value {
			losses := e.Losses(&ln.Shard)
			ln.tally().Primal += losses
		}
		memory.Load(ln)
		ln.V.Copy(&ln.Answer.U)
		for b, i := range ln.Batch.Examples {
			e.subtractGold(&ln.Shard, &ln.V, b)
			ln.tally().Blur += e.Data.Weight(i) * tiedSum(&ln.Answer.U, b)
		}
		e.weigh(&ln.Shard, true)
		e.roundMemory(&ln.Shard)
		return nil
	})
	if err != nil {
		return Met{}, 0, 0, err
	}
	inv, square := 1/float64(e.Len()), vec.Norm2(w)
	f := total.Primal/float64(e.Len()) + (e.Lambda/2*square + e.Constant)
	upper = e.roundUp(f, total)
	return Met{
		linear: total.Linear * inv, below: total.Below * inv, length: math.Hypot(length, total.Blur),
		square: square, terms: len(w) + e.Len(),
	}, upper, upper - f, nil
}

// tiedSum returns the sum of the marginals of example b in tied parts, or +∞ if a row of another part sums to more than
// 1.
func tiedSum(u *structured.Marginals, b int) float64 {
	total := 0.0
	for k := range u.Parts {
		p := &u.Parts[k]
		if p.Rows == structured.Tied {
			total += vec.Sum(p.Of(b))
			continue
		}
		for rows := p.Of(b); len(rows) > 0 && p.Width > 0; rows = rows[p.Width:] {
			if !(vec.Sum(rows[:p.Width]) <= 1+1e-3) {
				return math.Inf(1)
			}
		}
	}
	return total
}

// Far bounds what D loses by the distance of w from the minimiser of the bound, if w may be as far as drift says from
// the sum in exact arithmetic of what was added to it, and ‖Σ c_i J_iᵀu_i‖ is no more than length. The numbers u_i are
// within a share of noise, and of what sums in tied rows round, of those of a point of the polytope.
func (e *Engine) Far(drift, length float64) float64 {
	drift += (noise + 4) * Unit * 1.01 * length / (e.Lambda * float64(e.Len()))
	return e.Lambda / 2 * drift * drift
}

// Bound returns D(u) rounded down, and by how much, given the mean entropy of u with a bound on its errors, and how far
// w may be from the sum in exact arithmetic of what was added to it. far is the part of it that a gradient would save.
// All are infinite if marginals are not known to float32, which EntropyRounding has found meanwhile.
func (e *Engine) Bound(met Met, entropy, rounded, drift float64) (bound, below, far float64) {
	if len(e.blurs) > 0 {
		return math.Inf(-1), math.Inf(1), math.Inf(1)
	}
	far = e.Far(drift, met.length)
	quadratic := e.Lambda / 2 * met.square
	size := math.Abs(met.linear) + math.Abs(entropy) + math.Abs(e.Constant) + quadratic
	below = met.below + rounded + far + DoubleError(met.terms)*size
	return met.linear + entropy + e.Constant + quadratic - below, below, far
}
