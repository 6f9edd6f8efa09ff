package oracles_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/chain"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// silent hides that an oracle is a Rounder.
type silent struct{ oracles.Maximiser }

// The generic bound is not below that of the oracle itself for ordinary potentials, and is finite.
func TestGenericRounding(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	θ := new(structured.Potentials)
	chains.Resize(θ, []int{0, 30, 30, 31}, 7, false)
	for k := range θ.Parts {
		for i := range θ.Parts[k].Values {
			θ.Parts[k].Values[i] = float32(r.NormFloat64())
		}
	}
	o := chain.New()
	for b := range θ.Len() {
		for _, μ := range []float64{0, 1, 0.01} {
			own, generic := oracles.Rounding(o, θ, b, μ), oracles.Rounding(silent{o}, θ, b, μ)
			if !(generic >= own) || math.IsInf(generic, 0) {
				t.Errorf("example %d, μ = %g: generic bound %g, own %g", b, μ, generic, own)
			}
		}
	}
}

func TestLargest(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, test := range []struct {
		x    []float32
		want float64
	}{{nil, 0}, {[]float32{-3, 2}, 3}, {[]float32{-inf, 2}, 2}, {[]float32{1, inf, 2}, math.Inf(1)},
		{[]float32{1, nan, 2}, math.NaN()}, {[]float32{-math.MaxFloat32}, math.MaxFloat32}} {
		if got := oracles.Largest(test.x); got != test.want && !(math.IsNaN(got) && math.IsNaN(test.want)) {
			t.Errorf("largest of %v is %g, want %g", test.x, got, test.want)
		}
	}
}
