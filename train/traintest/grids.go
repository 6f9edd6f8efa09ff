package traintest

import (
	"math"
	"math/rand/v2"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// grids draws n grids with two labels, of 1 to size rows and columns. A half plane has label 1, apart from wrong
// labels, and the features are noisy versions of the labels.
func grids(n, size, dim int, seed uint64) *structured.Dataset {
	r := rand.New(rand.NewPCG(seed, 6))
	edges := &structured.Table{Name: graphs.EdgeRows, Offsets: []int{0}}
	d := &structured.Dataset{Name: "grids", Offsets: []int{0}, Dim: dim, Alphabet: structured.NewAlphabet("a", "b"), Tables: []*structured.Table{edges}}
	for i := range n {
		height, width, g := 1+r.IntN(size), 1+r.IntN(size), &structured.Graph{}
		down, right, from := r.NormFloat64(), r.NormFloat64(), r.NormFloat64()
		for v := range height * width {
			if v%width > 0 {
				g.Ends = append(g.Ends, [2]int32{int32(v - 1), int32(v)})
			}
			if v >= width {
				g.Ends = append(g.Ends, [2]int32{int32(v - width), int32(v)})
			}
			label := int32(0)
			if down*float64(v/width)+right*float64(v%width) > from {
				label = 1
			}
			for range dim {
				d.Features = append(d.Features, float32(r.NormFloat64()+float64(label)-0.5))
			}
			if r.IntN(12) == 0 {
				label = 1 - label
			}
			d.Labels = append(d.Labels, label)
		}
		d.Graphs = append(d.Graphs, g)
		d.Offsets, edges.Offsets = append(d.Offsets, len(d.Labels)), append(edges.Offsets, edges.Offsets[i]+len(g.Ends))
	}
	return d
}

// gridNet scores Grids: node potentials x·W, and Potts potentials (1 + w) exp(−‖x_u − x_v‖²/dim) of edges between u and
// v. As long as w ≥ −1 all edges are submodular. Its weights are W by rows, then w.
type gridNet struct {
	Inputs int
	By     graphs.Inference
}

func (n gridNet) Dim() int { return 2*n.Inputs + 1 }

func (n gridNet) Form() structured.Form {
	return graphs.Pairwise{Edges: graphs.Potts, By: n.By}.Form(2, 0)
}

func (gridNet) Affine() bool { return true }

func (n gridNet) NewWorker() nets.Worker { return &gridWorker{net: n} }

type gridWorker struct {
	net   gridNet
	batch *structured.Batch
}

func (k *gridWorker) Score(w []float32, batch *structured.Batch, θ *structured.Potentials) error {
	k.batch = batch
	θ.Resize(batch, k.net.Form())
	clear(θ.Parts[0].Values)
	k.each(func(t int, x []float32) { mulAdd(θ.Parts[0].Values[2*t:2*t+2], x, w) }, func(e int, likeness float32) {
		θ.Parts[1].Values[e] = (1 + w[2*k.net.Inputs]) * likeness
	})
	return nil
}

func (k *gridWorker) Pullback(v *structured.Marginals, grad []float32) error {
	k.each(func(t int, x []float32) { outer(grad, x, v.Parts[0].Values[2*t:2*t+2]) }, func(e int, likeness float32) {
		grad[2*k.net.Inputs] += likeness * v.Parts[1].Values[e]
	})
	return nil
}

// each visits the nodes and edges of the batch.
func (k *gridWorker) each(node func(t int, x []float32), edge func(e int, likeness float32)) {
	t, e, data := 0, 0, k.batch.Data
	for _, i := range k.batch.Examples {
		x := data.Features[data.Offsets[i]*data.Dim : data.Offsets[i+1]*data.Dim]
		of := func(v int32) []float32 { return x[int(v)*data.Dim:][:data.Dim] }
		for v := range data.Offsets[i+1] - data.Offsets[i] {
			node(t, of(int32(v)))
			t++
		}
		for _, ends := range data.Graphs[i].Ends {
			square, other := 0.0, of(ends[1])
			for j, a := range of(ends[0]) {
				square += float64((a - other[j]) * (a - other[j]))
			}
			edge(e, float32(math.Exp(-square/float64(data.Dim))))
			e++
		}
	}
}

// GridProblem is a hinge problem on n grids.
func GridProblem(n int, by graphs.Inference, s oracles.Smoothing, λ float64) *train.Problem {
	o := &engine.Objective{Scorer: gridNet{Inputs: 3, By: by}, Data: grids(n, 5, 3, 2), Loss: engine.Hinge, Lambda: λ}
	return &train.Problem{Engine: engine.NewEngine(o, 1), Smoothing: s, Seed: 3}
}
