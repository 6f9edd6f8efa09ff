package monotone

import (
	"github.com/dsp-go/dsp/oracles/chart"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/monotone"
)

// Declare declares the derivations of monotone alignments (chart.Declare): with a cell for each pair of a path,
//
//	at(i,j) = pair(i,j) + (at(i,j−1)  ⊕  at(i−1,j) + ↓(i)  ⊕  at(i−1,j−1) + ↘(i)),   at(0,0) = pair(0,0)
func Declare(c *chart.Chart, θ *structured.Potentials, b int) {
	n, m := monotone.Sizes(θ.Parts, b)
	at := c.Reserve(n * m)
	for i := range n {
		for j := range m {
			here := at + i*m + j
			before := c.Cells(1)
			if j > 0 {
				c.Sum(chart.Terms{Count: 1, First: chart.At(here - 1)})
			}
			if i > 0 {
				c.Sum(chart.Terms{Count: 1, Weight: chart.At(c.Part(1) + 2*i + monotone.Down), First: chart.At(here - m)})
			}
			if i > 0 && j > 0 {
				c.Sum(chart.Terms{Count: 1, Weight: chart.At(c.Part(1) + 2*i + monotone.Diagonal), First: chart.At(here - m - 1)})
			}
			first := chart.At(before)
			if i+j == 0 {
				first = chart.At(0)
			}
			c.Define(here, 1, 1)
			c.Sum(chart.Terms{
				Count: 1, Weight: chart.At(c.Part(0) + i*m + j), First: first, Place: chart.At(i + j + 1), Number: chart.At(i + 1),
			})
		}
	}
}
