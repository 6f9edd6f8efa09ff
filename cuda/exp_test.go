package cuda_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/cuda"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
)

var never = float32(math.Inf(-1))

// drawChains draws a batch: lengths, labels, the potentials' scale, and how much is forbidden.
func drawChains(r *rand.Rand, lengths []int, y int, perPosition bool, scale, forbidden float64) *structured.Potentials {
	offsets := []int{0}
	for _, n := range lengths {
		offsets = append(offsets, offsets[len(offsets)-1]+n)
	}
	θ := new(structured.Potentials)
	θ.Resize(offsets, y, perPosition)
	for _, x := range [][]float32{θ.Node, θ.Edge} {
		for i := range x {
			x[i] = float32(scale * r.NormFloat64())
			if r.Float64() < forbidden {
				x[i] = never
			}
		}
	}
	return θ
}

func checkClose(t *testing.T, what string, got, want []float32, tolerance float64) {
	t.Helper()
	for i := range want {
		if math.Abs(float64(got[i])-float64(want[i])) > tolerance*max(1, math.Abs(float64(want[i]))) || got[i] != got[i] {
			t.Fatalf("%s[%d] is %g, want %g", what, i, got[i], want[i])
		}
	}
}

func TestExpAgreesWithCPU(t *testing.T) {
	d := cudatest.Device(t)
	o, host := cuda.NewChainOracle(d), oracles.NewPlainChain()
	r := rand.New(rand.NewPCG(1, 2))
	for _, y := range []int{1, 2, 3, 31, 32, 33, 64, 100, 129} {
		for _, perPosition := range []bool{false, true} {
			for _, c := range []struct{ scale, μ, forbidden float64 }{{1, 1, 0}, {1, 0.3, 0.2}, {10, 0.01, 0}, {1e4, 1, 0.1}, {3, 100, 0}, {5, 1e-3, 0.3}} {
				θ := drawChains(r, []int{7, 0, 1, 12, 2}, y, perPosition, c.scale, c.forbidden)
				want, got := make([]float64, θ.Len()), make([]float64, θ.Len())
				var u, v structured.Marginals
				host.Exp(θ, c.μ, want, &u)
				o.Exp(θ, c.μ, got, &v)
				if err := d.Err(); err != nil {
					t.Fatal(err)
				}
				name := fmt.Sprintf("Y=%d per position %v %v", y, perPosition, c)
				for b := range want {
					if want[b] != got[b] && !(math.Abs(want[b]-got[b]) <= 1e-5*max(1, math.Abs(want[b]), c.μ)) {
						t.Fatalf("%s: value %g, want %g", name, got[b], want[b])
					}
				}
				checkClose(t, name+": node", v.Node, u.Node, 1e-5)
				checkClose(t, name+": edge", v.Edge, u.Edge, 1e-5)
			}
		}
	}
}
