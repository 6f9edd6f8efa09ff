package chain

import (
	"github.com/dsp-go/dsp/oracles/chart"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// Declare declares the derivations of chains (chart.Declare): with a cell for each label y of a position t,
//
//	at_t(y) = node_t(y) + ⊕_{y'} at_{t−1}(y') + edge(y', y)
func Declare(c *chart.Chart, θ *structured.Potentials, b int) {
	n, y := θ.Outputs[b+1]-θ.Outputs[b], θ.Parts[0].Width
	edge, step := c.Part(1), 0
	if θ.Parts[1].Offsets != nil {
		step = y * y
	}
	at, each := 0, 0 // the empty cell is before the first position
	for t := range n {
		if t > 0 {
			from := chart.Terms{Count: y, Weight: chart.Run{At: edge + t*step, PerCell: 1, PerTerm: y}, First: chart.Run{At: at, PerTerm: 1}}
			at, each = c.Cells(y), 1
			c.Sum(from)
		}
		before := chart.Run{At: at, PerCell: each}
		at = c.Cells(y)
		c.Sum(labels(c.Part(0)+t*y, before, t))
	}
	c.Cells(1)
	c.Sum(chart.Terms{Count: y, First: chart.Run{At: at, PerTerm: 1}})
}

// labels is the one term of each label of a position, whose scores are from a weight on.
func labels(node int, before chart.Run, t int) chart.Terms {
	return chart.Terms{
		Count: 1, Weight: chart.Run{At: node, PerCell: 1}, First: before, Place: chart.At(t + 1), Number: chart.Run{PerCell: 1},
	}
}

// DeclareSecond declares the derivations of second-order chains. A cell stands for two labels in a row, which may
// follow each other:
//
//	at_t(i,j) = node_t(j) + edge(i,j) + ⊕_h at_{t−1}(h,i) + triple(h,i,j)
//
// Pairs are in the order of their second labels, so that those that end in a label are side by side.
func DeclareSecond(c *chart.Chart, θ *structured.Potentials, b int) {
	steps := θ.Structure.(chains.Second).Steps
	n, y := θ.Outputs[b+1]-θ.Outputs[b], steps.Labels
	var s states
	s.set(steps)
	into := func(j int32) (lo, hi int) { return s.into[j] - y, s.into[j+1] - y } // pairs that end in a label
	pairs := s.n - y
	at := c.Cells(y)
	c.Sum(labels(c.Part(0), chart.Run{}, 0))
	for t := 1; t < n; t++ {
		sum := c.Reserve(pairs)
		for p := range pairs {
			c.Define(sum+p, 1, 1)
			i := s.from[y+p]
			if t == 1 {
				c.Sum(chart.Terms{Count: 1, First: chart.At(at + int(i))})
				continue
			}
			for lo, hi := into(i); lo < hi; lo++ {
				weight := 0
				if triple := steps.Triple(s.pair[y+lo], s.label[y+p]); triple >= 0 {
					weight = c.Part(2) + triple
				}
				c.Sum(chart.Terms{Count: 1, Weight: chart.At(weight), First: chart.At(at + lo)})
			}
		}
		edges := c.Reserve(pairs)
		for p := range pairs {
			c.Define(edges+p, 1, 1)
			c.Sum(chart.Terms{Count: 1, Weight: chart.At(c.Part(1) + int(steps.Pairs[s.pair[y+p]])), First: chart.At(sum + p)})
		}
		at = c.Reserve(pairs)
		for j := range int32(y) {
			lo, hi := into(j)
			c.Define(at+lo, 1, hi-lo)
			c.Sum(chart.Terms{
				Count: 1, Weight: chart.At(c.Part(0) + t*y + int(j)), First: chart.Run{At: edges + lo, PerCell: 1},
				Place: chart.At(t + 1), Number: chart.At(int(j)),
			})
		}
	}
	if n > 1 {
		y = pairs
	}
	c.Cells(1)
	c.Sum(chart.Terms{Count: y, First: chart.Run{At: at, PerTerm: 1}})
}
