package engine

import (
	"cmp"
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
)

// Rounding errors in a certificate. A gap is a difference of close numbers, F(w) − D(u), so both need a bound on their
// errors. Full passes round F up and D down by such bounds. Each is a sum of errors of float32, ε = 2⁻²⁴ relative per
// operation, times the numbers that were added. Sums in float64 over the numbers of an example are exact for our
// purposes; those over all weights and examples are charged DoubleError.
//
// # The dual
//
// For an affine scorer θ_i(w) = a_i + J_i w and any potentials θ̂_i, whatever they were rounded from, convexity gives
// for all w'
//
//	h_i(θ_i(w')) ≥ h_i(θ̂_i) + ⟨u_i, θ_i(w') − θ̂_i⟩,
//
// so that the bound D = min over w' of (1/n) Σ c_i [h_i(θ̂_i) + ⟨u_i, θ_i(w') − θ̂_i⟩ − ⟨1_{y_i}, θ_i(w')⟩] + r(w') has
// these errors:
//
//   - v_i = u_i − 1_{y_i} is pulled back exactly (PreciseScorer: sums in float64), and ⟨v_i, θ_i(w)⟩, from which a_i follows, takes
//     potentials that were rounded at most twice, once as a sum and once with the loss added: 2ε ⟨|v_i|, |θ_i|⟩. A potential
//     counts only as far as the example is not learned yet.
//   - the oracle's value of a log-sum-exp, by ω_i (oracles.Rounding); a max counts in F alone.
//   - u_i is not quite in the marginal polytope. Its entries come from sums of positive numbers and so have small relative errors, noise·ε,
//     which are no larger on v_i: noise·ε ⟨|v_i|, |θ_i|⟩, and more where potentials are too large for exponentials of sums in float64 (beyondFloat32). Entries near 1 lose what the row's sum shows, Σ_y v_i(y), which is
//     0 without errors: it is charged as measured, times the row's largest potential. Where outputs leave out rows, as parsers do with
//     relations of pairs that are no arcs, an entry near 1 is charged ε. The entropy of a distribution q whose
//     outputs have the probabilities of the maximiser p times e^η each, |η| ≤ δ, makes the bound less than the maximum by KL(q‖p) ≤ min(2δ, δ²/2): that is E_q η − log E_p e^η, whose
//     derivative in a share s of η is s times a variance of at most δ². What a recurrence makes of an output's probability errs by no more than ω_i bounds, which counts its roundings along
//     the output, or by what is beyond float32: both are charged.
//     That charge takes potentials at w, and the bound needs them at the optimum, where a feature far from zero, 1e6 say, makes those of all
//     candidates of a choice large alike, and a prior alike for all labels does so elsewhere. So v_i is balanced: the entries of a choice, and those of every
//     row that all outputs use, sum to exactly 0 (balance, balanceRows), and what is alike counts nothing. And no entry is below −c_i times that of the gold
//     output: an entry that were, by half a unit, with a potential of 1e6 would lose more than is charged. What is still charged is where marginals of
//     different rows disagree, as those of a step and of its ends do, with the sizes of potentials at w and at the centre c together (centres): a method
//     begins at w = 0, and where a prior is far, so is the optimum. What is left is this. Let ũ be a point of the polytope whose entries differ
//     from those of u by a share κε, L its linear lower bound of the mean loss plus r, and w̃ = c − g̃/λ where L is least, D(ũ). The bound of u is above D(ũ) by ⟨u − ũ, θ(w̃)⟩. Of that, ⟨u − ũ, θ(w)⟩ is
//     charged, and all of it for dual methods, whose w is w̃. The rest is ⟨g − g̃, w̃ − w⟩ ≤ κε‖G‖‖w̃ − w‖, where G is the gradient with absolute values in place of numbers. L is λ-strongly convex
//     and F ≥ L, so (λ/2)‖w̃ − w‖² ≤ x = F(w) − D(ũ): no more than √(2x/λ) κε‖G‖ is not charged. That is less than the true gap x of the pass unless x is below
//     2κ²ε²‖G‖²/λ, and vanishes with it; a gap that is stated as s is at most s + 2√(s C) + 4C, C = κ²ε²‖G‖²/λ. It is not charged: nobody knows ‖G‖.
//   - the gradient is rounded to float32 after the sum. D = ⟨g, c⟩ − ‖g‖²/2λ + … has ⟨g, c − w⟩ from the sum in float64, and loses
//     ε Σ |g_j| |w'_j − c_j| at the minimiser w' = c − g/λ: ε ‖g‖²/λ. Where g is a mixture of rounded gradients g_k, large ones may cancel in it, and their roundings
//     do not: it loses δ‖g‖/λ + δ²/2λ with δ = ε Σ q_k ‖g_k‖ (MixtureAllowance). Thresholds and bounds make w' a function of g that bends: there it loses
//     another δ_j²/2λ for each weight that may move, δ_j = ε |g_j|.
//
// # The objective
//
// With the rounded potentials, h_i and ⟨1_{y_i}, θ_i⟩ differ by at most E_i each from those in exact arithmetic, where
// E_i is the sum over rows of ε max_y |θ_i(r,y)|, or 2ε (1 + max) if a loss was added. Tied rows are weights, without
// rounding. A log-sum-exp loss f_i, which is −log of the gold output's probability, moves by the probability of other
// outputs, 1 − exp(−f_i) ≤ min(1, f_i), times 2E_i, and by at most 2E_i² of second order, and by no more than 2E_i. The
// hinge moves by at most 2E_i. The oracle adds ω_i.
//
// # What is not proved
//
// Scorers without float64 sums (linearised networks, networks of the user's own, windows of positions) and devices:
// there the allowance is a small number of units times the magnitudes that were added, which is what random errors stay
// below. Its size does not depend on cancellation, because Σ|g_j||w_j − c_j| and the scores replace the sums
// themselves. State.Check widens the interval if that is too little.
const (
	Unit  = 1. / (1 << 24)
	units = 2
	noise = 16 // relative errors of marginals, in ε: a sum over labels in blocks, three products and a division

	// Terms with a gradient in float32 count more: an entry is the sum of more roundings than a score, and few of them
	// cancel.
	gradientFactor = 4

	singleSums = 8 // errors of potentials that are sums in float32, in those of sums in float64: an estimate

	DoubleUnit = 1. / (1 << 48) // least bound on the relative errors of sums in float64
)

// DoubleError bounds the error of a sum of that many products in float64, in any order, relative to the sum of their
// sizes (Higham 2002, section 3.1).
func DoubleError(terms int) float64 { return max(DoubleUnit, float64(terms+8)*oracles.Double) }

// Allowance returns the allowance for rounding of magnitudes that were added in float32 in any order, as an estimate.
func (e *Engine) Allowance(magnitudes ...float64) float64 {
	total := 0.0
	for _, m := range magnitudes {
		total += math.Abs(m)
	}
	return units * e.backend.unit() * total
}

// GradientAllowance returns the allowance for a gradient's rounding in a bound that contains the square ‖g‖²/λ, or
// another product of g with c − w' at the minimiser w'.
func (e *Engine) GradientAllowance(square float64) float64 {
	if e.backend.precise() {
		return 2 * Unit * math.Abs(square)
	}
	return e.Allowance(gradientFactor * square)
}

// PlainAllowance returns the allowance for errors of the gradient g of u in the bound −‖g‖²/2λ, given ‖g‖².
func (e *Engine) PlainAllowance(u Recomposed, square float64) float64 {
	if u.Blur == 0 {
		return e.GradientAllowance(square / e.Lambda)
	}
	norm := math.Sqrt(square)
	return e.MixtureAllowance(u.Size(norm), norm) + DoubleError(len(u.Grad))*square/e.Lambda
}

// Size returns, given the norm of the gradient, the norm of which its error is at most a share of Unit. In float64 that
// includes Blur, and a product with 1/n.
func (u Recomposed) Size(norm float64) float64 {
	if u.Blur == 0 {
		return norm
	}
	return norm*(1+0x1p-16) + u.Blur/Unit
}

// MixtureAllowance returns the allowance for the roundings of gradients in the bound −‖g‖²/2λ of a mixture g of them.
// They were rounded one by one, so that the error of g is a share of their mean norm, size, however much of them
// cancels in g: an error δ lowers the bound by at most ‖δ‖‖g‖/λ + ‖δ‖²/2λ.
func (e *Engine) MixtureAllowance(size, norm float64) float64 {
	δ := Unit * size
	if !e.backend.precise() {
		δ = e.GradientAllowance(size)
	}
	return δ * (norm + δ/2) / e.Lambda
}

// BundleAllowance is MixtureAllowance of a certificate's bundle. Without sums in float64 it is an estimate: that of a
// single gradient, or that of independent roundings of each where most of them cancels.
func (e *Engine) BundleAllowance(size, norm float64) float64 {
	if e.backend.precise() {
		return e.MixtureAllowance(size, norm)
	}
	return max(e.GradientAllowance(norm*norm), e.Allowance(size*norm)) / e.Lambda
}

// linearRounding is the allowance for all terms of F(w) and D(u) except those of GradientAllowance. The sums over
// examples were taken at w, the gradient g was computed from them, product is Σ|g_j||w_j − c_j|, and from is
// Σ|g_j|(|w_j| + |c_j|).
func (e *Engine) linearRounding(w []float32, product, from float64, sums Sums) float64 {
	inv := 1 / float64(e.Len())
	rest := math.Abs(sums.Linear*inv) + math.Abs(sums.Entropy*inv) + math.Abs(e.Constant)
	if e.backend.precise() {
		return sums.Below*inv + DoubleError(len(w)+e.Len())*(from+rest)
	}
	return e.Allowance(e.backend.scores(sums, product), rest, gradientFactor*product, e.regulariser(w)-e.Constant)
}

// roundUp returns F(w) plus its allowance, given the sums over all examples. Losses that are 0 up to rounding stay 0
// only where nothing is certified: without λ, λ₁ and a ball there is no dual, and longer weights in the same direction
// have margins to spare.
func (e *Engine) roundUp(f float64, sums Sums) float64 {
	if !e.Scorer.Affine() || f <= e.Constant && e.Lambda == 0 && e.L1 == 0 && e.Radius == 0 {
		return f
	}
	return f + sums.Above/float64(e.Len()) + DoubleError(e.Scorer.Dim()+e.Len())*math.Abs(f)
}

// sizes are magnitudes of an example's potentials: each is a sum over rows r of ℓ + max_y |θ_i(r,y)|, where ℓ is the
// most that the loss adds to a potential, at least 1: θ_i has the loss, and what it was rounded from may be as large as
// both together.
type sizes struct {
	all    float64 // every row that an output can use; without tied rows, which are not rounded
	moved  float64 // times Σ_y |v_i(r,y)|
	defect float64 // times |Σ_y v_i(r,y)|, which would be 0 without rounding; of the rows of several entries that every output uses
	unseen float64 // the other rows that an output can use: their sums do not show what entries near 1 lose

	tied float64 // the rows that examples share, of several entries, once for each use
	uses float64 // of all those

	largest      float64 // of the largest row, tied or not
	change, sums float64 // Σ |v_i(r,y)| and Σ |Σ_y v_i(r,y)|, the factors of moved and defect
}

// central are sizes of an example's potentials at the centre, for any v_i. A row that is balanced has half the distance
// of its least and largest potential in place of max_y |θ_i(r,y)|, since what all have in common counts nothing.
type central struct {
	most    float64 // of the largest row
	largest float64 // of the largest row, where none counts as balanced
	used    float64 // of all rows that an output can use and that are not balanced
}

// prepareLosses makes room for the most that the loss adds to a potential of each example, which mostLost finds.
func (e *Evaluation) prepareLosses() {
	if e.lost == nil && e.Loss.Augments() && e.bounds {
		e.lost = make([]float32, e.Len())
	}
}

// mostLost returns the most that the loss adds to a potential of example b of the lane's batch, or 1 if that is more.
func (e *Evaluation) mostLost(sh *Shard, b int) float64 {
	if e.lost == nil {
		return 1
	}
	if e.lost[sh.Batch.Examples[b]] == 0 {
		θ := &sh.φ
		θ.Resize(&sh.Batch, e.Scorer.Form())
		for k := range θ.Parts {
			clear(θ.Parts[k].Values)
		}
		for c, i := range sh.Batch.Examples {
			e.Task.Augment(θ, c, sh.Batch.GoldOf(c))
			most := 1.
			for k := range θ.Parts {
				most = max(most, oracles.Largest(θ.Parts[k].Of(c)))
			}
			e.lost[i] = float32(most)
		}
	}
	return float64(e.lost[sh.Batch.Examples[b]])
}

// usedRows returns how many rows of a part example b's output uses at most, where it skips some or all examples share
// one: one for each of its numbers, and for each edge of a graph, unless the structure says otherwise.
func usedRows(θ *structured.Potentials, b int) int {
	numbers := θ.Outputs[b+1] - θ.Outputs[b]
	if c, counts := θ.Structure.(structured.RowCounter); counts {
		return c.UsedRows(numbers)
	}
	if len(θ.Graphs) > 0 {
		numbers += len(θ.Graphs[b].Ends)
	}
	return numbers
}

// measure returns the sizes of example b of θ and of v, if the loss adds no more than lost to a potential. Without v,
// only the first is known.
func measure(θ *structured.Potentials, b int, lost float64, v *structured.Marginals) (s sizes) {
	skipper, some := θ.Structure.(structured.RowSkipper)
	numbers := usedRows(θ, b)
	for k := range θ.Parts {
		part := &θ.Parts[k]
		width := part.Width
		if width == 0 || v == nil && part.Rows == structured.Tied {
			continue
		}
		var moved []float32
		if v != nil {
			moved = v.Parts[k].Of(b)
		}
		skips, anyMoved := some && skipper.SkipsRows(k), false
		total, most, rows := 0.0, 0.0, 0 // of the sizes of rows
		for from := part.Of(b); len(from) > 0; from = from[width:] {
			size := lost + oracles.Largest(from[:width])
			total, most, rows = total+size, max(most, size), rows+1
			if len(moved) == 0 {
				continue
			}
			sum, change := 0.0, 0.0
			for _, x := range moved[:width] {
				sum += float64(x)
				change += math.Abs(float64(x))
			}
			moved, anyMoved = moved[width:], anyMoved || change > 0
			s.moved, s.change = s.moved+change*size, s.change+change
			if width > 1 && !skips {
				s.defect, s.sums = s.defect+math.Abs(sum)*size, s.sums+math.Abs(sum)
			}
		}
		s.largest = max(s.largest, most)
		if skips {
			if part.Rows == structured.Tied { // an output may use the row once for each of its numbers
				rows = numbers
			}
			total = float64(min(numbers, rows)) * most
		}
		if part.Rows != structured.Tied {
			s.all += total
		}
		if anyMoved && (width == 1 || skips) {
			s.unseen += total
		} else if part.Rows == structured.Tied {
			s.tied, s.uses = s.tied+float64(numbers)*most, s.uses+float64(numbers)
		}
	}
	return s
}

// below bounds the errors of a bound that come from marginals, if the sizes are those of v times the weight c, the
// centre has the given ones, and marginals err by the relative share beyond their rounding to float32. Entries of tied
// rows, which are sums over an output, err by so many units each: of a point close to the gold output these are far
// more than units of v, and those of several entries may cancel in the row's sum.
func (s sizes) below(c float64, at central, beyond, units float64) float64 {
	most := at.most
	if s.sums > 0 { // a row is not balanced: what its potentials have in common counts
		most = at.largest
	}
	moved, unseen := s.moved+s.change*most, s.unseen
	if unseen > 0 {
		unseen += at.used
	}
	tied := 0.0
	if s.change > 0 {
		tied = s.tied + s.uses*most
	}
	return Unit*((2+noise)*moved+c*(unseen+units*tied)) + beyond*(moved+c*unseen) + s.defect + s.sums*most
}

// prepareCentres makes room for the sizes of potentials at the centre, which measureCentre finds. The quadratic loss,
// whose certificate has no marginals, does without (roundQuadratic).
func (e *Evaluation) prepareCentres() {
	if e.Center != nil && e.Loss != Quadratic && e.precise && e.bounds && e.centres == nil {
		e.centres = make([]central, e.Len())
	}
}

// CenterMoved makes known that the numbers of Center are others now. Full passes would charge for the potentials at the
// earlier ones.
func (e *Evaluation) CenterMoved() { clear(e.centres) }

// measureCentre makes known the sizes of the potentials of the lane's batch at the centre, once for each example.
func (e *Engine) measureCentre(ln *Lane) error {
	known := func(i int) bool { return e.centres[i].most > 0 } // a row has at least 1
	if e.centres == nil || known(ln.Batch.Examples[0]) {       // an example is always in the same batch
		return nil
	}
	if err := ln.precise.ScorePrecisely(e.Center, 0, &ln.Batch, &ln.φ); err != nil {
		return err
	}
	if !ln.φ.Finite() {
		return &NonFiniteError{Where: firstNonFinite(&ln.Batch, &ln.φ) + ", with the weights of the prior"}
	}
	for b, i := range ln.Batch.Examples {
		e.centres[i] = measureCentral(&ln.φ, b)
	}
	return nil
}

// measureCentral returns the sizes of example b of θ.
func measureCentral(θ *structured.Potentials, b int) (s central) {
	skipper, some := θ.Structure.(structured.RowSkipper)
	numbers := usedRows(θ, b)
	for k := range θ.Parts {
		part := &θ.Parts[k]
		width, balanced := rowWidth(θ.Structure, part, k)
		most, rows := 0.0, 0
		for from := part.Of(b); len(from) > 0; rows++ {
			row := min(cmp.Or(width, len(from)), len(from))
			size := oracles.Largest(from[:row])
			s.largest = max(s.largest, 1+size)
			if balanced {
				size = halfRange(from[:row])
			}
			most, from = max(most, 1+size), from[row:]
		}
		s.most = max(s.most, most)
		switch {
		case balanced:
		case part.Rows == structured.Tied: // an output may use the row once for each of its numbers
			s.used += float64(max(numbers, rows)) * most
		case some && skipper.SkipsRows(k):
			s.used += float64(min(numbers, rows)) * most
		default:
			s.used += float64(rows) * most
		}
	}
	return s
}

// halfRange returns half the distance of the least and the largest finite potential; 0 for less than two.
func halfRange(θ []float32) float64 {
	least, most := math.Inf(1), math.Inf(-1)
	for _, x := range θ {
		if x := float64(x); !math.IsInf(x, 0) {
			least, most = min(least, x), max(most, x)
		}
	}
	return max(0, (most-least)/2)
}

// centre returns the sizes of example i's potentials at the centre; 0 if that is the origin.
func (e *Evaluation) centre(i int) central {
	if e.centres == nil {
		return central{}
	}
	return e.centres[i]
}

// roundAnswers adds to the lane's sums the rounding errors of the oracle's answers with a smoothing, from which
// difference has computed v.
func (e *Evaluation) roundAnswers(sh *Shard, by oracles.Smoothing) {
	if !e.bounds {
		return
	}
	if e.Loss == Quadratic {
		e.roundQuadratic(sh)
		return
	}
	for b, i := range sh.Batch.Examples {
		c, s, beyond, units := e.Data.Weight(i), measure(&sh.Theta, b, e.mostLost(sh, b), &sh.V), 0.0, 0.0
		if by.Kind == oracles.Entropy {
			beyond = s.beyond(sh.Oracle, &sh.Theta, b, by.Mu)
		}
		switch _, q := sh.Answer.Mixture(b); {
		case e.Loss.Smooth(): // the bound is the loss at w, whatever u is
		case by.Kind == oracles.Entropy:
			units = noise
		case len(q) > 0: // each output but the first is added to others
			units = float64(len(q)-1) / 2
		}
		sh.tally().Below += s.below(c, e.centre(i), beyond, units) // v has the weight c already
		if e.Loss.Smooth() {
			ω := e.oracleRounding(sh, b)
			sh.tally().Below += c * (ω + min(2*ω, ω*ω/2) + beyond)
		}
		sh.tally().Above += c * e.lossRounding(sh, b, s, sh.losses[b])
	}
}

// beyond bounds how far marginals of the oracle, at the temperature μ, are from points of the polytope, as a relative
// error beyond their rounding to float32. It is 0 if the oracle is proper there.
func (s sizes) beyond(o oracles.Maximiser, θ *structured.Potentials, b int, μ float64) float64 {
	if p, ok := o.(oracles.Proper); ok && p.Proper(θ, b, μ) {
		return 0
	}
	return s.beyondFloat32(usedRows(θ, b), μ)
}

// beyondFloat32 bounds the relative error of marginals at the temperature μ of an output that uses the given number of
// rows of a part, if it is more than their rounding to float32, and else returns 0. The oracle adds potentials in
// float64, and the exponential of a sum over μ, with the error δ, errs by e^δ − 1.
//
// No sum of potentials along an output is larger than their size S, so that each addition errs by at most 2⁻⁵³ S. A
// recurrence over R rows takes two to get from one row to the next, of the row and of what leads there, and the way
// back compares three such sums at each: an entry is the exponential of what 3R additions make of it, if recurrences
// carry sums over all rows behind them, as those in logarithms do, and prefix sums. 32 are for what a row adds up on
// its own. It is attained but for a factor: additions of potentials that are 2⁻²⁹ S and smaller all may round to the
// same side (deep_test.go). Sums that are scaled row by row have smaller ones.
//
// Potentials of 1e11 μ make δ 1e-5 and more; those of 1e16 μ leave nothing of the marginals, and e^100 proves nothing
// and is finite. What the potentials of a row have in common counts here, too, although some oracles subtract it first:
// an allowance that is too large proves less, but nothing false.
func (s sizes) beyondFloat32(rows int, μ float64) float64 {
	δ := float64(32+3*rows) * oracles.Double / μ * (s.all + float64(rows)*s.largest) // the second for tied rows
	if δ <= Unit {
		return 0
	}
	return math.Expm1(min(δ, 100))
}

// lossRounding bounds the rounding error of the loss f_i of example b.
func (e *Evaluation) lossRounding(sh *Shard, b int, s sizes, f float64) float64 {
	error := Unit * s.all
	if e.Loss.Augments() {
		error *= 2
	}
	if !e.precise {
		error *= singleSums
	}
	if e.Loss.Smooth() {
		return e.oracleRounding(sh, b) + min(2*error, min(1, f)*2*error+2*error*error)
	}
	return e.oracleRounding(sh, b) + 2*error
}

// oracleRounding bounds the rounding error of the oracle's value for example b.
func (e *Evaluation) oracleRounding(sh *Shard, b int) float64 {
	μ := 0.0
	if e.Loss.Smooth() {
		μ = 1
	}
	return oracles.Rounding(sh.Oracle, &sh.Theta, b, μ)
}
