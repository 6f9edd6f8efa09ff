package oracletest

import (
	"math"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/registry"
)

// Every max-marginal is the best score of the outputs that have its number at its place, and the best output is that of
// Max.
func maxMarginalsAreBestOfSome(t *rapid.T, kind registry.Kind, o oracles.MaxMarginaler) {
	θ := drawPotentials(t, kind, anyNumbers)
	y, value := make([]int32, θ.OutputSize()), make([]float64, θ.Len())
	again, same := make([]int32, θ.OutputSize()), make([]float64, θ.Len())
	var m oracles.MaxMarginals
	o.MaxMarginals(θ, y, value, &m)
	o.Max(θ, again, same)
	for b := range θ.Len() {
		Near(t, "value", value[b], same[b], 0)
		n, width := θ.Outputs[b+1]-θ.Outputs[b], m.Widths[b]
		want := make([]float64, n*width)
		for k := range want {
			want[k] = math.Inf(-1)
		}
		for _, out := range Enumerate(θ, b) {
			for v, j := range out.Values {
				want[v*width+int(j)] = max(want[v*width+int(j)], out.Score)
			}
		}
		for k, got := range m.Of(b) {
			Near(t, "max-marginal", got, want[k], tolerance(θ, 1e-5))
			if at := y[θ.Outputs[b]+k/width]; int32(k%width) == at && !math.IsInf(value[b], -1) {
				Near(t, "max-marginal of the best output", got, value[b], 0)
			}
		}
	}
}

// rankedByMaxMarginals ranks outputs by BMMF, whatever the oracle's own way.
type rankedByMaxMarginals struct {
	oracles.MaxMarginaler
	oracles.BMMF
}
