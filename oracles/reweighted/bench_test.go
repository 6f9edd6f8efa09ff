package reweighted

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
)

// BenchmarkGrid bounds a grid of 32×32 variables.
func BenchmarkGrid(b *testing.B) {
	for _, kind := range []graphs.Edges{graphs.Own, graphs.Potts} {
		for _, labels := range []int{2, 8, 21} {
			θ, o := drawGrid(rand.New(rand.NewPCG(1, 1)), kind, 32, 32, labels, 1, 1), New()
			y, value, u := make([]int32, 32*32), make([]float64, 1), new(structured.Marginals)
			b.Run(fmt.Sprintf("%v, Y=%d, max", kind, labels), func(b *testing.B) {
				for b.Loop() {
					o.Max(θ, y, value)
				}
				b.ReportMetric(1-θ.Score(0, y)/value[0], "relative-gap")
			})
			b.Run(fmt.Sprintf("%v, Y=%d, exp", kind, labels), func(b *testing.B) {
				for b.Loop() {
					o.Exp(θ, 1, value, u)
				}
				b.ReportMetric((value[0]-o.descent.point.value)/32/32, "gap-per-variable")
			})
		}
	}
}
