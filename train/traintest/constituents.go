package traintest

import (
	"math/rand/v2"

	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/constituents"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// ConstituentProblem draws n trees of constituents with two labels over 1 to 6 words. A span has an attribute of its
// own length and one that mostly tells its label, or that it has none.
func ConstituentProblem(n int, loss engine.Loss, s oracles.Smoothing, λ float64) *train.Problem {
	const labels, attributes = 2, 10
	r := rand.New(rand.NewPCG(8, uint64(n)))
	d := &structured.Dataset{Name: "constituents", Offsets: []int{0}, Outputs: []int{0}}
	x := &structured.Sparse{Offsets: []int{0}}
	for range n {
		words := 1 + r.IntN(6)
		y := make([]int32, words*words)
		drawConstituents(r, y, words, 0, words-1, labels)
		for row, l := range y {
			if first, last := row/words, row%words; first <= last {
				if r.IntN(4) == 0 {
					l = int32(r.IntN(labels + 1))
				}
				x.Index = append(x.Index, int32(last-first), 6+l)
			}
			x.Offsets = append(x.Offsets, len(x.Index))
		}
		d.Labels = append(d.Labels, y...)
		d.Offsets, d.Outputs = append(d.Offsets, d.Positions()+words), append(d.Outputs, len(d.Labels))
	}
	d.Tables = []*structured.Table{
		{Name: constituents.SpanRows, Offsets: d.Outputs, Attributes: x}, {Name: constituents.LabelRows, Offsets: d.Outputs, Attributes: x},
	}
	scorer := sparse.New(constituents.Form(labels), []sparse.Part{{Attributes: attributes, Weights: "span"}, {Attributes: attributes, Weights: "label"}})
	o := &engine.Objective{Scorer: scorer, Data: d, Loss: loss, Lambda: λ}
	return &train.Problem{Engine: engine.NewEngine(o, 1), Smoothing: s, Seed: 3}
}

// drawConstituents draws a tree of words i to j, whose label it draws, too.
func drawConstituents(r *rand.Rand, y []int32, words, i, j, labels int) {
	y[i*words+j] = 1 + int32(r.IntN(labels))
	for first := i; first <= j; {
		last := first + r.IntN(j-first+1)
		if first == i && last == j {
			last = max(first, j-1)
		}
		if last > first {
			drawConstituents(r, y, words, first, last, labels)
		} else if i < j && r.IntN(2) == 0 {
			y[first*words+first] = 1 + int32(r.IntN(labels))
		}
		first = last + 1
	}
}
