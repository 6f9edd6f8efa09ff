package choices

import (
	"math"

	"github.com/dsp-go/dsp/structured"
)

// Cost is the task loss of a choice. Gold.Costs [C] gives the cost of every candidate, for instance 1 − IoU with the
// box of the object. The loss is what an output costs more than the gold one,
//
//	ℓ(y, y*) = max(0, cost(y) − cost(y*)),
//
// so that ℓ(y*, y*) = 0 even if the best candidate has a cost. Without costs it is 1 for every candidate but the gold
// one.
//
// If only a set of candidates is known to hold the gold one, its members cost 0, and others what they cost more than
// the cheapest member. If nothing is known, every candidate costs 0.
type Cost struct{}

// CostRows implements structured.CostReader: a cost per candidate.
func (Choice) CostRows() string { return structured.Positions }

func (Cost) Augment(θ *structured.Potentials, b int, gold structured.Gold) {
	scores := θ.Parts[0].Of(b)
	each(len(scores), gold, func(k int, cost float32) { scores[k] += cost })
}

func (Cost) Dot(v *structured.Marginals, b int, gold structured.Gold) float64 {
	shares, s := v.Parts[0].Of(b), 0.0
	each(len(shares), gold, func(k int, cost float32) { s += float64(shares[k]) * float64(cost) })
	return s
}

func (Cost) Loss(y []int32, gold structured.Gold) float64 {
	if len(y) == 0 || y[0] == gold.Output[0] {
		return 0
	}
	return float64(costAbove(gold, int(y[0]), least(gold, gold.Output)))
}

// each visits the candidates that cost something.
func each(candidates int, gold structured.Gold, visit func(k int, cost float32)) {
	if len(gold.Output) == 0 {
		return
	}
	var single [1]int32
	right := gold.Possible(0, &single)
	if right == nil {
		return
	}
	base := least(gold, right)
	for k := range candidates {
		if len(right) > 0 && right[0] == int32(k) {
			right = right[1:]
		} else if cost := costAbove(gold, k, base); cost > 0 {
			visit(k, cost)
		}
	}
}

// least returns the cost of the cheapest of the candidates that are right.
func least(gold structured.Gold, right []int32) float32 {
	if gold.Costs == nil {
		return 0
	}
	base := float32(math.Inf(1))
	for _, k := range right {
		base = min(base, gold.Costs[k])
	}
	return base
}

// costAbove returns what a wrong candidate costs more than base.
func costAbove(gold structured.Gold, k int, base float32) float32 {
	if gold.Costs == nil {
		return 1
	}
	return max(0, gold.Costs[k]-base)
}
