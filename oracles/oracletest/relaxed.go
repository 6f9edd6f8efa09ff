package oracletest

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
)

// runRelaxed checks the contract of an oracle whose answers are bounds.
func runRelaxed(t *testing.T, kind registry.Kind, o oracles.Relaxed) {
	run := func(name string, check func(t *rapid.T)) { t.Run(name, rapid.MakeCheck(check)) }
	t.Run("extreme potentials", func(t *testing.T) { runExtremes(t, kind, o) })
	t.Run("large negative potentials forbid", func(t *testing.T) { masksForbid(t, kind, o) })
	t.Run("answers are reused", func(t *testing.T) { answersAreReused(t, kind, o) })
	run("errors are within Rounding", func(t *rapid.T) { errorsAreWithinRounding(t, kind, o) })
	run("max bounds the best output", func(t *rapid.T) { maxBoundsBest(t, kind, o) })
	run("independent of the batch", func(t *rapid.T) { batchDoesNotMatter(t, kind, o) })
	if s, ok := o.(oracles.Summer); ok {
		run("exp bounds the sum", func(t *rapid.T) { expBoundsSum(t, kind, s) })
	}
}

// slack is the relative rounding error of a bound.
const slack = 1e-9

// The value of Max is at least the best score, the output's score at most that, and an answer that counts as exact is
// the best.
func maxBoundsBest(t *rapid.T, kind registry.Kind, o oracles.Relaxed) {
	θ := drawPotentials(t, kind, anyNumbers)
	y, value := make([]int32, θ.OutputSize()), make([]float64, θ.Len())
	o.Max(θ, y, value)
	for b := range value {
		best, score := math.Inf(-1), θ.Score(b, y[θ.Outputs[b]:θ.Outputs[b+1]])
		if all := Enumerate(θ, b); len(all) > 0 {
			best = all[0].Score
		}
		upper, exact := o.Bound(b)
		allowance := slack * (1 + math.Abs(best))
		if math.IsInf(best, -1) {
			allowance = 0
		}
		if upper != value[b] || !(upper >= best-allowance) {
			t.Fatalf("best score %.12g, value %.12g, bound %.12g", best, value[b], upper)
		}
		if exact {
			Near(t, "score of an output that counts as the best", score, best, allowance)
		}
	}
}

// The value of Exp is at least μ times the logarithm of the sum over all outputs, and marginals are probabilities,
// which are 0 where potentials are −∞.
func expBoundsSum(t *rapid.T, kind registry.Kind, o oracles.Summer) {
	θ, μ := drawPotentials(t, kind, anyNumbers), drawMu(t)
	value, alone, u := make([]float64, θ.Len()), make([]float64, θ.Len()), new(structured.Marginals)
	o.Exp(θ, μ, value, u)
	o.Exp(θ, μ, alone, nil)
	for b, v := range value {
		Near(t, "value without marginals", alone[b], v, 2*oracles.Rounding(o, θ, b, μ))
		least := logPartition(Enumerate(θ, b), μ)
		if allowance := slack * (1 + math.Abs(least)); !(v >= least-allowance) && !math.IsInf(least, -1) {
			t.Fatalf("the value %.12g does not bound the sum, %.12g", v, least)
		}
		for _, x := range u.Parts[0].Of(b) {
			if !(x >= 0 && x <= 1+1e-5) {
				t.Fatalf("marginal %g", x)
			}
		}
		if s := u.Dot(b, θ); math.IsNaN(s) || math.IsInf(s, 0) {
			t.Fatalf("example %d: the score of the marginals is %g", b, s)
		}
	}
}
