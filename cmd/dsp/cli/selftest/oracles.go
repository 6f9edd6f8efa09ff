package selftest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/chain"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
)

const instances = 300 // random small batches for each check against enumeration

// oracleChecks returns the checks of every registered kind's oracle.
func oracleChecks() []Check {
	var checks []Check
	for _, kind := range registry.All {
		checks = append(checks, kindChecks(kind)...)
	}
	return append(checks, Check{"chain oracles: " + chain.Vector() + " vs plain Go", checkVectors})
}

// kindChecks compares every answer of a kind's oracle with enumeration.
func kindChecks(kind registry.Kind) []Check {
	var checks []Check
	add := func(question string, check checkOracle) {
		checks = append(checks, Check{kind.Name() + " " + question + " vs enumeration", onSmall(kind, check)})
	}
	o := kind.Oracle()
	if relaxed(o) {
		add("bound of max", checkMaxBound)
		add("bound of exp", checkExpBound)
		return checks
	}
	add("max", checkMax)
	if _, ranks := o.(oracles.Ranker); ranks {
		add("top-K", checkTopK)
		add("l2 smoothing", checkL2)
	}
	if _, sums := o.(oracles.Summer); sums {
		add("exp", checkExp)
	}
	return checks
}

// checkOracle compares an oracle's answers for a small batch with enumeration. The oracle must have the capability that
// the check uses.
type checkOracle func(o oracles.Maximiser, θ *structured.Potentials, r *rand.Rand, w *worst) error

// onSmall runs a check of a kind's oracle on many random batches.
func onSmall(kind registry.Kind, check checkOracle) func(context.Context, *rand.Rand, *worst) (string, error) {
	return func(ctx context.Context, r *rand.Rand, w *worst) (string, error) {
		o := kind.Oracle()
		for range instances {
			if err := ctx.Err(); err != nil {
				return "", err
			}
			if err := check(o, drawSmall(kind, r), r, w); err != nil {
				return "", err
			}
		}
		return "", nil
	}
}

func checkMax(o oracles.Maximiser, θ *structured.Potentials, _ *rand.Rand, w *worst) error {
	y, value := make([]int32, θ.OutputSize()), make([]float64, θ.Len())
	o.Max(θ, y, value)
	for b := range θ.Len() {
		all := enumerate(θ, b)
		if len(all) == 0 {
			if err := w.near("value without allowed outputs", value[b], math.Inf(-1), 0); err != nil {
				return err
			}
			continue
		}
		if err := w.near("value", value[b], all[0].score, 1e-5); err != nil {
			return err
		}
		if err := w.near("score of the output", θ.Score(b, y[θ.Outputs[b]:θ.Outputs[b+1]]), all[0].score, 1e-5); err != nil {
			return err
		}
	}
	return nil
}

func checkTopK(o oracles.Maximiser, θ *structured.Potentials, r *rand.Rand, w *worst) error {
	var best oracles.KBest
	k := 1 + r.IntN(12)
	o.(oracles.Ranker).TopK(θ, k, &best)
	for b := range θ.Len() {
		all := enumerate(θ, b)
		if want := min(k, len(all)); best.Count[b] != want {
			return fmt.Errorf("%d outputs, want %d", best.Count[b], want)
		}
		var seen [][]int32
		for i := range best.Count[b] {
			values := best.Output(i, θ.Outputs[b], θ.Outputs[b+1])
			if slices.ContainsFunc(seen, func(s []int32) bool { return slices.Equal(s, values) }) {
				return fmt.Errorf("output %v appears twice", values)
			}
			seen = append(seen, values)
			if err := w.near("score", best.Score[b*k+i], all[i].score, 1e-5); err != nil {
				return err
			}
			if err := w.near("score of the output", θ.Score(b, values), all[i].score, 1e-5); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkExp(o oracles.Maximiser, θ *structured.Potentials, r *rand.Rand, w *worst) error {
	μ := []float64{10, 1, 0.1}[r.IntN(3)]
	var u structured.Marginals
	value := make([]float64, θ.Len())
	o.(oracles.Summer).Exp(θ, μ, value, &u)
	for b := range θ.Len() {
		all := enumerate(θ, b)
		want, marginals := gibbs(θ, b, all, μ)
		if err := w.near("value", value[b], want, 1e-4); err != nil {
			return err
		}
		for k := range u.Parts {
			if err := w.nearAll(u.Parts[k].Name+" marginal", u.Parts[k].Of(b), marginals[k], 1e-3); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *worst) nearAll(what string, got []float32, want []float64, tolerance float64) error {
	for i := range want {
		if err := w.near(what, float64(got[i]), want[i], tolerance); err != nil {
			return err
		}
	}
	return nil
}

// checkL2 compares l2 smoothing over K outputs, with K large enough to be exact, with l2 smoothing over all outputs.
func checkL2(o oracles.Maximiser, θ *structured.Potentials, r *rand.Rand, w *worst) error {
	μ := []float64{10, 1, 0.1}[r.IntN(3)]
	s := oracles.Smoothing{Kind: oracles.L2, Mu: μ, MaxK: 2000}
	var answer oracles.Answer
	s.Answer(o, θ, &answer, true)
	for b := range θ.Len() {
		all := enumerate(θ, b)
		if len(all) == 0 {
			continue
		}
		if !answer.Exact[b] {
			return fmt.Errorf("l2 smoothing with K = auto is not exact on %d outputs", len(all))
		}
		if err := w.near("value", answer.Value[b], smoothL2(all, μ), 1e-4); err != nil {
			return err
		}
	}
	return nil
}

// smoothL2 returns max over the simplex of Σ q z − (μ/2)(‖q‖²−1): q = max(0, (z−τ)/μ), the threshold τ by bisection.
func smoothL2(all []output, μ float64) float64 {
	low, high := all[0].score-μ, all[0].score
	for range 100 {
		τ, mass := (low+high)/2, 0.0
		for _, o := range all {
			mass += max(0, (o.score-τ)/μ)
		}
		if mass > 1 {
			low = τ
		} else {
			high = τ
		}
	}
	value := μ / 2
	for _, o := range all {
		q := max(0, (o.score-low)/μ)
		value += q*o.score - μ/2*q*q
	}
	return value
}
