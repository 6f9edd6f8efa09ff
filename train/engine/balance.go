package engine

import (
	"cmp"
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// balances reports whether the sum of v_i is known to be 0 and can be made so.
func (e *Evaluation) balances(i int) bool {
	_, one := e.Scorer.Form().Structure.(structured.OneEntry)
	return one && !e.Soft && e.Loss != Quadratic && !e.Data.Partial(i)
}

// balance is weigh for example b, whose outputs are one entry each. It adds up the entries of c u, rounds each sum to a
// multiple of 2⁻²⁴ times the power of 2 at or above c, which float32 represents, and takes the differences of the sums
// for the entries. So none is negative, and none moves by more than such a multiple, however many there are; the
// largest takes what the answer's sum lacks. What comes out is a point of the polytope, and only its entropy is not
// quite that of the answer.
func (e *Evaluation) balance(sh *Shard, b int, c float64) {
	fraction, exponent := math.Frexp(c) // a float32, and so a multiple of the grid
	if fraction == 0.5 {
		exponent--
	}
	grid, v, gold := math.Ldexp(1, exponent-24), sh.V.Parts[0].Of(b), -1
	if y := sh.Batch.GoldOf(b).Output; len(y) > 0 {
		gold = int(y[0])
	}
	largest, most, sum, rounded, moved := -1, 0.0, 0.0, 0.0, 0.0
	for k, x := range v {
		u, to := c*float64(x), 0.0
		if k == gold {
			u, to = u+c, -c
		}
		sum += u
		next := math.RoundToEven(sum/grid) * grid
		x := next - rounded
		rounded, moved = next, moved+math.Abs(x-u)
		if x > most {
			largest, most = k, x
		}
		v[k] = float32(to + x)
	}
	if largest >= 0 {
		v[largest] = float32(float64(v[largest]) + c - rounded)
		moved += math.Abs(c - rounded)
	}
	t := sh.tally()
	t.Moved++
	t.Linear += sh.V.Dot(b, &sh.Theta)
	if e.splits && e.Loss.Augments() {
		t.Loss += e.Task.Dot(&sh.V, b, sh.Batch.GoldOf(b))
	}
	if e.Loss.Smooth() { // an entry that moves by δ changes the entropy by at most δ log(1/δ) ≤ 35 δ + e⁻³⁶
		t.Below += 35*moved + c*math.Exp(-36)*float64(len(v))
	}
}

// balanceRows makes v_i = c_i (u_i − r_i) a difference of points of a simplex in each row of several entries that every
// output uses, where r_i is the gold output or what replaces it: the entries sum to exactly 0, and none is below −c_i
// r_i(y). It rounds each to a multiple of 2⁻²³ times the power of 2 above the largest. What the sum lacks then, what it
// lacked before and at most half such a multiple for each entry, the largest entries take, or the most negative. The
// lane's sums follow, and are charged for what has moved.
func (e *Evaluation) balanceRows(sh *Shard) {
	if !e.bounds || e.Loss == Quadratic {
		return
	}
	var r *structured.Marginals
	for k := range sh.V.Parts {
		width, balances := rowWidth(sh.Theta.Structure, &sh.Theta.Parts[k], k)
		if !balances {
			continue
		}
		if r == nil {
			r = e.negatedReference(sh)
		}
		for b, i := range sh.Batch.Examples {
			if e.balances(i) {
				continue // it is
			}
			c, below, shift := e.Data.Weight(i), 0.0, 0.0
			θ, negated := sh.Theta.Parts[k].Of(b), r.Parts[k].Of(b)
			for v := sh.V.Parts[k].Of(b); len(v) > 0; {
				row := min(cmp.Or(width, len(v)), len(v))
				if by := balanceRow(v[:row], negated[:row], θ[:row], c); by.moved > 0 {
					shift += by.linear
					below += 2 * by.moved * (1 + oracles.Largest(θ[:row]))
					if e.Loss.Smooth() {
						below += by.entropy
					}
				}
				v, negated, θ = v[row:], negated[row:], θ[row:]
			}
			if below > 0 {
				to := sh.tally()
				to.Linear += shift
				to.Below += below
			}
		}
	}
}

// negatedReference returns −r_i for the examples of the lane's batch.
func (e *Evaluation) negatedReference(sh *Shard) *structured.Marginals {
	sh.negated.Like(&sh.Theta)
	sh.negated.Clear()
	for b := range sh.Batch.Examples {
		e.subtractGold(sh, &sh.negated, b)
	}
	return &sh.negated
}

// rowWidth returns the number of entries in each row of a part whose marginals have a known sum, or 0 if an example is
// one row; and whether there are such rows.
func rowWidth(s structured.Structure, p *structured.Part, part int) (width int, known bool) {
	if _, one := s.(structured.OneEntry); one {
		return 0, true
	}
	skipper, some := s.(structured.RowSkipper)
	return p.Width, p.Width > 1 && !(some && skipper.SkipsRows(part))
}

// BalanceTargets makes the entries of each row that every output uses sum to exactly 1, or in a tied row to the number
// of its uses: then potentials that are alike for the whole row change no loss, however large they are. Targets that
// are far from such sums stay as they are.
func BalanceTargets(form structured.Form, targets *structured.Marginals) {
	for k := range targets.Parts {
		part := &targets.Parts[k]
		width, known := rowWidth(form.Structure, part, k)
		for i := 0; known && i < targets.Len(); i++ {
			for u := part.Of(i); len(u) > 0; {
				row := min(cmp.Or(width, len(u)), len(u))
				balanceTarget(u[:row])
				u = u[row:]
			}
		}
	}
}

// balanceTarget is BalanceTargets for a row.
func balanceTarget(u []float32) {
	total, largest := 0.0, 0
	for k, x := range u {
		if total += float64(x); x > u[largest] {
			largest = k
		}
	}
	sum := math.Round(total)
	if !(sum >= 1) || math.Abs(total-sum) > 1e-3*sum {
		return
	}
	_, exponent := math.Frexp(sum)
	grid := math.Ldexp(1, exponent-24) // float32 has all multiples up to the sum
	total = 0
	rounded := 0.0
	for k, x := range u {
		total += float64(x)
		next := math.RoundToEven(total/grid) * grid
		u[k], rounded = float32(next-rounded), next
	}
	u[largest] = float32(float64(u[largest]) + sum - rounded)
}

// rowShift is what balancing a row has done: how much has moved, ⟨v, θ⟩ after minus before, and a bound on what an
// entropy of the row may have lost beside.
type rowShift struct{ moved, linear, entropy float64 }

// balanceRow is balanceRows for a row v with the weight c, −r, and the potentials θ.
func balanceRow(v, negated, θ []float32, c float64) rowShift {
	most := oracles.Largest(v)
	if most == 0 || math.IsInf(most, 0) || math.IsNaN(most) {
		return rowShift{}
	}
	if math.Abs(vec.Sum(v)) > 1e-3*c { // not by rounding: outputs of this structure leave rows out, and it does not say so
		return rowShift{}
	}
	_, exponent := math.Frexp(most)
	grid, perGrid := math.Ldexp(1, exponent-23), math.Ldexp(1, 23-exponent) // powers of 2: products are as exact as quotients, and faster
	rounded := vec.ToGrid(grid, c, negated, θ, v)
	excess, shift := rounded.Sum, rowShift{rounded.Moved, rounded.Linear, rounded.Lost}
	move := func(k int, to float64) {
		from := float64(v[k])
		if to == from {
			return
		}
		v[k] = float32(to)
		δ := math.Abs(to - from)
		shift.moved, shift.linear = shift.moved+δ, shift.linear+(to-from)*float64(θ[k])
		shift.entropy += lostEntropy(δ, from-c*float64(negated[k]))
	}
	if excess < 0 {
		down := 0
		for k, x := range v {
			if x < v[down] {
				down = k
			}
		}
		move(down, float64(v[down])-excess)
		excess = 0
	}
	for excess > 0 { // at most as much as the entries are above their least, together
		up := 0
		for k, x := range v {
			if x > v[up] {
				up = k
			}
		}
		least := math.Ceil(c*float64(negated[up])*perGrid) * grid
		to := max(float64(v[up])-excess, least)
		excess -= float64(v[up]) - to
		move(up, to)
	}
	return shift
}

// lostEntropy bounds what an entropy loses beside its slope where a probability u moves by δ.
func lostEntropy(δ, u float64) float64 {
	if u < 1e-300 {
		u = 1e-300
	}
	lost := δ * δ / u
	if most := 35 * δ; most < lost {
		return most
	}
	return lost
}
