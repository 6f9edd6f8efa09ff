package selftest

import (
	"context"
	"math/rand/v2"
	"slices"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/cuda/device"
	cudanets "github.com/dsp-go/dsp/cuda/nets"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees"
)

// pairChecks check networks that score pairs of words: the built-in one, and one with the pair ops that the built-in one does not use.
func (g *rig) pairChecks() []Check {
	words, features := graph.Input{Vocab: []int{30, 5}}, graph.Input{Dim: 3}
	biaffine := nets.Config{Net: "biaffine", Channels: []int{6}, Embed: []int{4, 3}, Window: 3, ArcUnits: 5, LabelUnits: 4, Dropout: 0.2}
	return []Check{
		{"net biaffine, dropout", g.pairs(words, 7, func() (*nets.Net, error) { return nets.NewBiaffine(biaffine, words, treeForm) })},
		{"custom net: dependents and heads", g.pairs(features, 0, func() (*nets.Net, error) { return nets.Build(dependentsAndHeads, features) })},
	}
}

var treeForm = trees.SpanningTree{}.Form(3)

var dependentsAndHeads = graph.Spec{
	Name: "pairs", Form: treeForm,
	Params: []graph.Param{{Name: "in", Shape: []int{3, 4}}, {Name: "root", Shape: []int{4}}, {Name: "out", Shape: []int{4, 3}}},
	Parts: func(g *graph.Graph) ([]*gorgonia.Node, error) {
		x := must(gorgonia.Mul(g.Features(), g.Param("in")))
		both := must(gorgonia.Add(must(g.Dependents(x)), must(gorgonia.Tanh(must(g.Heads(x))))))
		return []*gorgonia.Node{must(g.Bilinear(x, x, g.Param("root"))), must(gorgonia.Mul(both, g.Param("out")))}, nil
	},
}

// pairs compares scores, pullback, push-forward and the linearised network with the CPU's, on two batches of sentences.
func (g *rig) pairs(input graph.Input, seed uint64, build func() (*nets.Net, error)) func(context.Context, *rand.Rand, *worst) (string, error) {
	return func(ctx context.Context, r *rand.Rand, w *worst) (string, error) {
		net, err := build()
		if err != nil {
			return "", err
		}
		data := randomSentences(r, input, 3, 1, 0, 9, 2, g.pick(40, 5))
		for _, examples := range [][]int{{3, 0, 1, 2, 5, 4}, {4, 1}} {
			if err := ctx.Err(); err != nil {
				return "", err
			}
			if err := g.pairBatch(r, w, net, data, examples, seed); err != nil {
				return "", err
			}
			if err := g.Sync(); err != nil {
				return "", err
			}
		}
		return "", nil
	}
}

// pairBatch does the comparison on one batch.
func (g *rig) pairBatch(r *rand.Rand, w *worst, net *nets.Net, set *structured.Dataset, examples []int, seed uint64) error {
	var batch structured.Batch
	batch.Reset(set, examples)
	data := resident.NewData(g.Device, set)
	defer data.Free()
	on := data.NewBatch(data.StepCapacity(data.All()))
	defer on.Free()
	on.Set(examples)
	on.SetSeed(seed)
	s := device.NewBLAS(g.Device, false)
	defer s.Close()
	e := cudanets.NewExecutor(g.Device, net, s)
	defer e.Free()
	if err := e.Reserve(on); err != nil {
		return err
	}
	at, from, direction := scaled(r, net.Dim(), 0.5), scaled(r, net.Dim(), 0.5), normals(r, net.Dim())
	v := &structured.Marginals{}
	v.Resize(&batch, net.Form())
	var θ, cotangent cudanets.Parts
	for k, part := range net.Form().Parts {
		values, size := v.Parts[k].Values, on.RowsOf(part.Rows)*part.Width
		copy(values, normals(r, len(values)))
		cotangent = append(cotangent, upload(g, slices.Concat(values, make([]float32, size-len(values)))))
		θ = append(θ, poisoned[float32](g, size))
	}
	same := func(what string, want *structured.Potentials) error {
		for k := range want.Parts {
			values := want.Parts[k].Values
			if err := w.nearScaled(what+" "+want.Parts[k].Name, download(g, θ[k])[:len(values)], values, single); err != nil {
				return err
			}
		}
		return nil
	}
	var want, push structured.Potentials
	worker, grad := net.NewNetWorker(), scaled(r, net.Dim(), 0.1)
	onGrad := upload(g, grad)
	if err := worker.ScoreDropout(at, seed, &batch, &want); err != nil {
		return err
	}
	if err := worker.Pullback(v, grad); err != nil {
		return err
	}
	if err := worker.PushForward(direction, &push); err != nil {
		return err
	}
	e.Score(upload(g, at), on, θ)
	if err := same("score", &want); err != nil {
		return err
	}
	e.PushForward(upload(g, direction), θ)
	if err := same("tangent", &push); err != nil {
		return err
	}
	e.Pullback(cotangent, onGrad)
	if err := w.nearScaled("gradient", download(g, onGrad), grad, single); err != nil {
		return err
	}
	model := nets.Linearise(net, from).NewLinearisedWorker()
	if err := model.ScoreDropout(at, seed, &batch, &want); err != nil {
		return err
	}
	linear := cudanets.NewLinearised(e)
	linear.MoveTo(upload(g, from))
	linear.Score(upload(g, at), on, θ)
	return same("linearised score", &want)
}

// randomSentences draws sentences of the given lengths, with the word-pair tables of trees.
func randomSentences(r *rand.Rand, input graph.Input, lengths ...int) *structured.Dataset {
	d := randomChains(r, input, netLabels, lengths...)
	d.Labels = nil
	offsets := []int{0}
	for i, n := range lengths {
		offsets = append(offsets, offsets[i]+n*n)
	}
	d.Tables = []*structured.Table{{Name: trees.ArcRows, Offsets: offsets}, {Name: trees.LabelRows, Offsets: offsets}}
	return d
}
