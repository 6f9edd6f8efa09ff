package chain_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles/chain"
	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// Max picks its path in float32. With real-valued potentials it may miss the best path, but by no more than the
// rounding of its recurrence, and the value is that of the path that it returns. Each position rounds twice, and the
// numbers grow over at most 64 positions before they are shifted back. These errors add up like a random walk, and the
// path that looks best is worth at least the best one minus the errors of both.
func TestMaxOfRealNumbers(t *testing.T) {
	const unit = 1. / (1 << 24)
	for name, o := range chain.Every() {
		t.Run(name, func(t *testing.T) {
			missed := 0
			for seed := range uint64(60) {
				r := rand.New(rand.NewPCG(seed, 9))
				length, y := 1+r.IntN([]int{20, 300, 3000}[seed%3]), 1+r.IntN(12)
				θ := oracletest.LongChain(r, length, y, r.IntN(2) == 0)
				scale, spread, largest := math.Exp(6*r.Float64()-3), math.Exp(-12*r.Float64()), 0.0
				for k := range θ.Parts {
					x := θ.Parts[k].Values
					common := 1.0 // added to all labels of a position: outputs nearly tie if the spread is small
					for i := range x {
						if k == 0 && i%y == 0 {
							common = r.NormFloat64()
						}
						x[i] = float32(scale * (common + spread*r.NormFloat64()))
						largest = max(largest, math.Abs(float64(x[i])))
					}
				}
				labels, value := make([]int32, length), make([]float64, 1)
				o.Max(θ, labels, value)
				oracletest.Near(t, "score of the path", θ.Score(0, labels), value[0], 0)
				best := doubleMax(θ)
				bound := 4 * unit * math.Sqrt(float64(length)) * 2 * largest * float64(min(length, 64)+2)
				if !(value[0] <= best+1e-12*math.Abs(best) && value[0] >= best-bound) {
					t.Fatalf("seed %d, %d positions, %d labels: %.17g, in float64 %.17g, rounding explains %g", seed, length, y, value[0], best, bound)
				}
				if value[0] < best-1e-12*math.Abs(best) {
					missed++
				}
			}
			if missed == 0 {
				t.Error("Max missed no path: the test shows nothing")
			}
		})
	}
}

// doubleMax returns the score of the best output of a batch of one chain, by the same recurrence in float64.
func doubleMax(potentials *structured.Potentials) float64 {
	θ := chains.Of(potentials)
	y := θ.Y
	last := make([]float64, y)
	for j := range y {
		last[j] = float64(θ.Node[j])
	}
	for t := 1; t < θ.Positions(); t++ {
		edge, next := θ.EdgeAt(t), make([]float64, y)
		for j := range y {
			next[j] = math.Inf(-1)
			for i := range y {
				next[j] = max(next[j], last[i]+float64(edge[i*y+j]))
			}
			next[j] += float64(θ.Node[t*y+j])
		}
		last = next
	}
	best := math.Inf(-1)
	for _, x := range last {
		best = max(best, x)
	}
	return best
}
