package tree

import (
	"github.com/dsp-go/dsp/oracles/chart"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees"
)

// Declare declares the derivations of projective trees, with or without siblings (chart.Declare): the recurrences of
// Siblings, over the same tables; without siblings, arc(h, d) is the score of h → d + sibling(h, d).
func Declare(c *chart.Chart, θ *structured.Potentials, b int) {
	n := (θ.Outputs[b+1] - θ.Outputs[b]) / 2
	score, siblings := scores(c, n, θ.Parts[1].Width), θ.Structure.(trees.SpanningTree).Siblings
	joint, arc, side := c.Reserve(n*n), c.Reserve(n*n), c.Reserve(n*n)
	c.Define(side, n+1, n)
	c.Sum(chart.Terms{Count: 1})
	// of spans (i, i+w)
	along := func(at, perTerm int) chart.Run { return chart.Run{At: at, PerCell: n + 1, PerTerm: perTerm} }
	for w := 1; w < n; w++ {
		c.Define(joint+w, n+1, n-w)
		c.Sum(chart.Terms{Count: w, First: along(side, 1), Then: along(side+w*n+1, 1)})
		if siblings {
			for i := range n - w {
				siblingArc(c, n, arc, joint, side, score, i, i+w)
				siblingArc(c, n, arc, joint, side, score, i+w, i)
			}
		} else {
			c.Define(arc+w, n+1, n-w)
			c.Sum(chart.Terms{Count: 1, First: along(joint+w, 0), Then: along(score+w*n, 0)})
			c.Define(arc+w*n, n+1, n-w)
			c.Sum(chart.Terms{Count: 1, First: along(joint+w, 0), Then: along(score+w, 0)})
		}
		c.Define(side+w, n+1, n-w)
		c.Sum(chart.Terms{Count: w, First: along(arc+1, 1), Then: along(side+n+w, n)})
		c.Define(side+w*n, n+1, n-w)
		c.Sum(chart.Terms{Count: w, First: along(arc+w*n, 1), Then: along(side, n)})
	}
	top := c.Cells(n)
	c.Sum(chart.Terms{Count: 1, First: chart.Run{At: side, PerCell: n}, Then: chart.Run{At: side + n - 1, PerCell: n}})
	c.Cells(1)
	c.Sum(chart.Terms{Count: n, First: chart.Run{At: top, PerTerm: 1}, Then: chart.Run{At: score, PerTerm: n + 1}})
}

// scores defines a cell for the score of each dependent with each head, ⊕ over their relations, and returns the first.
func scores(c *chart.Chart, n, relations int) (first int) {
	label, first := c.Reserve(n*n), c.Reserve(n*n)
	for d := range n {
		c.Define(label+d*n, 1, n)
		c.Sum(chart.Terms{
			Count: relations, Weight: chart.Run{At: c.Part(1) + d*n*relations, PerCell: relations, PerTerm: 1},
			Place: chart.At(n + d + 1), Number: chart.Run{PerTerm: 1},
		})
		heads := func(from, count int, number chart.Run) {
			c.Define(first+d*n+from, 1, count)
			c.Sum(chart.Terms{
				Count: 1, Weight: chart.Run{At: c.Part(0) + d*n + from, PerCell: 1},
				First: chart.Run{At: label + d*n + from, PerCell: 1}, Place: chart.At(d + 1), Number: number,
			})
		}
		heads(0, d, chart.Run{At: 1, PerCell: 1})
		heads(d, 1, chart.At(0)) // the root
		heads(d+1, n-d-1, chart.Run{At: d + 2, PerCell: 1})
	}
	return first
}

// siblingArc defines the cell of an arc from head h to dependent d, of tables whose cells (0,0) are given.
func siblingArc(c *chart.Chart, n, arc, joint, side, score, h, d int) {
	lo, between := min(h, d), max(h, d)-min(h, d)-1
	inner := lo + 1 // where the dependent's side towards the head ends
	if d < h {
		inner = h - 1
	}
	sibling := c.Part(2) + trees.SiblingRow(n, d, h)
	inside := c.Cells(1)
	c.Sum(chart.Terms{Count: 1, Weight: chart.At(sibling), First: chart.At(side + d*n + inner)})
	with := chart.Run{At: joint + (lo+1)*n + d, PerTerm: n}
	if d < h {
		with = chart.Run{At: joint + d*n + lo + 1, PerTerm: 1}
	}
	c.Sum(chart.Terms{
		Count: between, Weight: chart.Run{At: sibling + 1, PerTerm: 1}, First: chart.Run{At: arc + h*n + lo + 1, PerTerm: 1},
		Then: with,
	})
	c.Define(arc+h*n+d, 1, 1)
	c.Sum(chart.Terms{Count: 1, First: chart.At(inside), Then: chart.At(score + d*n + h)})
}
