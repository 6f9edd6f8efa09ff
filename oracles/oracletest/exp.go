package oracletest

import (
	"math"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
)

func expIsGibbs(t *rapid.T, kind registry.Kind, o oracles.Summer) {
	θ, μ := drawPotentials(t, kind, anyNumbers), drawMu(t)
	value, u := make([]float64, θ.Len()), new(structured.Marginals)
	o.Exp(θ, μ, value, u)
	alone, gibbs := make([]float64, θ.Len()), Gibbs(θ, μ)
	o.Exp(θ, μ, alone, nil)
	for b, v := range value {
		want, rounding := math.Inf(-1), 0.0
		if scores := exactScores(θ, b); len(scores) > 0 {
			want, rounding = exactValue(scores, μ).hi, oracles.Rounding(o, θ, b, μ)
			rounding += math.Abs(want) * oracles.Double // of the exact value's rounding to float64
		}
		Near(t, "value", v, want, rounding)
		Near(t, "value without marginals", alone[b], v, 2*rounding) // its sums may be in another order
		nearExample(t, "marginal", u, b, gibbs, b, marginalError(θ, b, rounding/μ))
	}
}

// marginalError bounds the error of marginals, given that of log Z: a marginal is a quotient of two sums over outputs,
// both with the relative error of Z at most, and is rounded to float32. Where rows are shared, it is a sum over as many
// places as an output has.
func marginalError(θ *structured.Potentials, b int, logZ float64) float64 {
	return float64(max(1, θ.Outputs[b+1]-θ.Outputs[b])) * (math.Expm1(2*logZ) + 0x1p-23)
}

// The marginals are the gradient of the value, by central differences along a random direction d. Their error is that
// of a third order: along d, the third derivative is the third cumulant of ⟨d, 1_y⟩ by μ². A random variable of range r
// has one of r³/(6√3) at most, that of a coin with two sides r apart.
func expMarginalsAreGradient(t *rapid.T, kind registry.Kind, o oracles.Summer) {
	θ := drawPotentials(t, kind, reals)
	μ := rapid.SampledFrom([]float64{2, 1, 0.5}).Draw(t, "μ")
	value, u := make([]float64, θ.Len()), new(structured.Marginals)
	o.Exp(θ, μ, value, u)
	const h = 1.0 / 64
	plus, minus := clone(θ), clone(θ)
	direction := rapid.SampledFrom([]float32{-1, 0, 1})
	for k := range θ.Parts {
		plus, minus := plus.Parts[k].Values, minus.Parts[k].Values
		for i := range plus {
			d := direction.Draw(t, "direction")
			plus[i] += h * d
			minus[i] -= h * d
		}
	}
	up, down := make([]float64, θ.Len()), make([]float64, θ.Len())
	o.Exp(plus, μ, up, nil)
	o.Exp(minus, μ, down, nil)
	for b := range up {
		if math.IsInf(value[b], -1) {
			continue
		}
		want := u.Dot(b, plus) - u.Dot(b, minus)
		all := Enumerate(θ, b)
		least, most := math.Inf(1), math.Inf(-1) // of ⟨d, 1_y⟩·2h
		for _, y := range all {
			change := plus.Score(b, y.Values) - minus.Score(b, y.Values)
			least, most = min(least, change), max(most, change)
		}
		third := math.Pow((most-least)/2, 3) / (18 * math.Sqrt(3) * μ * μ)
		rounding := oracles.Rounding(o, plus, b, μ) + oracles.Rounding(o, minus, b, μ)
		Near(t, "difference", up[b]-down[b], want, 1e-5+third+rounding)
	}
}
