package tree_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles/chart"
	"github.com/dsp-go/dsp/oracles/tree"
	"github.com/dsp-go/dsp/structured/trees"
)

// The chart that trees declare has the best trees and the sums of the kernels.
func TestDeclarationIsTheKernels(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, form := range []trees.SpanningTree{{}, {Siblings: true}} {
		for _, n := range []int{1, 2, 3, 5, 7} {
			for _, relations := range []int{1, 3} {
				θ := sentences(form, n, 2, relations)
				for _, part := range θ.Parts {
					for k := range part.Values {
						part.Values[k] = float32(r.NormFloat64())
					}
				}
				kernels, declared := tree.New(false), chart.New(tree.Declare)
				if form.Siblings {
					kernels = tree.NewSiblings()
				}
				size := θ.Outputs[len(θ.Outputs)-1]
				y, z := make([]int32, size), make([]int32, size)
				best, want := make([]float64, 2), make([]float64, 2)
				kernels.Max(θ, y, want)
				declared.Max(θ, z, best)
				if !slices.Equal(y, z) || math.Abs(best[0]-want[0])+math.Abs(best[1]-want[1]) > 1e-4 {
					t.Errorf("%+v, %d words: %v worth %v, want %v worth %v", form, n, z, best, y, want)
				}
				kernels.Exp(θ, 1, want, nil)
				declared.Exp(θ, 1, best, nil)
				if math.Abs(best[0]-want[0])+math.Abs(best[1]-want[1]) > 1e-3 {
					t.Errorf("%+v, %d words: sums %v, want %v", form, n, best, want)
				}
			}
		}
	}
}
