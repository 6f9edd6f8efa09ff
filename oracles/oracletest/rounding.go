package oracletest

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/kinds"
	"github.com/dsp-go/dsp/structured"
	"pgregory.net/rapid"
)

// Values differ from those of enumeration by at most Rounding, for potentials on which float32 loses much. The values of a Relaxed oracle, and
// bounds, are below by no more than that.
func errorsAreWithinRounding(t *rapid.T, kind kinds.Kind, o oracles.Maximiser) {
	θ, μ := drawPotentials(t, kind, rapid.SampledFrom([]numbers{rough, rough, anyNumbers}).Draw(t, "kind of numbers")), drawMu(t)
	y, value, sums := make([]int32, θ.OutputSize()), make([]float64, θ.Len()), make([]float64, θ.Len())
	oracles.MaxBound(o, θ, y, value)
	_, relaxed := o.(oracles.Relaxed)
	summer, ok := o.(oracles.Summer)
	if ok {
		summer.Exp(θ, μ, sums, nil)
	}
	for b := range θ.Len() {
		all := Enumerate(θ, b)
		if len(all) == 0 {
			continue
		}
		checkError(t, o, θ, b, 0, value[b], all[0].Score, relaxed)
		if ok {
			checkError(t, o, θ, b, μ, sums[b], logPartition(all, μ), relaxed)
		}
	}
}

func checkError(t Failer, o oracles.Maximiser, θ *structured.Potentials, b int, μ, value, want float64, relaxed bool) {
	t.Helper()
	bound := oracles.Rounding(o, θ, b, μ)
	if !(bound >= 0) || math.IsInf(bound, 1) {
		t.Fatalf("the bound is %g", bound)
	}
	reference := referenceError(θ, b, want)
	if value >= want && relaxed {
		return
	}
	if off := math.Abs(value - want); !(off <= bound+reference) {
		t.Fatalf("μ = %g: value %v, want %v, off by %g: the bound is %g", μ, value, want, value-want, bound)
	}
}
