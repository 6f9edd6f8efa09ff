package chart_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/chain"
	"github.com/dsp-go/dsp/oracles/chart"
	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// The bounds hold where forbidden weights keep the largest score from all outputs: exponentials that cells share are
// then scaled by what none of them has. Steps from label 0 are forbidden, and so both outputs have the score of label 1
// at position 0.
func TestRoundingOfHiddenScores(t *testing.T) {
	r, never := rand.New(rand.NewPCG(1, 7)), float32(math.Inf(-1))
	θ, rest, o := new(structured.Potentials), new(structured.Potentials), chart.New(chain.Declare)
	chains.Resize(θ, []int{0, 2}, 2, false)
	copy(θ.Parts[1].Values, []float32{never, never, 0, 0})
	rest.Like(θ)
	for k := range rest.Parts {
		clear(rest.Parts[k].Values)
	}
	clear(θ.Parts[0].Values)
	var x structured.Doubles
	x.Like(θ.Parts)
	value, doubly, singly := make([]float64, 1), 0.0, 0.0
	for range 2000 {
		for i, score := range []float64{20 + 100*r.Float64(), 0.2 * r.Float64()} {
			high := float32(score)
			θ.Parts[0].Values[i], rest.Parts[0].Values[i] = high, float32(score-float64(high))
		}
		for k := range x {
			for i, v := range θ.Parts[k].Values {
				x[k][i] = float64(v) + float64(rest.Parts[k].Values[i])
			}
		}
		doubly = max(doubly, oracletest.CheckDoubles(t, o, θ, rest, x))
		μ := 0.5 + r.Float64()
		o.Exp(θ, μ, value, nil)
		off := math.Abs(value[0] - (float64(θ.Parts[0].Values[1]) + μ*math.Ln2))
		singly = max(singly, off/oracles.Rounding(o, θ, 0, μ))
	}
	if !(doubly > 0.03) || !(singly > 0.03 && singly < 1) {
		t.Errorf("errors in float64 take at most %.2g of the bound, of scores in float32 %.2g", doubly, singly)
	}
}
