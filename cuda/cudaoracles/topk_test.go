package cudaoracles_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/cuda/cudaoracles"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/chain"
)

func TestTopKAgreesWithCPU(t *testing.T) {
	o := cudaoracles.NewChainOracle(cudatest.Device(t))
	r := rand.New(rand.NewPCG(1, 2))
	for _, y := range []int{1, 2, 3, 31, 32, 33, 64, 100, 129} {
		for _, perPosition := range []bool{false, true} {
			for _, scale := range []float64{0, 1, 1e4} {
				for _, k := range []int{1, 2, 5, 40} {
					θ := drawChains(r, []int{7, 0, 1, 12, 2, 70}, y, perPosition, scale, 0.2)
					if scale == 0 {
						for i := range θ.Node {
							if θ.Node[i] != never {
								θ.Node[i] = float32(r.IntN(3))
							}
						}
					}
					checkTopK(t, o, θ, k, fmt.Sprintf("Y=%d per position %v scale %g K=%d", y, perPosition, scale, k))
				}
			}
		}
	}
}

// checkTopK compares the k best outputs with the CPU's.
func checkTopK(t *testing.T, o *cudaoracles.ChainOracle, θ *potentials, k int, name string) {
	t.Helper()
	var want, got oracles.KBest
	chain.NewPlain().TopK(θ.All, k, &want)
	o.TopK(θ.All, k, &got)
	cudatest.Must(t, o.Err())
	if !slices.Equal(want.Count, got.Count) {
		t.Fatalf("%s: counts %v, want %v", name, got.Count, want.Count)
	}
	for b := range θ.Len() {
		for i := range want.Count[b] {
			lo, hi := θ.Offsets[b], θ.Offsets[b+1]
			if g, w := got.Score[b*k+i], want.Score[b*k+i]; g != w {
				t.Fatalf("%s: chain %d score %d is %g, want %g", name, b, i, g, w)
			}
			if g, w := got.Output(i, lo, hi), want.Output(i, lo, hi); !slices.Equal(g, w) {
				t.Fatalf("%s: chain %d output %d is %v, want %v", name, b, i, g, w)
			}
		}
	}
}

// Chains of nearly the same length, whose lists are side by side in shared memory or, for many outputs, in the
// device's.
func TestTopKOfManyChains(t *testing.T) {
	o := cudaoracles.NewChainOracle(cudatest.Device(t))
	r := rand.New(rand.NewPCG(5, 6))
	for _, y := range []int{2, 9, 33, 120} {
		for _, k := range []int{6, 150} {
			θ := drawChains(r, []int{9, 9, 8, 9, 9, 7, 9, 9, 9}, y, y == 9, 1, 0.1)
			checkTopK(t, o, θ, k, fmt.Sprintf("Y=%d K=%d", y, k))
		}
	}
}

// With NaN or infinite potentials, labels stay in range.
func TestTopKOfNaN(t *testing.T) {
	d := cudatest.Device(t)
	o := cudaoracles.NewChainOracle(d)
	for _, y := range []int{2, 33} {
		for _, perPosition := range []bool{false, true} {
			for _, x := range []float32{float32(math.NaN()), float32(math.Inf(1)), never} {
				θ := drawChains(rand.New(rand.NewPCG(1, 2)), []int{130, 3}, y, perPosition, 1, 0)
				for i := range y {
					θ.Node[64*y+i] = x
				}
				var best oracles.KBest
				o.TopK(θ.All, 4, &best)
				cudatest.Must(t, d.Err())
				if best.Count[1] != 4 {
					t.Errorf("%d outputs of the chain without NaN", best.Count[1])
				}
				for k := range best.Count[0] {
					for _, l := range best.Output(k, 0, 130) {
						if l < 0 || int(l) >= y {
							t.Fatalf("Y=%d, per position %v, %g: label %d", y, perPosition, x, l)
						}
					}
				}
			}
		}
	}
}
