package kinds_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/kinds"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/choices"
)

// The output that is decoded by least risk has the least expected loss of all outputs, by enumeration.
func TestLeastRisk(t *testing.T) {
	for _, kind := range kinds.All {
		t.Run(kind.Name(), func(t *testing.T) {
			o, sums := kind.Oracle().(oracles.Summer)
			if !sums {
				t.Skip("no sums over outputs")
			}
			structure, loss := kind.Structure.(structured.RiskMinimiser), kind.TaskLoss()
			differs := 0
			for seed := range uint64(60) {
				r := rand.New(rand.NewPCG(seed, 5))
				θ := kind.Small(r)
				for k := range θ.Parts {
					for j := range θ.Parts[k].Values {
						θ.Parts[k].Values[j] = float32(r.NormFloat64())
					}
				}
				var u structured.Marginals
				var risk structured.Potentials
				y, best := make([]int32, θ.OutputSize()), make([]int32, θ.OutputSize())
				value, logZ := make([]float64, θ.Len()), make([]float64, θ.Len())
				o.Max(θ, best, value)
				o.Exp(θ, 1, logZ, &u)
				risk.Copy(θ)
				structure.LeastRisk(&u, &risk)
				o.Max(&risk, y, value)
				for b := range θ.Len() {
					lo, hi := θ.Outputs[b], θ.Outputs[b+1]
					var all [][]int32
					var p []float64
					kind.Each(θ, b, func(y []int32) {
						all, p = append(all, slices.Clone(y)), append(p, math.Exp(θ.Score(b, y)-logZ[b]))
					})
					if len(all) > 300 {
						continue
					}
					expected := func(y []int32) float64 {
						s := 0.0
						for k, gold := range all {
							s += p[k] * loss.Loss(y, structured.Gold{Output: gold})
						}
						return s
					}
					least := math.Inf(1)
					for _, y := range all {
						least = min(least, expected(y))
					}
					if got := expected(y[lo:hi]); got > least+1e-4 {
						t.Fatalf("seed %d: expected loss %g, the least is %g", seed, got, least)
					}
					if !slices.Equal(y[lo:hi], best[lo:hi]) {
						differs++
					}
				}
			}
			if _, one := kind.Structure.(choices.Choice); differs == 0 && !one { // of the 0/1 loss it is the best output
				t.Error("the best output always had the least risk: the test shows nothing")
			}
		})
	}
}
