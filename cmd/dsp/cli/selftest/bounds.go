package selftest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
)

// relaxed reports whether an oracle's answers are bounds.
func relaxed(o oracles.Maximiser) bool {
	r, ok := o.(oracles.Relaxed)
	return ok && r.Relaxed() != ""
}

// checkMaxBound compares a relaxed maximum with the best score.
func checkMaxBound(o oracles.Maximiser, θ *structured.Potentials, _ *rand.Rand, w *worst) error {
	y, value := make([]int32, θ.OutputSize()), make([]float64, θ.Len())
	o.Max(θ, y, value)
	for b := range θ.Len() {
		best := math.Inf(-1)
		if all := enumerate(θ, b); len(all) > 0 {
			best = all[0].score
		}
		if err := w.bounds(value[b], best); err != nil {
			return err
		}
		if upper, exact := o.(oracles.Relaxed).Bound(b); exact {
			if err := w.near("value of an answer that counts as exact", upper, best, 1e-5); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkExpBound compares a relaxed sum with the exact one.
func checkExpBound(o oracles.Maximiser, θ *structured.Potentials, r *rand.Rand, w *worst) error {
	μ, value := []float64{10, 1, 0.1}[r.IntN(3)], make([]float64, θ.Len())
	o.(oracles.Summer).Exp(θ, μ, value, nil)
	for b := range θ.Len() {
		exact, _ := gibbs(θ, b, enumerate(θ, b), μ)
		if err := w.bounds(value[b], exact); err != nil {
			return err
		}
	}
	return nil
}

// bounds counts a comparison and returns an error if an upper bound is too low.
func (w *worst) bounds(upper, exact float64) error {
	w.compare++
	if !(upper >= exact-1e-9*(1+math.Abs(exact))) && !math.IsInf(exact, -1) {
		return fmt.Errorf("bound %v, exact value %v", upper, exact)
	}
	return nil
}
