package segment

import (
	"math"
	"slices"

	"github.com/dsp-go/dsp/structured"
)

// mask is a score below which a tag counts as forbidden at first. Users put such numbers in place of −∞, and the prefix sums P of what continues segments would lose all
// other scores beside them.
const mask = -1e9

// hide makes tags that continue segments with scores below mask forbidden in the open sequence. It sets masked to a bound on the scores of the outputs that are lost.
func (o *Oracle) hide(θ *structured.Potentials, b int) {
	o.floor = minusInf
	for at := 1; at < len(o.node) && o.floor == minusInf; at++ {
		if x := float64(o.node[at]); x < mask && x > minusInf && at%o.s.Tags%2 == 1 {
			o.floor = mask
		}
	}
	if o.floor == minusInf {
		return
	}
	o.masked = mask
	for k := range θ.Parts {
		p := &θ.Parts[k]
		x, uses := p.Of(b), float64(o.n) // of the largest score: no output has more segments than positions
		if p.Rows == structured.Examples {
			uses *= 2 // wrong segments are in it, or in the gold output
		}
		if len(x) > 0 {
			o.masked += uses * math.Max(0, float64(slices.Max(x)))
		}
	}
}

// reveal allows what hide has forbidden, if outputs that have it may count. least is a score that those with none of it reach; it says whether something has changed.
func (o *Oracle) reveal(least float64) bool {
	if o.floor == minusInf || least > o.masked {
		return false
	}
	o.floor = minusInf
	clear(o.p)
	return true
}

// revealSums is reveal for the logarithm of a sum over outputs at the rate: those that are hidden are at most (Y·L)^T in number, and negligible if each is e⁻⁴⁰ beside that.
func (o *Oracle) revealSums(logZ float64) bool {
	outputs := float64(o.n) * math.Log(float64(1+o.s.Labels*o.s.Longest))
	return o.reveal((logZ + o.gold.constant - outputs - 40) / o.rate)
}
