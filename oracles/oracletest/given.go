package oracletest

import (
	"math"
	"slices"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
)

// Where potentials are restricted to what is known of an output, the best output, the sum and the marginals are those
// of the outputs that agree.
func givenIsKept(t *rapid.T, kind registry.Kind, o oracles.Maximiser) {
	θ, μ := drawPotentials(t, kind, reals), drawMu(t)
	given, u := clone(θ), zeros(θ)
	agreeing := make([][]Output, θ.Len())
	for b := range agreeing {
		gold, _ := drawGold(t, θ, u, b)
		agreeing[b] = slices.DeleteFunc(Enumerate(θ, b), func(y Output) bool { return !agrees(y.Values, gold) })
		θ.Structure.(structured.Restricter).Restrict(given, b, gold)
	}
	given.Gold = θ.Gold // drawn above, for structures that read it
	y, value := make([]int32, θ.OutputSize()), make([]float64, θ.Len())
	o.Max(given, y, value)
	for b, all := range agreeing {
		best := math.Inf(-1)
		if len(all) > 0 {
			best = all[0].Score
			nearScore(t, "score of the output", θ.Score(b, y[θ.Outputs[b]:θ.Outputs[b+1]]), value[b])
		}
		Near(t, "best score", value[b], best, oracles.Rounding(o, given, b, 0)+referenceError(θ, b, best))
	}
	summer, sums := o.(oracles.Summer)
	if !sums {
		return
	}
	summer.Exp(given, μ, value, u)
	for b, all := range agreeing {
		logZ, single, want := logPartition(all, μ), zeros(θ), zeros(θ)
		rounding := oracles.Rounding(o, given, b, μ) + referenceError(θ, b, logZ)
		if math.IsInf(logZ, -1) {
			rounding = 0
		}
		Near(t, "value", value[b], logZ, rounding)
		for _, y := range all {
			single.Add(b, y.Values, 1)
			for k := range want.Parts {
				for i, x := range single.Parts[k].Of(b) {
					want.Parts[k].Of(b)[i] += x * float32(math.Exp((y.Score-logZ)/μ))
				}
			}
			single.Add(b, y.Values, -1)
		}
		for k := range want.Parts {
			if want.Parts[k].Offsets == nil {
				return // shared by all examples: their sum is checked where there is no restriction
			}
		}
		nearExample(t, "marginal", u, b, want, b, marginalError(θ, b, rounding/μ)+1e-5)
	}
}
