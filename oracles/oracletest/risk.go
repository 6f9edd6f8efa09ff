package oracletest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/choices"
	"github.com/dsp-go/dsp/structured/transcripts"
)

// The output that is decoded by least risk has the least expected loss of all outputs, by enumeration.
func leastRisk(t *testing.T, kind registry.Kind, structure structured.RiskMinimiser) {
	o, loss := kind.Oracle(), kind.TaskLoss()
	differs := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 5))
		θ := kind.Small(r)
		for k := range θ.Parts {
			for j := range θ.Parts[k].Values {
				θ.Parts[k].Values[j] = float32(r.NormFloat64())
			}
		}
		var risk structured.Potentials
		y, best := make([]int32, θ.OutputSize()), make([]int32, θ.OutputSize())
		value := make([]float64, θ.Len())
		o.Max(θ, best, value)
		risk.Copy(θ)
		structure.LeastRisk(Gibbs(θ, 1), &risk)
		o.Max(&risk, y, value)
		for b := range θ.Len() {
			lo, hi := θ.Outputs[b], θ.Outputs[b+1]
			all := Enumerate(θ, b)
			if len(all) > 300 {
				continue
			}
			expected := func(y []int32) float64 {
				s, sum := 0.0, 0.0
				for _, gold := range all {
					s += math.Exp(gold.Score) * loss.Loss(y, structured.Gold{Output: gold.Values})
					sum += math.Exp(gold.Score)
				}
				return s / sum
			}
			least := math.Inf(1)
			for _, y := range all {
				least = min(least, expected(y.Values))
			}
			if got := expected(y[lo:hi]); got > least+1e-4 {
				t.Fatalf("seed %d: expected loss %g, the least is %g", seed, got, least)
			}
			if !slices.Equal(y[lo:hi], best[lo:hi]) {
				differs++
			}
		}
	}
	_, one := kind.Structure.(choices.Choice)       // the loss is 0/1: the best output has the least risk
	_, apart := kind.Structure.(transcripts.Frames) // labels of frames are independent: it has, too
	if differs == 0 && !one && !apart {
		t.Error("the best output always had the least risk: the test shows nothing")
	}
}
