package selftest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/chain"
	"github.com/dsp-go/dsp/structured"
)

const instances = 300 // random small batches for each check against enumeration

var oracleChecks = []Check{
	{"chain max: oracle vs enumeration", onSmallChains(checkMax)},
	{"chain top-K: oracle vs enumeration", onSmallChains(checkTopK)},
	{"chain exp: oracle vs enumeration", onSmallChains(checkExp)},
	{"chain l2 smoothing: oracle vs enumeration", onSmallChains(checkL2)},
	{"chain oracles: " + chain.Vector() + " vs plain Go", checkVectors},
}

// onSmallChains runs a check on many random batches.
func onSmallChains(check func(o oracles.Oracle, θ *potentials, r *rand.Rand, w *worst) error) func(context.Context, *rand.Rand, *worst) (string, error) {
	return func(ctx context.Context, r *rand.Rand, w *worst) (string, error) {
		o := chain.New()
		for range instances {
			if err := ctx.Err(); err != nil {
				return "", err
			}
			if err := check(o, smallChains(r), r, w); err != nil {
				return "", err
			}
		}
		return "", nil
	}
}

func checkMax(o oracles.Oracle, θ *potentials, _ *rand.Rand, w *worst) error {
	y, value := make([]int32, θ.Positions()), make([]float64, θ.Len())
	o.Max(θ.all, y, value)
	for b := range θ.Len() {
		all := enumerate(θ, b)
		if len(all) == 0 {
			continue
		}
		if err := w.near("value", value[b], all[0].score, 1e-5); err != nil {
			return err
		}
		if err := w.near("score of the output", θ.Score(b, y[θ.Offsets[b]:θ.Offsets[b+1]]), all[0].score, 1e-5); err != nil {
			return err
		}
	}
	return nil
}

func checkTopK(o oracles.Oracle, θ *potentials, r *rand.Rand, w *worst) error {
	var best oracles.KBest
	k := 1 + r.IntN(12)
	o.TopK(θ.all, k, &best)
	for b := range θ.Len() {
		all := enumerate(θ, b)
		if want := min(k, len(all)); best.Count[b] != want {
			return fmt.Errorf("%d outputs, want %d", best.Count[b], want)
		}
		var seen [][]int32
		for i := range best.Count[b] {
			labels := best.Output(i, θ.Offsets[b], θ.Offsets[b+1])
			if slices.ContainsFunc(seen, func(s []int32) bool { return slices.Equal(s, labels) }) {
				return fmt.Errorf("output %v comes twice", labels)
			}
			seen = append(seen, labels)
			if err := w.near("score", best.Score[b*k+i], all[i].score, 1e-5); err != nil {
				return err
			}
			if err := w.near("score of the output", θ.Score(b, labels), all[i].score, 1e-5); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkExp(o oracles.Oracle, θ *potentials, r *rand.Rand, w *worst) error {
	μ := []float64{10, 1, 0.1}[r.IntN(3)]
	var u structured.Marginals
	value := make([]float64, θ.Len())
	o.Exp(θ.all, μ, value, &u)
	for b := range θ.Len() {
		all := enumerate(θ, b)
		want, node, edge := gibbs(θ, b, all, μ)
		if err := w.near("value", value[b], want, 1e-4); err != nil {
			return err
		}
		if err := w.nearAll("node marginal", u.Parts[0].Of(b), node, 1e-3); err != nil {
			return err
		}
		if err := w.nearAll("edge marginal", u.Parts[1].Of(b), edge, 1e-3); err != nil {
			return err
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

// checkL2 compares the smoothing on K outputs, with K large enough to be exact, with that over all of them.
func checkL2(o oracles.Oracle, θ *potentials, r *rand.Rand, w *worst) error {
	μ := []float64{10, 1, 0.1}[r.IntN(3)]
	s := oracles.Smoothing{Kind: oracles.L2, Mu: μ, MaxK: 2000}
	var answer oracles.Answer
	s.Answer(o, θ.all, &answer, true)
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

// checkVectors compares the fastest inner loops with plain ones on chains long enough to use them.
func checkVectors(ctx context.Context, r *rand.Rand, w *worst) (string, error) {
	fast, plain := chain.New(), chain.NewPlain()
	for _, y := range []int{1, 2, 3, 7, 8, 9, 15, 16, 17, 25, 31, 32, 33, 64, 130} {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		if err := sameAnswers(fast, plain, longChains(r, 3, y), w); err != nil {
			return "", fmt.Errorf("%d labels: %w", y, err)
		}
	}
	return "", nil
}

func sameAnswers(fast, plain oracles.Oracle, θ *potentials, w *worst) error {
	y, yPlain := make([]int32, θ.Positions()), make([]int32, θ.Positions())
	value, valuePlain := make([]float64, θ.Len()), make([]float64, θ.Len())
	fast.Max(θ.all, y, value)
	plain.Max(θ.all, yPlain, valuePlain)
	if !slices.Equal(y, yPlain) {
		return fmt.Errorf("max: other outputs")
	}
	var best, bestPlain oracles.KBest
	fast.TopK(θ.all, 5, &best)
	plain.TopK(θ.all, 5, &bestPlain)
	var u, uPlain structured.Marginals
	exp, expPlain := make([]float64, θ.Len()), make([]float64, θ.Len())
	fast.Exp(θ.all, 1, exp, &u)
	plain.Exp(θ.all, 1, expPlain, &uPlain)
	for b := range θ.Len() {
		if err := w.near("max", value[b], valuePlain[b], 1e-6); err != nil {
			return err
		}
		if err := w.near("exp", exp[b], expPlain[b], 1e-5); err != nil {
			return err
		}
		for k := range best.Count[b] {
			if err := w.near("top-K", best.Score[b*5+k], bestPlain.Score[b*5+k], 1e-6); err != nil {
				return err
			}
		}
	}
	for i, p := range uPlain.Parts[0].Values {
		if err := w.near("marginal", float64(u.Parts[0].Values[i]), float64(p), 1e-4); err != nil {
			return err
		}
	}
	return nil
}
