package monotone

import (
	"github.com/dsp-go/dsp/oracles/chart"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/monotone"
)

// Declare declares the derivations of monotone alignments (chart.Declare): with a cell for each pair of a path,
//
//	at(i,j) = pair(i,j) + (at(i,j−1)  ⊕  at(i−1,j) + ↓(i)  ⊕  at(i−1,j−1) + ↘(i)),   at(0,0) = pair(0,0)
//
// and the score of each move to a pair, where pairs have their own, by a cell between. Pairs with the same i+j do not
// depend on each other, and are declared together. Before the first items are cells without a derivation.
func Declare(c *chart.Chart, θ *structured.Potentials, b int) {
	n, m := monotone.Sizes(θ.Parts, b)
	own, width := len(θ.Parts) > 2, m+1
	at := c.Reserve((n + 1) * width)
	for d := range n + m - 1 {
		i := max(0, d-m+1)
		pairs, row, here := min(d, n-1)-i+1, i*m+d-i, at+(i+1)*width+d-i+1
		before := chart.At(0)
		if d > 0 {
			var from [monotone.Directions]chart.Run
			for by, back := range [...]int{monotone.Right: 1, monotone.Down: width, monotone.Diagonal: width + 1} {
				from[by] = chart.Run{At: here - back, PerCell: m}
				if own {
					move := chart.Run{At: c.Part(2) + row*monotone.Directions + by, PerCell: (m - 1) * monotone.Directions}
					from[by] = chart.Run{At: c.Add(pairs, from[by], move), PerCell: 1}
				}
			}
			before = chart.Run{At: c.Cells(pairs), PerCell: 1}
			c.Sum(chart.Terms{Count: 1, First: from[monotone.Right]})
			for by := monotone.Down; by <= monotone.Diagonal; by++ {
				step := chart.Run{At: c.Part(1) + 2*i + by, PerCell: 2}
				c.Sum(chart.Terms{Count: 1, Weight: step, First: from[by]})
			}
		}
		c.Define(here, m, pairs)
		c.Sum(chart.Terms{
			Count: 1, Weight: chart.Run{At: c.Part(0) + row, PerCell: m - 1}, First: before,
			Place: chart.At(d + 1), Number: chart.Run{At: i + 1, PerCell: 1},
		})
	}
}
