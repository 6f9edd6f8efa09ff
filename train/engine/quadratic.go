package engine

import (
	"math"

	"github.com/dsp-go/dsp/structured"
)

// The quadratic surrogate of the Hamming loss (Osokin, Bach and Lacoste-Julien 2017) fits potentials to indicators,
//
//	f_i(w) = ½ Σ_t ‖θ_t − e_{y_t}‖²,
//
// where θ_t are the potentials of the labels of position t and e_y is the indicator of label y. On average the best θ_t
// are the probabilities of the labels given the input, whatever labels of neighbours do, so that the label with the
// largest one has the least expected Hamming loss: the surrogate is consistent. Nothing scores labels together, and the
// best output takes the best label of each position.
//
// In the terms of the other losses, h(θ) = f(θ) + ⟨1_y,θ⟩ has the gradient u = θ, which need not be in the marginal
// polytope: the dual has no constraint. With v = θ − 1_y,
//
//	f(θ') ≥ ⟨v, θ'⟩ − ⟨v, 1_y⟩ − ½‖v‖²    for all θ', and any v,
//
// so −⟨v, 1_y⟩ − ½‖v‖² takes the place of the entropy. v counts as it was rounded: any v bounds f, so that only rounded
// potentials make a bound err, as in rounding.go.

// checkQuadratic rejects what the quadratic loss has no entries for.
func (o *Objective) checkQuadratic() error {
	form := o.Scorer.Form()
	if _, ok := form.Structure.(structured.Entrywise); !ok {
		return structured.BadInput("the loss %v fits the scores of labels of positions, which a %s does not have alone", Quadratic, form.Structure.Name())
	}
	if o.Soft || len(o.Data.LabelSets) > 0 {
		return structured.BadInput("%s: the loss %v needs to know all gold labels", o.Data.Name, Quadratic)
	}
	return nil
}

// entries returns the part of potentials or marginals that the quadratic loss fits.
func entries(of structured.Structure, parts []structured.Part) *structured.Part {
	return &parts[of.(structured.Entrywise).EntryPart()]
}

// askQuadratic is Ask for the quadratic loss. Parts that it does not fit are as in the gold output, and add nothing.
func (e *Evaluation) askQuadratic(sh *Shard) {
	u := &sh.Answer.U
	u.Like(&sh.Theta)
	u.Clear()
	sh.losses, sh.entropy = sh.losses[:0], sh.entropy[:0]
	for b, i := range sh.Batch.Examples {
		u.Add(b, sh.Batch.Gold(b), 1)
		x := e.fit(&sh.Theta, u, b)
		copy(entries(u.Structure, u.Parts).Of(b), entries(u.Structure, sh.Theta.Parts).Of(b))
		sh.losses, sh.entropy = append(sh.losses, x.loss), append(sh.entropy, x.entropy)
		c, to := e.Data.Weight(i), sh.tally()
		to.Primal += c * x.loss
		to.Smoothed += c * x.loss
		to.Entropy += c * x.entropy
		to.Scores += c * x.scale
		to.Above += c * x.rounding
		to.Exact++
	}
}

// fitted is what the quadratic loss finds out about an example.
type fitted struct {
	loss     float64 // f_i
	rounding float64 // bound on the rounding error of the loss: potentials that err by δ change it by |θ − e_y|δ + δ²/2
	entropy  float64 // −⟨v, 1_y⟩ − ½‖v‖²
	scale    float64 // ‖θ‖² + ‖1_y‖²
}

// fit fits example b of θ to its gold output, which is in u.
func (e *Evaluation) fit(θ *structured.Potentials, u *structured.Marginals, b int) (to fitted) {
	ε := e.potentialUnit()
	gold := entries(u.Structure, u.Parts).Of(b)
	for j, x := range entries(θ.Structure, θ.Parts).Of(b) {
		θ, y := float64(x), float64(gold[j])
		v := float64(x - gold[j]) // as difference rounds it
		δ := ε * math.Abs(θ)
		to.loss += (θ - y) * (θ - y) / 2
		to.rounding += math.Abs(θ-y)*δ + δ*δ/2
		to.entropy -= v*y + v*v/2
		to.scale += θ*θ + y
	}
	return to
}

// fitLosses returns Σ c_i f_i over the lane's batch, whose potentials must have been computed.
func (e *Evaluation) fitLosses(sh *Shard) float64 {
	total, u := 0.0, &sh.Answer.U
	u.Like(&sh.Theta)
	u.Clear()
	for b, i := range sh.Batch.Examples {
		u.Add(b, sh.Batch.Gold(b), 1)
		x := e.fit(&sh.Theta, u, b)
		total += e.Data.Weight(i) * x.loss
		sh.tally().Above += e.Data.Weight(i) * x.rounding
	}
	return total
}

// potentialUnit bounds the relative rounding errors of potentials, those of a sum and of the loss that was added to it.
func (e *Evaluation) potentialUnit() float64 {
	if e.precise {
		return 2 * Unit
	}
	return 2 * singleSums * Unit
}

// roundQuadratic is roundAnswers for the quadratic loss.
func (e *Evaluation) roundQuadratic(sh *Shard) {
	part := entries(sh.Theta.Structure, sh.Theta.Parts)
	for b := range sh.Batch.Examples { // v has the weight of the example already
		v, sum := entries(sh.V.Structure, sh.V.Parts).Of(b), 0.0
		for j, x := range part.Of(b) {
			sum += math.Abs(float64(x)) * math.Abs(float64(v[j]))
		}
		sh.tally().Below += e.potentialUnit() * sum
	}
}

// quadraticOfMemory adds to the lane's sums what takes the place of the entropy of a dual point from memory, for v as
// it is: with the weights of the examples, and rounded.
func (e *Evaluation) quadraticOfMemory(sh *Shard) {
	u := &sh.Answer.U
	u.Clear()
	for b, i := range sh.Batch.Examples {
		c := e.Data.Weight(i)
		if c == 0 {
			continue
		}
		u.Add(b, sh.Batch.Gold(b), 1)
		gold := entries(u.Structure, u.Parts).Of(b)
		for j, x := range entries(sh.V.Structure, sh.V.Parts).Of(b) {
			v := float64(x)
			sh.tally().Entropy -= v*float64(gold[j]) + v*v/(2*c)
		}
	}
}

// quadraticSpread sets v to the second derivatives of the loss by the potentials: c_i for those that it fits.
func (e *Evaluation) quadraticSpread(sh *Shard) {
	sh.V.Like(&sh.Theta)
	sh.V.Clear()
	for b, i := range sh.Batch.Examples {
		part := entries(sh.V.Structure, sh.V.Parts).Of(b)
		for j := range part {
			part[j] = float32(e.Data.Weight(i))
		}
	}
}
