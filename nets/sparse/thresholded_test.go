package sparse

import (
	"math"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// A thresholded scorer scores with the soft thresholds of the weights, scatters to the weights, and measures the norm
// of the thresholds.
func TestThresholded(t *testing.T) {
	const τ = 0.4
	eachSparse(t, func(t *testing.T) {
		allSparseCases(t, func(t *testing.T, c *sparseCase) {
			soft := make([]float32, len(c.w))
			for j, x := range c.w { // by the definition
				soft[j] = float32(math.Copysign(max(math.Abs(float64(x))-τ, 0), float64(x)))
			}
			keepFree := func(from []float32) {
				for _, r := range c.s.Unshrunk() {
					copy(soft[r[0]:r[1]], from[r[0]:r[1]])
				}
			}
			keepFree(c.w)
			s := c.s.Thresholded(τ)
			node, edge, _ := c.dense(soft)
			var θ structured.Potentials
			must(t, s.NewWorker().Score(c.w, &c.batch, &θ))
			near(t, "node", θ.Parts[0].Values, node)
			near(t, "edge", θ.Parts[1].Values, edge[:len(θ.Parts[1].Values)])

			want, got, norms := slices.Clone(c.w), slices.Clone(c.w), make([]float64, Stripes)
			c.s.Scatter(-0.7, &c.v, &c.batch, 0, Stripes, want, nil)
			s.Scatter(-0.7, &c.v, &c.batch, 0, Stripes, got, norms)
			if !slices.Equal(got, want) {
				t.Fatal("scattered weights differ from those of the plain scorer")
			}
			before := vec.Norm2(soft)
			vec.Soften(τ, got, soft)
			keepFree(got)
			change := 0.0
			for _, x := range norms {
				change += x
			}
			if after := vec.Norm2(soft); math.Abs(change-(after-before)) > 1e-6*(1+after+before) {
				t.Fatalf("norms sum to %g, want %g", change, after-before)
			}
			measured := slices.Clone(c.w)
			if got := s.Measure(-0.7, &c.v, &c.batch, measured, nil); math.Abs(got-change) > 1e-9*(1+math.Abs(change)) || !slices.Equal(measured, want) {
				t.Fatalf("Measure returns %g, want %g; or it leaves other weights than Scatter", got, change)
			}
		})
	})
}
