package engine

import (
	"math"
	"testing"

	"github.com/dsp-go/dsp/oracles/chain"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// Recurrences in float64 over many positions carry scores of whole chains. Here the positions from the middle on have
// large potentials, alike for both labels, and those before it make the labels alike in the sum: one has many small
// ones, which all round to the same side, and one has them at once. Marginals, all ½, are off by much more than float32
// rounds them, and beyondFloat32 says by how much.
func TestMarginalsOfLongChains(t *testing.T) {
	for _, length := range []int{200, 2000, 20000} {
		for _, large := range []float32{1 << 17, 1 << 20, 1 << 24} {
			θ, u := &structured.Potentials{}, &structured.Marginals{}
			chains.Resize(θ, []int{0, length}, 2, false)
			node, edge := θ.Parts[0].Values, θ.Parts[1].Values
			clear(node)
			copy(edge, []float32{0, float32(math.Inf(-1)), float32(math.Inf(-1)), 0})
			half := length / 2
			for t := half; t < length; t++ {
				node[2*t], node[2*t+1] = large, large
			}
			sum := float64(half) * float64(large)
			small := float32(0.4 * (math.Nextafter(sum, 2*sum) - sum))
			for t := 1; t < half; t++ {
				node[2*t] = small
			}
			node[1] = float32(float64(half-1) * float64(small))
			chain.New().Exp(θ, 1, make([]float64, 1), u)
			s, off := measure(θ, 0, 1, nil), 0.0
			for _, x := range u.Parts[0].Values {
				off = max(off, math.Abs(2*float64(x)-1))
			}
			δ := s.beyondFloat32(length, 1)
			if off > δ+noise*Unit {
				t.Errorf("%d positions, potentials of %g: marginals are off by %.3g, expected at most %.3g beyond float32", length, large, off, δ)
			}
			t.Logf("%d positions, potentials of %g: off by %.3g of %.3g", length, large, off, δ)
		}
	}
}
