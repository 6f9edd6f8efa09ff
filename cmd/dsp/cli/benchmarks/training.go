package benchmarks

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"

	"github.com/dsp-go/dsp/models/drawn/ocr"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train/engine"
)

// netMeasure measures forward and pullback of an mlp 300→200→25 on 4096 positions, on one thread.
func netMeasure() (measure, error) {
	const sequences, length, in, hidden, labels = 128, 32, 300, 200, 25
	data := &structured.Dataset{Name: "random", Dim: in, Offsets: make([]int, sequences+1)}
	for i := range data.Offsets {
		data.Offsets[i] = i * length
	}
	r := rand.New(rand.NewPCG(1, 1))
	data.Features = make([]float32, sequences*length*in)
	for i := range data.Features {
		data.Features[i] = float32(r.NormFloat64())
	}
	net, err := nets.New(nets.Config{Net: "mlp", Hidden: []int{hidden}}, graph.Input{Dim: in}, labels)
	if err != nil {
		return measure{}, err
	}
	var batch structured.Batch
	all := make([]int, sequences)
	for i := range all {
		all[i] = i
	}
	batch.Reset(data, all)
	w, grad := net.Init(1), make([]float32, net.Dim())
	worker, θ, v := net.NewWorker(), &structured.Potentials{}, &structured.Marginals{}
	step := func() error {
		if err := worker.Score(w, &batch, θ); err != nil {
			return err
		}
		v.Like(θ)
		copy(v.Parts[0].Values, θ.Parts[0].Values)
		return worker.Pullback(v, grad)
	}
	// Forward is one product per layer; backward is one for the weights of each layer and one for the hidden units.
	flops := 2. * sequences * length * (2*in*hidden + 3*hidden*labels)
	return measure{"net, " + kernels.CurrentBLAS().Name(), "mlp step", sequences, flops, step, nil}, nil
}

// passMeasure measures a full pass of the hinge, value and gradient, for the default network on drawn words, on all
// cores.
func passMeasure(ctx context.Context) (measure, error) {
	words := ocr.DefaultOCRWords()
	words.Dev, words.Test = 0, 0
	data, _, _ := words.Generate()
	net, err := nets.New(nets.Config{Net: "cnn-image"}, graph.Input{Dim: data.Dim}, data.Alphabet.Len())
	if err != nil {
		return measure{}, err
	}
	threads, w := runtime.GOMAXPROCS(0), net.Init(1)
	engine := engine.NewEngine(&engine.Objective{Scorer: net, Data: data, Loss: engine.Hinge}, threads)
	pass := func() error {
		_, err := engine.FullPass(ctx, w, oracles.Smoothing{}, nil)
		return err
	}
	return measure{"training", fmt.Sprintf("pass over drawn words, %d threads", threads), data.Len(), 0, pass, nil}, nil
}
