package segment

import (
	"github.com/dsp-go/dsp/oracles/chart"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/segments"
)

// Declare declares the derivations of segments (chart.Declare), from the first position to the last. Cells have a label
// y, and those of a segment the number l of its positions so far:
//
//	before_t(y) = ⊕_{y'} after_{t−1}(y') + transition_t(y', y),   before_0(y) = 0
//	open_t(1,y) = before_t(y) + node_t(begin y)
//	open_t(l,y) = open_{t−1}(l−1, y) + node_t(continue y)
//	after_t(y)  = ⊕_l open_t(l,y) + length(l,y) + segment_t(l,y), and end_t(y)
func Declare(c *chart.Chart, θ *structured.Potentials, b int) {
	s, n := segments.ShapeOf(θ.Parts), θ.Outputs[b+1]-θ.Outputs[b]
	longer := s.Labels - s.Tags%2 // labels whose segments may have several positions: the first ones
	node, length, transition := c.Part(0), c.Part(1), c.Part(2)
	// Where open_t(l,y) is, from the cell of l = 1 and y = 0.
	row := func(l int) int { return s.Labels*min(l-1, 1) + longer*max(l-2, 0) }
	each := 0
	if s.PerPosition {
		each = s.Labels * s.Labels
	}
	before, open := 0, 0 // cells before_t(0), and open_{t−1}(1,0)
	for t := range n {
		here, longest := node+t*s.Tags, min(s.Longest, t+1)
		first := c.Cells(s.Labels)
		step := 0
		if t > 0 {
			step = 1
		}
		tag := chart.Terms{Count: 1, Weight: chart.Run{At: here, PerCell: 2}, First: chart.Run{At: before, PerCell: step}}
		tag.Place, tag.Number = chart.At(t+1), chart.Run{PerCell: 2}
		c.Sum(tag)
		for l := 2; l <= longest; l++ {
			c.Cells(longer)
			tag.Weight.At, tag.Number.At, tag.First = here+1, 1, chart.Run{At: open + row(l-1), PerCell: 1}
			c.Sum(tag)
		}
		open = first
		closing := open
		if s.Whole > 0 {
			closing = c.Reserve(row(longest + 1))
			for l := 1; l <= longest; l++ {
				labels := longer
				if l == 1 {
					labels = s.Labels
				}
				c.Define(closing+row(l), 1, labels)
				at := c.Part(s.Whole) + segments.Row(t, l, s.Longest)*s.Labels
				c.Sum(chart.Terms{Count: 1, Weight: chart.Run{At: at, PerCell: 1}, First: chart.Run{At: open + row(l), PerCell: 1}})
			}
		}
		after := c.Reserve(s.Labels)
		for y := range s.Labels {
			c.Define(after+y, 1, 1)
			c.Sum(chart.Terms{Count: 1, Weight: chart.At(length + y), First: chart.At(closing + y)})
			if y < longer {
				c.Sum(chart.Terms{
					Count: longest - 1, Weight: chart.Run{At: length + s.Labels + y, PerTerm: s.Labels},
					First: chart.Run{At: closing + row(2) + y, PerTerm: longer},
				})
			}
		}
		if s.End > 0 {
			after = c.Add(s.Labels, chart.Run{At: after, PerCell: 1}, chart.Run{At: c.Part(s.End) + t*s.Labels, PerCell: 1})
		}
		if t+1 == n {
			c.Cells(1)
			c.Sum(chart.Terms{Count: s.Labels, First: chart.Run{At: after, PerTerm: 1}})
			return
		}
		before = c.Cells(s.Labels)
		c.Sum(chart.Terms{
			Count: s.Labels, Weight: chart.Run{At: transition + (t+1)*each, PerCell: 1, PerTerm: s.Labels},
			First: chart.Run{At: after, PerTerm: 1},
		})
	}
}
