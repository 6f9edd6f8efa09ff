package sdca

import (
	"math"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// The dual of the quadratic loss (engine/quadratic.go) has no constraint, and −⟨v,1_y⟩ − ½‖v‖² with v = u − 1_y in
// place of the entropy. It is a quadratic function of u_i, whose maximum is known in closed form, as in ridge
// regression (Shalev-Shwartz and Zhang 2013, section 6.2): with the residuals R = θ_i − u_i [T×Y] and the inner
// products K [T×T] of the inputs of an example's T positions,
//
//	u_i ← u_i + ω(I + (c_i/λn) K)⁻¹ R.
//
// ω = 1 is the maximum; ω = relaxation raises the dual by less, and all steps together by more (successive
// over-relaxation). K is the same for all labels, so a Cholesky factor solves for all of them. It comes from the
// scorer: v with a 1 in column t of position t pulled back, and scored, has column t of K where the scores of label t
// are; Y positions at a time. Steps on several examples at the same w are divided by their number: the dual is concave,
// so that it rises at least by the mean of what each alone would raise it. The same goes for runs of blockPositions in
// a long example, so that K needs no more than half a square of that for each. So steps never lower the dual but by
// rounding, and none is undone.
//
// With λ₁ > 0, ‖soft(v)‖² rises less than ‖v‖², and the steps are those of a bound from below.

// blockPositions is the largest number of positions that are solved for together.
const blockPositions = 128

// gramRounding is added to the diagonal, in traces: K comes from sums in float32, and where λn is small its errors
// count as much as the 1 does.
const gramRounding = 16 * engine.Unit

// entriesOf returns the part that the quadratic loss fits.
func entriesOf(s structured.Structure) int { return s.(structured.Entrywise).EntryPart() }

// gram computes K of the step's example, unless the memory has it: the lower triangle of each run of positions, row by
// row.
func (st *dualStep) gram(p *train.Problem, memory *dualMemory) error {
	if p.Loss != engine.Quadratic || memory.gram[st.i] != nil {
		return nil
	}
	if st.probe == nil {
		st.probe = make([]float32, p.Scorer.Dim())
	}
	if err := st.Worker.Score(st.probe, &st.Batch, &st.probed); err != nil {
		return err
	}
	part := entriesOf(st.probed.Structure)
	labels := st.probed.Parts[part].Width
	positions := len(st.probed.Parts[part].Values) / labels
	base := append([]float32(nil), st.probed.Parts[part].Values...)
	k := make([][]float32, positions) // columns, from the diagonal to the end of the run
	v := &st.probes
	for from := 0; from < positions; from += labels {
		to := min(from+labels, positions)
		v.Like(&st.probed)
		v.Clear()
		for t := from; t < to; t++ {
			v.Parts[part].Values[t*labels+t-from] = 1
		}
		if err := st.Worker.Pullback(v, st.probe); err != nil {
			return err
		}
		if err := st.Worker.Score(st.probe, &st.Batch, &st.probed); err != nil {
			return err
		}
		for t := from; t < to; t++ {
			end := min(t-t%blockPositions+blockPositions, positions)
			for s := t; s < end; s++ {
				at := s*labels + t - from
				k[t] = append(k[t], st.probed.Parts[part].Values[at]-base[at])
			}
		}
		p.Erase(v, &st.Batch, st.probe)
	}
	packed := make([]float32, 0, positions)
	for from := 0; from < positions; from += blockPositions {
		for s := from; s < min(from+blockPositions, positions); s++ {
			for t := from; t <= s; t++ {
				packed = append(packed, k[t][s-t])
			}
		}
	}
	memory.gram[st.i] = packed
	return nil
}

// answerQuadratic sets u and its potentials φ = u to the dual point after a step, and the number in place of its
// entropy.
func (st *dualStep) answerQuadratic(p *train.Problem, memory *dualMemory, λ float64) {
	θ, u := &st.Theta, &st.u
	u.Like(θ)
	u.Set(0, &memory.u.Marginals, st.i)
	part := entriesOf(θ.Structure)
	labels, to, scores := θ.Parts[part].Width, u.Parts[part].Values, θ.Parts[part].Values
	positions := len(to) / labels
	st.η = relaxation / float64(st.share*((positions+blockPositions-1)/blockPositions))
	scale, packed := st.c/(λ*float64(p.Len())), memory.gram[st.i]
	for from := 0; from < positions; from += blockPositions {
		n := min(blockPositions, positions-from)
		size := n * (n + 1) / 2
		st.solve(packed[:size], scale, scores[from*labels:(from+n)*labels], to[from*labels:(from+n)*labels], labels)
		packed = packed[size:]
	}
	st.beItsPotentials()
}

// beItsPotentials makes φ the numbers of u, and computes what is in place of the entropy.
func (st *dualStep) beItsPotentials() {
	st.u.AsPotentials(0, st.Theta.OutputSize(), &st.before)
	st.φ.Copy(&st.before)
	st.entropy, st.value[0] = st.inPlaceOfEntropy(), 0
}

// solve moves the rows of u towards those of θ by η(I + scale·K)⁻¹(θ − u).
func (st *dualStep) solve(k []float32, scale float64, θ, u []float32, labels int) {
	n := len(u) / labels
	st.factor = vec.Grow(st.factor, len(k))
	l, at := st.factor, 0
	trace := 0.0
	for s := range n {
		trace += float64(k[s*(s+1)/2+s])
	}
	one := 1 + gramRounding*scale*trace
	for s := range n { // Cholesky factor of I + scale·K
		row := l[at : at+s+1]
		other := 0
		for t := range s + 1 {
			column := l[other : other+t+1]
			x := scale * float64(k[at+t])
			for j := range t {
				x -= row[j] * column[j]
			}
			if s == t {
				row[t] = math.Sqrt(max(x+one, one)) // K is positive semidefinite
			} else {
				row[t] = x / column[t]
			}
			other += t + 1
		}
		at += s + 1
	}
	st.residual = vec.Grow(st.residual, len(u))
	r := st.residual
	for j := range r {
		r[j] = float64(θ[j]) - float64(u[j])
	}
	sub := func(to, from []float64, c float64) {
		for y := range to {
			to[y] -= c * from[y]
		}
	}
	for s, at := 0, 0; s < n; s++ {
		row := r[s*labels:][:labels]
		for t := range s {
			sub(row, r[t*labels:][:labels], l[at+t])
		}
		for y := range row {
			row[y] /= l[at+s]
		}
		at += s + 1
	}
	for s, at := n-1, len(k); s >= 0; s-- {
		at -= s + 1
		row := r[s*labels:][:labels]
		for y := range row {
			row[y] /= l[at+s]
		}
		for t := range s {
			sub(r[t*labels:][:labels], row, l[at+t])
		}
	}
	for j, x := range r {
		u[j] = float32(float64(u[j]) + st.η*x)
	}
}

// inPlaceOfEntropy returns −⟨v,1_y⟩ − ½‖v‖².
func (st *dualStep) inPlaceOfEntropy() (h float64) {
	gold := &st.probes
	gold.Like(&st.Theta)
	gold.Clear()
	gold.Add(0, st.Batch.Gold(0), 1)
	part := entriesOf(st.Theta.Structure)
	for j, x := range st.u.Parts[part].Values {
		y := float64(gold.Parts[part].Values[j])
		v := float64(x) - y
		h -= v*y + v*v/2
	}
	return h
}

// distanceTo returns ‖θ − u‖² for the point u of the example in memory, over the entries that the loss fits.
func (st *dualStep) distanceTo(θ *structured.Potentials, memory *structured.Marginals) (total float64) {
	part := entriesOf(θ.Structure)
	for j, x := range memory.Parts[part].Of(st.i) {
		d := float64(θ.Parts[part].Values[j]) - float64(x)
		total += d * d
	}
	return total
}

// acceptQuadratic accepts the step's answer.
func (st *dualStep) acceptQuadratic(memory *dualMemory) {
	st.accepted = true
	memory.entropy[st.i], memory.step[st.i] = st.entropy, float32(st.η)
	memory.gap[st.i] = float32(st.c * st.distance / 2)
}
