package engine

import (
	"context"
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
)

// Passes in float64. What float32 rounds is about 1e-4 of an objective on text (rounding.go). A full pass of a
// certificate may be in float64 from scores to the gradient, where the scorer is linear in sparse inputs and the oracle
// is a DoubleSummer; then w and g alone are float32. Each such pass takes some two or three times as long, so that the
// engine is told when that is worth it.
//
// # The objective
//
// The potentials x that are computed differ from θ_i(w) + ℓ_i by E_i at most, if each row's largest difference counts:
// log Σ_y exp⟨x, 1_y⟩ and the gold output's score move by no more than that each. A sum of t products of float32
// numbers, each exact in float64, errs by (t + 8) 2⁻⁵³ Σ|x_j w_j| (sparse.Norms), and with ℓ by another 2⁻⁵³ of the
// result. The oracle bounds the error ω_i of its value (DoubleAnswer.Error), and S_i, which no score exceeds
// (DoubleAnswer.Size). F is rounded up by the mean of
//
//	c_i (ω_i + 2 E_i + (2T + 12) 2⁻⁵³ S_i).
//
// # The dual
//
// For any potentials x, ũ_i, their marginals in exact arithmetic, is a point of the polytope, with the entropy H(ũ_i) =
// log Z(x) − ⟨ũ_i, x⟩. The numbers u that are computed differ from it by ν_i ũ_i entry by entry (DoubleAnswer.Noise).
// θ_i(w) = J_i w is linear, so that D needs no scores: with r_i the gold output,
//
//	D(ũ) = (1/n) Σ c_i [H(ũ_i) + ⟨ũ_i, ℓ_i⟩] + constant − ‖g̃‖²/2λ,    g̃ = (1/n) Σ c_i J_iᵀ(ũ_i − r_i).
//
// The first part errs by the mean of c_i (ω_i + ν_i (S_i + ⟨u_i, ℓ_i⟩)), and by roundings of its sums. And ‖g − g̃‖ ≤
// δ, the mean of c_i (ν_i + (2N + 32) 2⁻⁵³) L_i, where L_i bounds ‖J_iᵀu‖ for all points u (sparse.Norms) and an entry
// of g is a sum of at most N + n numbers, each of at most three more roundings: the bound loses δ‖g‖/λ + δ²/2λ, with
// what float32 makes of g in δ (MixtureAllowance). Nothing else is left out. What a method remembers as potentials φ_i
// in float32 is such an x, exactly.

// doublePasses says which passes of an engine are in float64.
type doublePasses struct {
	on        bool // those of certificates are
	pulls     bool // one is at work that pulls numbers back
	tooNarrow bool // one has shown that float64 does not hold its sums
}

// UseDoubles makes later values that are rounded up, full passes without a memory and RecomposeDoubly work in float64,
// if the objective allows it. It reports whether that is new. A pass that float64 is too narrow for is repeated in
// float32, and so are all after it.
func (e *Engine) UseDoubles() bool {
	was := e.doubles.on
	e.doubles.on = e.holdsDoubles()
	return e.doubles.on && !was
}

// Doubles reports whether UseDoubles is in force.
func (e *Engine) Doubles() bool { return e.doubles.on }

func (e *Engine) holdsDoubles() bool {
	if _, sums := e.kind.Oracle().(oracles.DoubleSummer); !sums || e.doubles.tooNarrow || !e.backend.precise() || e.Relaxed() != "" {
		return false
	}
	if !e.AttributesAlone() || !e.Loss.Smooth() || e.Loss == Quadratic {
		return false
	}
	return e.Completion == nil && len(e.Data.LabelSets) == 0 && e.Lambda > 0 && e.Plain() && e.Radius == 0 && e.Center == nil
}

// doubleLane is a lane's scratch memory for passes in float64.
type doubleLane struct {
	x      structured.Doubles    // potentials
	loss   structured.Potentials // ℓ_i
	answer oracles.DoubleAnswer
	one    structured.Potentials // of an example in memory
	oneU   structured.Marginals  // the layout of its marginals

	ofX, ofU structured.Doubles // those of an example
}

// scoreDoubly sets the lane's x to θ(w) + ℓ of its batch, with the constraints.
func (e *Engine) scoreDoubly(ln *Lane, w []float32) error {
	d := &ln.doubly
	if err := e.sparse.ScoreDoubly(ln.precise, w, &ln.Batch, &ln.Theta, &d.x); err != nil {
		return err
	}
	if !ln.Theta.Finite() {
		return &NonFiniteError{Where: firstNonFinite(&ln.Batch, &ln.Theta)}
	}
	if e.Constraints != nil {
		e.Constraints.Apply(&ln.Theta)
	}
	for k := range d.x {
		x, ℓ := d.x[k], d.loss.Parts[k].Values
		for j, θ := range ln.Theta.Parts[k].Values {
			if math.IsInf(float64(θ), -1) {
				x[j] = float64(θ)
			} else {
				x[j] += float64(ℓ[j])
			}
		}
	}
	return nil
}

func (e *Engine) findLosses(ln *Lane) {
	ℓ := &ln.doubly.loss
	ℓ.Resize(&ln.Batch, e.Scorer.Form())
	for k := range ℓ.Parts {
		clear(ℓ.Parts[k].Values)
	}
	if e.Loss.Augments() {
		for b := range ln.Batch.Len() {
			e.Task.Augment(ℓ, b, ln.Batch.GoldOf(b))
		}
	}
}

// passDoubly is a pass in float64 at w or, unless φ is nil, over the marginals of the potentials that φ has of all
// examples that are known, others being at the gold output. Unless g is nil, it adds the sum of gradients to g. It
// reports whether float64 was wide enough.
func (e *Engine) passDoubly(
	ctx context.Context, w []float32, φ *structured.Marginals, known func(i int) bool, g []float64,
) (total Sums, ok bool, err error) {
	e.doubles.pulls = g != nil
	defer func() { e.doubles.pulls = false }()
	most := oracles.Largest(w)
	total, err = e.sumOverShards(ctx, e.layout.shards, g, false, func(ln *Lane) error {
		d := &ln.doubly
		e.findLosses(ln)
		ln.allowed.find(&ln.Batch)
		ln.Theta.Resize(&ln.Batch, e.Scorer.Form())
		if φ == nil {
			if err := e.scoreDoubly(ln, w); err != nil {
				return err
			}
		}
		negated := e.negatedReference(&ln.Shard)
		if ln.V.Like(&ln.Theta); g != nil {
			ln.doubles.Like(ln.V.Parts)
		}
		if φ == nil {
			d.answer.U.Like(ln.V.Parts)
			ln.Oracle.(oracles.DoubleSummer).ExpDoubly(&ln.Theta, d.x, g != nil, &d.answer)
		}
		for b, i := range ln.Batch.Examples {
			switch {
			case e.Data.Weight(i) == 0 || φ != nil && !known(i):
				ln.rest(b)
			case φ != nil:
				e.lowerMemory(ln, b, i, φ, negated)
			default:
				e.upperDoubly(ln, b, i, negated, most)
				if g != nil {
					x, u := numbersOf(&d.ofX, d.x, ln.Theta.Parts, b), numbersOf(&d.ofU, d.answer.U, ln.V.Parts, b)
					e.lowerDoubly(ln, b, i, b, x, u, negated)
				}
			}
		}
		return nil
	})
	if err == nil && math.IsInf(total.Above+total.Below, 1) {
		e.doubles.on, e.doubles.tooNarrow = false, true
		return total, false, nil
	}
	return total, true, err
}

// upperDoubly adds example b's loss to the lane's sums.
func (e *Engine) upperDoubly(ln *Lane, b, i int, negated *structured.Marginals, most float64) {
	d, gold := &ln.doubly, 0.0
	for k := range negated.Parts {
		x := d.x.Of(k, &ln.Theta.Parts[k], b)
		for j, r := range negated.Parts[k].Of(b) {
			if r != 0 {
				gold -= float64(r) * x[j]
			}
		}
	}
	output := e.Data.OutputLength(i)
	_, errors := e.sparse.Norms(e.Data, i, output)
	c, a, to := e.Data.Weight(i), &d.answer, ln.tally()
	f := c * LossAt(a.Value[b], gold)
	to.Primal += f
	to.Smoothed += f
	to.Exact++
	to.Above += c * (a.Error[b] + oracles.Double*(2*errors*most+float64(2*output+12)*a.Size[b]))
}

// lowerDoubly makes the lane's numbers to pull back c times the marginals of example b less its gold output, and adds
// what the bound has beside the gradient. The oracle's answer for potentials x of the example is u, with what is known
// of number n of the lane's answers.
func (e *Engine) lowerDoubly(ln *Lane, b, i, n int, x, u structured.Doubles, negated *structured.Marginals) {
	d, c, to := &ln.doubly, e.Data.Weight(i), ln.tally()
	a, entries := &d.answer, 8
	entropy, loss := a.Value[n], 0.0
	for k := range negated.Parts {
		ℓ, r := d.loss.Parts[k].Of(b), negated.Parts[k].Of(b)
		v := ln.doubles.Of(k, &ln.V.Parts[k], b)
		for j, p := range u[k] {
			v[j] = c * (p + float64(r[j]))
			if p > 0 { // x may be −∞
				entropy -= p * x[k][j]
				loss += p * float64(ℓ[j])
			}
		}
		entries += len(v)
	}
	length, _ := e.sparse.Norms(e.Data, i, e.Data.OutputLength(i))
	to.Moved++
	to.Entropy += c * entropy
	to.Linear += c * loss
	to.Below += c * (a.Error[n] + (a.Noise[n]+float64(entries)*oracles.Double)*(a.Size[n]+loss))
	to.Blur += c * length * (a.Noise[n] + float64(2*e.Data.Positions()+32)*oracles.Double)
}

// numbersOf makes to the numbers of example b of d, which is laid out as parts.
func numbersOf(to *structured.Doubles, d structured.Doubles, parts []structured.Part, b int) structured.Doubles {
	*to = (*to)[:0]
	for k := range parts {
		*to = append(*to, d.Of(k, &parts[k], b))
	}
	return *to
}

// lowerMemory is lowerDoubly for example i, which is b in the lane's batch, at the marginals of its potentials in
// memory. These have edges of their own.
func (e *Engine) lowerMemory(ln *Lane, b, i int, φ, negated *structured.Marginals) {
	d := &ln.doubly
	φ.AsPotentials(i, e.Data.OutputLength(i), &d.one)
	d.x.Like(d.one.Parts)
	for k := range d.x {
		for j, θ := range d.one.Parts[k].Values {
			d.x[k][j] = float64(θ)
		}
	}
	d.oneU.Like(&d.one)
	d.answer.U.Like(d.oneU.Parts)
	ln.Oracle.(oracles.DoubleSummer).ExpDoubly(&d.one, d.x, true, &d.answer)
	e.lowerDoubly(ln, b, i, 0, d.x, d.answer.U, negated)
}

// rest clears the numbers to pull back of example b of the lane's batch.
func (ln *Lane) rest(b int) {
	for k := range ln.doubles {
		clear(ln.doubles.Of(k, &ln.V.Parts[k], b))
	}
}

// upperInDoubles is Upper in float64.
func (e *Engine) upperInDoubles(ctx context.Context, w []float32) (upper, rounded float64, ok bool, err error) {
	total, ok, err := e.passDoubly(ctx, w, nil, nil, nil)
	f := total.Primal/float64(e.Len()) + e.regulariser(w)
	upper = e.roundUp(f, total)
	return upper, upper - f, ok, err
}

// fullPassInDoubles is FullPass in float64.
func (e *Engine) fullPassInDoubles(ctx context.Context, w []float32) (*FullPass, bool, error) {
	g := e.vectors.zeros(len(w))
	total, ok, err := e.passDoubly(ctx, w, nil, nil, g)
	if !ok || err != nil {
		return nil, ok, err
	}
	f, u := total.Primal/float64(e.Len())+e.regulariser(w), e.lowerInDoubles(e.Vector(len(g)), g, total)
	a := u.Linear + total.Entropy/float64(e.Len())
	return &FullPass{
		Primal: f, Upper: e.roundUp(f, total), Smoothed: f, Exact: float64(total.Exact) / float64(e.Len()),
		Grad: u.Grad, Linear: a, Central: a, Rounded: u.Rounded, Blur: u.Blur,
	}, true, nil
}

// RecomposeDoubly is Recompose in float64 for the marginals of the potentials φ [n] of the examples that are known;
// other examples are at their gold outputs. It also returns their mean entropy; Rounded includes what that errs by. It
// reports false where float64 is too narrow.
func (e *Engine) RecomposeDoubly(
	ctx context.Context, φ *structured.Marginals, known func(i int) bool,
) (u Recomposed, entropy float64, ok bool, err error) {
	g := e.vectors.zeros(e.Scorer.Dim())
	total, ok, err := e.passDoubly(ctx, nil, φ, known, g)
	if !ok || err != nil {
		return u, 0, ok, err
	}
	return e.lowerInDoubles(e.Vector(len(g)), g, total), total.Entropy / float64(e.Len()), true, nil
}

// lowerInDoubles sets grad to the mean gradient, of which g is the sum, and returns the bound without the entropy.
func (e *Engine) lowerInDoubles(grad []float32, g []float64, sums Sums) Recomposed {
	inv := 1 / float64(e.Len())
	for j, x := range g {
		grad[j] = float32(x * inv)
	}
	a := sums.Linear * inv
	return Recomposed{
		Grad: grad, Linear: a, Central: a,
		Rounded: sums.Below*inv + DoubleError(e.Len())*(math.Abs(a)+math.Abs(sums.Entropy*inv)),
		Blur:    sums.Blur * inv,
	}
}
