package oracletest

import (
	"math"
	"math/rand/v2"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
)

// Values differ from exact sums over all outputs by at most Rounding, for potentials on which float32 and float64 lose
// much. The values of a Relaxed oracle, and bounds, are below by no more than that. Nothing is allowed for errors of
// the reference, which has twice as many digits.
func errorsAreWithinRounding(t *rapid.T, kind registry.Kind, o oracles.Maximiser) {
	from := rapid.SampledFrom([]numbers{rough, near, mixed, absorbed, hiding, anyNumbers}).Draw(t, "kind of numbers")
	θ, μ := drawPotentials(t, kind, from), drawMu(t)
	eachError(o, θ, μ, func(b int, μ, off, bound float64) {
		if !(bound >= 0) || math.IsInf(bound, 1) {
			t.Fatalf("the bound is %g", bound)
		}
		if !(math.Abs(off) <= bound) {
			t.Fatalf("example %d, μ = %g: the value is off by %g: the bound is %g", b, μ, off, bound)
		}
	})
}

// eachError calls a function with the errors of Max (μ = 0) and of Exp for each example that has an output, and the
// bounds on them. The error of a Relaxed oracle is what its value is too small by.
func eachError(o oracles.Maximiser, θ *structured.Potentials, μ float64, f func(b int, μ, off, bound float64)) {
	value, sums := make([]float64, θ.Len()), make([]float64, θ.Len())
	oracles.MaxBound(o, θ, make([]int32, θ.OutputSize()), value)
	summer, sum := o.(oracles.Summer)
	if sum {
		summer.Exp(θ, μ, sums, nil)
	}
	_, relaxed := o.(oracles.Relaxed)
	check := func(b int, scores []double, μ, value float64) {
		off := exactValue(scores, μ).minus(double{value, 0}).hi
		if relaxed {
			off = max(off, 0)
		}
		f(b, μ, off, oracles.Rounding(o, θ, b, μ))
	}
	for b := range θ.Len() {
		scores := exactScores(θ, b)
		if len(scores) == 0 {
			continue
		}
		check(b, scores, 0, value[b])
		if sum {
			check(b, scores, μ, sums[b])
		}
	}
}

// RoundingShares returns the largest share of an oracle's bounds that errors take, of Max and of Exp, on several
// hundred batches of a kind that are drawn from a fixed seed. A bound that holds for all potentials leaves most of them
// room, but not much more than the worst need.
func RoundingShares(kind registry.Kind, o oracles.Maximiser) (ofMax, ofExp float64) {
	for seed := range uint64(750) {
		r := rand.New(rand.NewPCG(seed, 1))
		θ := smallPotentials(r, kind, []numbers{reals, near, mixed, absorbed, hiding}[seed%5])
		eachError(o, θ, math.Exp(7*r.Float64()-5), func(_ int, μ, off, bound float64) {
			share := math.Abs(off) / bound
			switch {
			case off == 0:
			case μ == 0:
				ofMax = max(ofMax, share)
			default:
				ofExp = max(ofExp, share)
			}
		})
	}
	return ofMax, ofExp
}
