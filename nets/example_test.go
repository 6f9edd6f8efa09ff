package nets_test

import (
	"fmt"
	"math"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/structured/trees"
)

// A custom network is a function that builds a Gorgonia graph: here one tanh layer over each position and its two
// neighbours, with one matrix of transition potentials.
func ExampleBuild() {
	const dim, hidden, labels = 2, 3, 2
	net, err := nets.Build(graph.Spec{
		Name: "mine",
		Params: []graph.Param{
			{Name: "W", Shape: []int{3 * dim, hidden}, Init: graph.Glorot},
			{Name: "V", Shape: []int{hidden, labels}, Init: graph.Glorot},
			{Name: "transition", Shape: []int{labels, labels}},
		},
		Build: func(g *graph.Graph) (node, edge *gorgonia.Node, err error) {
			x, err := g.Window(g.Features(), 3)
			if err != nil {
				return nil, nil, err
			}
			h, err := gorgonia.Mul(x, g.Param("W"))
			if err != nil {
				return nil, nil, err
			}
			if h, err = gorgonia.Tanh(h); err != nil {
				return nil, nil, err
			}
			node, err = gorgonia.Mul(h, g.Param("V"))
			return node, g.Param("transition"), err
		},
	}, graph.Input{Dim: dim})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(net.Layout(), "affine:", net.Affine())

	// Two chains of 2 and 1 positions.
	data := &structured.Dataset{Offsets: []int{0, 2, 3}, Dim: dim, Features: []float32{1, 0, 0, 1, 1, 1}}
	var batch structured.Batch
	batch.Reset(data, []int{0, 1})
	var θ structured.Potentials
	worker := net.NewNetWorker()
	if err := worker.Score(net.Init(1), &batch, &θ); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(θ.Parts[0].Values), "node potentials,", len(θ.Parts[1].Values), "edge potentials")

	// Jᵀv, here for v = 1_y of the first chain's labeling (0, 1).
	var v structured.Marginals
	v.Like(&θ)
	v.Clear()
	v.Add(0, []int32{0, 1}, 1)
	grad := make([]float32, net.Dim())
	if err := worker.Pullback(&v, grad); err != nil {
		fmt.Println(err)
		return
	}
	transition, _ := net.Layout().Find("transition")
	fmt.Println("gradient of the transitions:", transition.Of(grad))
	// Output:
	// W[6 3] V[3 2] transition[2 2] affine: false
	// 6 node potentials, 4 edge potentials
	// gradient of the transitions: [0 1 0 0]
}

// A custom network for a structure other than chains returns a node for each part of its potentials: here one bilinear
// form scores the arcs of dependency trees, and all relations score zero.
func ExampleBuild_parts() {
	const dim, units, relations = 2, 3, 4
	net, err := nets.Build(graph.Spec{
		Name: "arcs",
		Params: []graph.Param{
			{Name: "dependent", Shape: []int{dim, units}, Init: graph.Glorot},
			{Name: "head", Shape: []int{dim, units}, Init: graph.Glorot},
			{Name: "root", Shape: []int{units}},
		},
		Form: trees.SpanningTree{}.Form(relations),
		Parts: func(g *graph.Graph) ([]*gorgonia.Node, error) {
			d, err := gorgonia.Mul(g.Features(), g.Param("dependent"))
			if err != nil {
				return nil, err
			}
			h, err := gorgonia.Mul(g.Features(), g.Param("head"))
			if err != nil {
				return nil, err
			}
			arc, err := g.Bilinear(d, h, g.Param("root"))
			return []*gorgonia.Node{arc, nil}, err
		},
	}, graph.Input{Dim: dim})
	if err != nil {
		fmt.Println(err)
		return
	}
	// Sentences of 2 and 1 words have 4 and 1 pairs.
	pairs := []int{0, 4, 5}
	data := &structured.Dataset{
		Offsets: []int{0, 2, 3}, Outputs: []int{0, 4, 6}, Dim: dim, Features: []float32{1, 0, 0, 1, 1, 1},
		Tables: []*structured.Table{{Name: trees.ArcRows, Offsets: pairs}, {Name: trees.LabelRows, Offsets: pairs}},
	}
	var batch structured.Batch
	batch.Reset(data, []int{0, 1})
	var θ structured.Potentials
	if err := net.NewWorker().Score(net.Init(1), &batch, &θ); err != nil {
		fmt.Println(err)
		return
	}
	for _, part := range θ.Parts {
		fmt.Println(part.Name, len(part.Values))
	}
	// Output:
	// arc 5
	// label 20
}

// An op of the user's own is three Go functions on rows: here each row is divided by its length.
func ExampleGraph_Own() {
	length := func(x []float32) float32 { return float32(math.Sqrt(vec.Norm2(x))) + 1e-6 }
	project := func(x, y, v, to []float32) { // adds (v − ⟨v, y⟩ y)/‖x‖, the derivative along v, which is its own transpose
		n, along := length(x), float32(vec.Dot64(v, y))
		for j := range to {
			to[j] += (v[j] - along*y[j]) / n
		}
	}
	unit := graph.RowOp{
		Name: "unit length", Width: 2,
		Forward: func(x [][]float32, y []float32) {
			for j, v := range x[0] {
				y[j] = v / length(x[0])
			}
		},
		Pullback: func(x [][]float32, y, dy []float32, dx [][]float32) { project(x[0], y, dy, dx[0]) },
		Push:     func(x, dx [][]float32, y, dy []float32) { project(x[0], y, dx[0], dy) },
	}
	net, err := nets.Build(graph.Spec{
		Name:   "directions",
		Params: []graph.Param{{Name: "W", Shape: []int{2, 2}, Init: graph.Glorot}},
		Build: func(g *graph.Graph) (node, edge *gorgonia.Node, err error) {
			x, err := gorgonia.Mul(g.Features(), g.Param("W"))
			if err != nil {
				return nil, nil, err
			}
			node, err = g.Own(unit, x)
			return node, nil, err
		},
	}, graph.Input{Dim: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	data := &structured.Dataset{Offsets: []int{0, 2}, Dim: 2, Features: []float32{3, 4, 0, -2}}
	var batch structured.Batch
	batch.Reset(data, []int{0})
	var θ structured.Potentials
	if err := net.NewWorker().Score([]float32{1, 0, 0, 1}, &batch, &θ); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f\n", θ.Parts[0].Values)
	// Output:
	// [0.60 0.80 0.00 -1.00]
}
