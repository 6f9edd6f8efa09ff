package traintest

import (
	"math/rand/v2"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// TypedGridProblem draws n grids of 3×3 variables with 3 labels. Labels of neighbours often agree, and features of
// variables tell the label with errors. Horizontal and vertical edges have a type each.
func TypedGridProblem(n int, by graphs.Inference, loss engine.Loss, s oracles.Smoothing, λ float64) *train.Problem {
	const side, labels = 3, 3
	r := rand.New(rand.NewPCG(6, uint64(n)))
	g := &structured.Graph{}
	for v := range int32(side * side) {
		if v%side+1 < side {
			g.Ends, g.Types = append(g.Ends, [2]int32{v, v + 1}), append(g.Types, 0)
		}
		if v+side < side*side {
			g.Ends, g.Types = append(g.Ends, [2]int32{v, v + side}), append(g.Types, 1)
		}
	}
	d := &structured.Dataset{Name: "grids", Offsets: []int{0}, Outputs: []int{0}, Dim: labels}
	for range n {
		last := int32(0)
		for range side * side {
			if r.IntN(3) == 0 {
				last = int32(r.IntN(labels))
			}
			d.Labels = append(d.Labels, last)
			for l := range int32(labels) {
				x := r.NormFloat64()
				if l == last {
					x++
				}
				d.Features = append(d.Features, float32(x))
			}
		}
		d.Offsets, d.Outputs = append(d.Offsets, len(d.Labels)), append(d.Outputs, len(d.Labels))
		d.Graphs = append(d.Graphs, g)
	}
	form := graphs.Pairwise{Edges: graphs.Typed, By: by}.Form(labels, 2)
	o := &engine.Objective{Scorer: &Linear{Inputs: labels, Structure: form}, Data: d, Loss: loss, Lambda: λ}
	return &train.Problem{Engine: engine.NewEngine(o, 2), Smoothing: s, Seed: 3}
}
