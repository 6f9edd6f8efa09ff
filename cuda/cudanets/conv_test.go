package cudanets_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/cuda/cudanets"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// cells is a structure whose parts any network may score.
type cells struct{ structured.Structure }

func (cells) Name() string { return "cells" }

// convolved is a network with convolutions of the features and of what depends on parameters, both overwriting and
// accumulating.
func convolved(m graph.Map, f graph.Filter, out int) graph.Spec {
	to, err := f.Over(m, out)
	if err != nil {
		panic(err)
	}
	n := m.Len()
	return graph.Spec{
		Name: "convolved", Form: structured.Form{Structure: cells{},
			Parts: []structured.Shape{{Name: "cell", Rows: structured.Positions, Width: to.Len()}}},
		Params: []graph.Param{{Name: "weight", Shape: []int{f.Kernel * f.Kernel * m.Channels, out}},
			{Name: "bias", Shape: []int{out}}, {Name: "in", Shape: []int{n, n}}},
		Parts: func(g *graph.Graph) ([]*gorgonia.Node, error) {
			x := node(gorgonia.Tanh(node(gorgonia.Mul(g.Features(), g.Param("in")))))
			y := node(g.Conv(g.Features(), g.Param("weight"), g.Param("bias"), m, f))
			y = node(gorgonia.Add(y, node(g.Conv(x, g.Param("weight"), nil, m, f))))
			y = node(gorgonia.Add(y, node(g.Conv(node(gorgonia.Square(x)), node(gorgonia.Tanh(g.Param("weight"))), nil, m, f))))
			return []*gorgonia.Node{y}, nil
		},
	}
}

// Convolutions on the device equal the CPU's.
func TestConvolutionsEqualCPU(t *testing.T) {
	for _, o := range []struct {
		m   graph.Map
		f   graph.Filter
		out int
	}{
		{graph.Map{Height: 5, Width: 4, Channels: 3}, graph.Filter{Kernel: 3, Stride: 1, Padding: 1}, 2},
		{graph.Map{Height: 7, Width: 6, Channels: 2}, graph.Filter{Kernel: 3, Stride: 2, Padding: 1}, 3},
		{graph.Map{Height: 4, Width: 9, Channels: 1}, graph.Filter{Kernel: 2, Stride: 3}, 4},
		{graph.Map{Height: 2, Width: 1, Channels: 5}, graph.Filter{Kernel: 5, Stride: 1, Padding: 4}, 2},
		{graph.Map{Height: 3, Width: 3, Channels: 4}, graph.Filter{Kernel: 1, Stride: 1}, 3},
		{graph.Map{Height: 3, Width: 4, Channels: 2}, graph.Filter{Kernel: 1, Stride: 2}, 3},
	} {
		t.Run(fmt.Sprint(o), func(t *testing.T) {
			input := graph.Input{Dim: o.m.Len(), Map: o.m}
			net, err := nets.Build(convolved(o.m, o.f, o.out), input)
			cudatest.Must(t, err)
			data := cudatest.RandomData(rand.New(rand.NewPCG(3, 4)), input, 3, 3, 1, 0, 19, 2)
			checkParts(t, net, data, []int{3, 0, 2, 4}, resident.NewBatch(resident.NewData(cudatest.Device(t), data), 6, 40, 19))
		})
	}
}

// Chunks of maps give what all maps at once give.
func TestConvolutionInChunks(t *testing.T) {
	defer cudanets.SetColumnNumbers(cudanets.SetColumnNumbers(5 * 20 * 27))
	m, f := graph.Map{Height: 5, Width: 4, Channels: 3}, graph.Filter{Kernel: 3, Stride: 1, Padding: 1}
	input := graph.Input{Dim: m.Len(), Map: m}
	net, err := nets.Build(convolved(m, f, 2), input)
	cudatest.Must(t, err)
	data := cudatest.RandomData(rand.New(rand.NewPCG(3, 4)), input, 3, 3, 19)
	checkParts(t, net, data, []int{1, 0}, resident.NewBatch(resident.NewData(cudatest.Device(t), data), 2, 24, 19))
}

// checkParts compares the potentials, pullback, push-forward and linearised potentials of a batch of the examples with
// the CPU's.
func checkParts(t *testing.T, net *nets.Net, data *structured.Dataset, examples []int, on *resident.Batch) {
	t.Helper()
	const seed = 7
	d, rng := on.Data.Device, rand.New(rand.NewPCG(1, 2))
	var batch structured.Batch
	batch.Reset(data, examples)
	on.Set(examples)
	on.SetSeed(seed)
	w, w0, ẇ := cudatest.Vector(rng, net.Dim(), 0.5), cudatest.Vector(rng, net.Dim(), 0.5),
		cudatest.Vector(rng, net.Dim(), 1)
	v := new(structured.Marginals)
	v.Resize(&batch, net.Form())
	var θ, cotangent cudanets.Parts
	for k, part := range net.Form().Parts {
		values := v.Parts[k].Values
		copy(values, cudatest.Vector(rng, len(values), 1))
		padded := make([]float32, on.RowsOf(part.Rows)*part.Width)
		for i, x := range values {
			if part.Rows == structured.Tied {
				i %= part.Width
			}
			padded[i] += x
		}
		cotangent = append(cotangent, cudatest.Uploaded(d, padded))
		θ = append(θ, device.New[float32](d, len(padded), "potentials"))
	}
	same := func(what string, want *structured.Potentials) {
		t.Helper()
		for k := range want.Parts {
			values := want.Parts[k].Values
			cudatest.Near(t, what+" "+want.Parts[k].Name, cudatest.Downloaded(d, θ[k])[:len(values)], values, 1e-5)
		}
	}
	worker := net.NewNetWorker()
	var want, push structured.Potentials
	cudatest.Must(t, worker.ScoreDropout(w, seed, &batch, &want))
	grad := cudatest.Vector(rng, net.Dim(), 0.1)
	g := cudatest.Uploaded(d, grad)
	cudatest.Must(t, worker.Pullback(v, grad))
	cudatest.Must(t, worker.PushForward(ẇ, &push))

	e := cudanets.NewExecutor(d, net, device.NewBLAS(d, false))
	defer e.Free()
	cudatest.Must(t, e.Reserve(on))
	e.Score(cudatest.Uploaded(d, w), on, θ)
	same("score", &want)
	e.PushForward(cudatest.Uploaded(d, ẇ), θ)
	same("tangent", &push)
	e.Pullback(cotangent, g)
	cudatest.Near(t, "gradient", cudatest.Downloaded(d, g), grad, 1e-5)

	model := nets.Linearise(net, w0).NewLinearisedWorker()
	cudatest.Must(t, model.ScoreDropout(w, seed, &batch, &want))
	linear := cudanets.NewLinearised(e)
	linear.MoveTo(cudatest.Uploaded(d, w0))
	linear.Score(cudatest.Uploaded(d, w), on, θ)
	same("linearised", &want)
	cudatest.Must(t, d.Err())
}

// Convolutions over the cells of a grid on the device equal the CPU's.
func TestGridsEqualCPU(t *testing.T) {
	form := structured.Form{Structure: cells{},
		Parts: []structured.Shape{{Name: "cell", Rows: structured.Positions, Width: 2}}}
	input := graph.Input{Dim: 3, Grid: graph.Grid{Height: 3, Width: 5}}
	net, err := nets.Make(nets.Config{Net: "cnn", Channels: []int{4, 3}, Window: 3}, input, nets.Output{Form: form})
	cudatest.Must(t, err)
	data := cudatest.RandomData(rand.New(rand.NewPCG(3, 4)), input, 3, 15, 0, 15, 15)
	checkParts(t, net, data, []int{3, 1, 0}, resident.NewBatch(resident.NewData(cudatest.Device(t), data), 6, 40, 15))
}
