package nets_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/structured"
)

// A step (forward and pullback) of 4096×300→200→25 in float32, by Gorgonia's TapeMachine, and by the program with each
// implementation of the matrix products.
func BenchmarkMLPStep(b *testing.B) {
	const rows, dim, labels = 4096, 300, 25
	input := graph.Input{Dim: dim}
	rng := rand.New(rand.NewPCG(1, 1))
	net := mustNew(b, nets.Config{Net: "mlp", Hidden: []int{200}, Activation: graph.Tanh, Edges: nets.EdgesNone}, input,
		labels)
	data := randomData(rng, input, labels, rows)
	w := net.Init(1)
	var batch structured.Batch
	batch.Reset(data, []int{0})
	v := randomMarginals(rng, &batch, net.Form())
	grad := make([]float32, net.Dim())

	b.Run("TapeMachine", func(b *testing.B) {
		f, err := graph.Differentiate(&tapeSpec, graph.Size{Rows: rows}, tensor.Float32, input, net.Layout())
		must(b, err)
		let := func(n *gorgonia.Node, xs []float32) {
			must(b, gorgonia.Let(n, tensor.New(tensor.WithShape(n.Shape()...), tensor.WithBacking(xs))))
		}
		let(f.Graph.Features(), data.Features)
		for name, n := range f.Params {
			a, _ := net.Layout().Find(name)
			let(n, a.Of(w))
		}
		for _, n := range f.Cotangents[:1] {
			let(n, v.Parts[0].Values)
		}
		vm := gorgonia.NewTapeMachine(f.Graph.ExprGraph)
		defer vm.Close()
		b.ReportAllocs()
		for b.Loop() {
			vm.Reset()
			must(b, vm.RunAll())
		}
	})
	for _, name := range []string{"own kernel, AVX-512", "own kernel, AVX2", "OpenBLAS", "gonum"} {
		b.Run("program/"+name, func(b *testing.B) {
			blas, err := kernels.FindBLAS(name)
			if err != nil {
				b.Skip(err)
			}
			p, err := net.Program(net.Size(&batch))
			must(b, err)
			m := graph.NewMachine(p, input)
			m.BLAS = blas
			m.Mem[graph.SpaceCotangent], m.Mem[graph.SpaceGradient] = v.Parts[0].Values, grad
			b.ReportAllocs()
			for b.Loop() {
				must(b, m.Load(p, input, w, &batch))
				m.Run(p.Forward)
				m.Run(p.Pullback)
			}
		})
	}
}

// tapeSpec is the same network in Gorgonia's own ops.
var tapeSpec = graph.Spec{Name: "mlp", Build: func(g *graph.Graph) (node, edge *gorgonia.Node, err error) {
	h, err := g.Dense(g.Features(), g.Param("hidden1.weight"), g.Param("hidden1.bias"))
	if err != nil {
		return nil, nil, err
	}
	if h, err = gorgonia.Tanh(h); err != nil {
		return nil, nil, err
	}
	node, err = g.Dense(h, g.Param("node.weight"), g.Param("node.bias"))
	return node, nil, err
}}

// A step of each preset on one chain, as stochastic methods take it, and on a large batch.
func BenchmarkPresetStep(b *testing.B) {
	for _, p := range []struct {
		name   string
		config nets.Config
		input  graph.Input
		labels int
	}{
		{"linear", nets.Config{Net: "linear"}, graph.Input{Dim: 300}, 25},
		{"mlp", nets.Config{Net: "mlp"}, graph.Input{Dim: 300}, 25},
		{"cnn", nets.Config{Net: "cnn"}, graph.Input{Dim: 100}, 25},
		{"cnn-image", nets.Config{Net: "cnn-image"}, graph.Input{Dim: 128}, 26},
		{"embed", nets.Config{Net: "embed"}, graph.Input{Vocab: []int{10000, 200}}, 21},
	} {
		for _, chains := range []int{1, 64} {
			b.Run(p.name+map[int]string{1: "/chain", 64: "/batch"}[chains], func(b *testing.B) {
				rng := rand.New(rand.NewPCG(1, 1))
				net := mustNew(b, p.config, p.input, p.labels)
				lengths := make([]int, chains)
				for i := range lengths {
					lengths[i] = 12
				}
				data := randomData(rng, p.input, p.labels, lengths...)
				w, grad := net.Init(1), make([]float32, net.Dim())
				worker := net.NewNetWorker()
				var batch structured.Batch
				batch.Reset(data, seq(chains))
				v := randomMarginals(rng, &batch, net.Form())
				var θ structured.Potentials
				must(b, worker.Score(w, &batch, &θ))
				b.ReportAllocs()
				for b.Loop() {
					must(b, worker.Score(w, &batch, &θ))
					must(b, worker.Pullback(v, grad))
				}
				b.ReportMetric(float64(12*chains*b.N)/b.Elapsed().Seconds(), "positions/s")
			})
		}
	}
}

// A step of the biaffine preset on 32 sentences of 25 words with 50 relations. Cotangents are nonzero for every pair,
// as for crf, or for few pairs, as for the hinge.
func BenchmarkBiaffineStep(b *testing.B) {
	const sentences, words, relations = 32, 25, 50
	for _, e := range []int{64, 128} {
		for _, sparse := range []bool{false, true} {
			name := map[bool]string{false: "/dense", true: "/sparse"}[sparse]
			b.Run(fmt.Sprint("E=", e, name), func(b *testing.B) {
				rng := rand.New(rand.NewPCG(1, 1))
				input := graph.Input{Vocab: []int{10000, 50}}
				net := mustBiaffine(b, nets.Config{Net: "biaffine", LabelUnits: e}, input, relations)
				data := withPairs(randomData(rng, input, 3, slices.Repeat([]int{words}, sentences)...))
				w, grad := net.Init(1), make([]float32, net.Dim())
				worker := net.NewNetWorker()
				var batch structured.Batch
				batch.Reset(data, seq(sentences))
				v := randomMarginals(rng, &batch, net.Form())
				if sparse {
					for k := range v.Parts {
						for i := range v.Parts[k].Values {
							if i%(words*v.Parts[k].Width/2) != 0 {
								v.Parts[k].Values[i] = 0
							}
						}
					}
				}
				var θ structured.Potentials
				must(b, worker.Score(w, &batch, &θ))
				b.ReportAllocs()
				var forward time.Duration
				for b.Loop() {
					start := time.Now()
					must(b, worker.Score(w, &batch, &θ))
					forward += time.Since(start)
					must(b, worker.Pullback(v, grad))
				}
				b.ReportMetric(float64(forward.Microseconds())/1000/float64(b.N), "forward-ms")
				b.ReportMetric(float64(sentences*b.N)/b.Elapsed().Seconds(), "sentences/s")
			})
		}
	}
}

// A step of networks with context on 8 sentences of 20 words.
func BenchmarkContextStep(b *testing.B) {
	const sentences, words, labels = 8, 20, 21
	for _, c := range []nets.Config{{Net: "embed"}, {Net: "rnn"}, {Net: "attention"}, {Net: "attention", Layers: 2},
		{Net: "attention", Window: 1}} {
		b.Run(fmt.Sprintf("%s, %d layers, window %d", c.Net, c.Layers, c.Window), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			input := graph.Input{Vocab: []int{10000, 200}}
			net := mustNew(b, c, input, labels)
			data := randomData(rng, input, labels, slices.Repeat([]int{words}, sentences)...)
			w, grad := net.Init(1), make([]float32, net.Dim())
			worker := net.NewNetWorker()
			var batch structured.Batch
			batch.Reset(data, seq(sentences))
			v := randomMarginals(rng, &batch, net.Form())
			var θ structured.Potentials
			must(b, worker.Score(w, &batch, &θ))
			b.ReportAllocs()
			var forward time.Duration
			for b.Loop() {
				start := time.Now()
				must(b, worker.Score(w, &batch, &θ))
				forward += time.Since(start)
				must(b, worker.Pullback(v, grad))
			}
			b.ReportMetric(float64(forward.Microseconds())/1000/float64(b.N), "forward-ms")
			b.ReportMetric(float64(sentences*b.N)/b.Elapsed().Seconds(), "sentences/s")
		})
	}
}

// A step of the rnn preset on 8 sentences of 20 words, with embeddings of 64 and 128 units in each direction.
func BenchmarkRecurrentStep(b *testing.B) {
	const sentences, words, labels = 8, 20, 17
	rng := rand.New(rand.NewPCG(1, 1))
	input := graph.Input{Vocab: []int{10000}}
	net := mustNew(b, nets.Config{Net: "rnn", Embed: []int{64}}, input, labels)
	w, grad := net.Init(1), make([]float32, net.Dim())
	worker := net.NewNetWorker()
	var batch structured.Batch
	batch.Reset(randomData(rng, input, labels, slices.Repeat([]int{words}, sentences)...), seq(sentences))
	v := randomMarginals(rng, &batch, net.Form())
	var θ structured.Potentials
	must(b, worker.Score(w, &batch, &θ))
	b.ReportAllocs()
	var forward time.Duration
	for b.Loop() {
		start := time.Now()
		must(b, worker.Score(w, &batch, &θ))
		forward += time.Since(start)
		must(b, worker.Pullback(v, grad))
	}
	b.ReportMetric(float64(forward.Microseconds())/float64(b.N), "forward-µs")
	b.ReportMetric(float64(sentences*words*b.N)/b.Elapsed().Seconds(), "positions/s")
}
