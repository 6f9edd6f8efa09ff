package oracletest

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/kinds"
	"github.com/dsp-go/dsp/structured"
	"pgregory.net/rapid"
)

func expIsGibbs(t *rapid.T, kind kinds.Kind, o oracles.Summer) {
	θ, μ := drawPotentials(t, kind, anyNumbers), drawMu(t)
	value, u := make([]float64, θ.Len()), new(structured.Marginals)
	o.Exp(θ, μ, value, u)
	NearMarginals(t, "marginal", u, Gibbs(θ, μ), 2e-5)
	alone := make([]float64, θ.Len())
	o.Exp(θ, μ, alone, nil)
	for b, v := range value {
		want := logPartition(Enumerate(θ, b), μ)
		tolerance := 1e-5 * max(1, μ)
		if above := math.Abs(want) - 1000; above > 0 && !math.IsInf(want, 0) { // the float32 precision of large numbers
			tolerance += 1e-7 * above
		}
		Near(t, "value", v, want, tolerance)
		Near(t, "value without marginals", alone[b], v, 0)
	}
}

// The marginals are the gradient of the value, by central differences along a random direction.
func expMarginalsAreGradient(t *rapid.T, kind kinds.Kind, o oracles.Summer) {
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
		Near(t, "difference", up[b]-down[b], want, 1e-3)
	}
}
