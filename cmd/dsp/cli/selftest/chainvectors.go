package selftest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/dsp-go/dsp/cuda/cases"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/chain"
	"github.com/dsp-go/dsp/structured"
)

// longChains draws a ragged batch of n chains of 30 to 60 positions with Y labels.
func longChains(r *rand.Rand, n, y int) *cases.Potentials {
	offsets := []int{0}
	for range n {
		offsets = append(offsets, offsets[len(offsets)-1]+30+r.IntN(31))
	}
	θ := cases.NewPotentials(offsets, y, false)
	for i := range θ.Node {
		θ.Node[i] = float32(r.NormFloat64())
	}
	for i := range θ.Edge {
		θ.Edge[i] = float32(r.NormFloat64())
	}
	return θ
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

func sameAnswers(fast, plain oracles.Oracle, θ *cases.Potentials, w *worst) error {
	y, yPlain := make([]int32, θ.Positions()), make([]int32, θ.Positions())
	value, valuePlain := make([]float64, θ.Len()), make([]float64, θ.Len())
	fast.Max(θ.All, y, value)
	plain.Max(θ.All, yPlain, valuePlain)
	if !slices.Equal(y, yPlain) {
		return fmt.Errorf("max: other outputs")
	}
	var best, bestPlain oracles.KBest
	fast.TopK(θ.All, 5, &best)
	plain.TopK(θ.All, 5, &bestPlain)
	var u, uPlain structured.Marginals
	exp, expPlain := make([]float64, θ.Len()), make([]float64, θ.Len())
	fast.Exp(θ.All, 1, exp, &u)
	plain.Exp(θ.All, 1, expPlain, &uPlain)
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
