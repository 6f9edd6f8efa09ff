package constituent

import (
	"github.com/dsp-go/dsp/oracles/chart"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/constituents"
)

// Declare declares the derivations of trees of constituents (chart.Declare): the recurrence of Oracle.
func Declare(c *chart.Chart, θ *structured.Potentials, b int) {
	n, width := constituents.Words(θ.Outputs[b+1]-θ.Outputs[b]), θ.Parts[1].Width
	left, right, inside := c.Reserve(n*n), c.Reserve(n*n), c.Reserve(n*n)
	child := func(to, row, least int) {
		label := c.Cells(1)
		c.Sum(chart.Terms{
			Count: width - least, Weight: chart.Run{At: c.Part(1) + row*width + least, PerTerm: 1},
			Place: chart.At(row + 1), Number: chart.Run{At: least, PerTerm: 1},
		})
		c.Define(to, 1, 1)
		c.Sum(chart.Terms{Count: 1, Weight: chart.At(c.Part(0) + row), First: chart.At(inside + row), Then: chart.At(label)})
	}
	for w := range n {
		c.Define(inside+w, n+1, n-w)
		if w == 0 {
			c.Sum(chart.Terms{Count: 1})
		} else {
			c.Sum(chart.Terms{
				Count: w, First: chart.Run{At: left, PerCell: n + 1, PerTerm: 1},
				Then: chart.Run{At: right + n + w, PerCell: n + 1, PerTerm: n},
			})
		}
		for i := range n - w {
			row := i*n + i + w
			if w+1 < n {
				child(left+row, row, 0)
			}
			least := 1
			if w == 0 && n > 1 {
				least = 0
			}
			child(right+row, row, least) // the root, at last
		}
	}
}
