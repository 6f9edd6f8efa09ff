package selftest

import (
	"context"
	"math/rand/v2"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees"
)

// pairChecks check networks that score pairs of words: the built-in one, and one with the pair ops that the built-in
// one does not use.
func (g *rig) pairChecks() []Check {
	words, features := graph.Input{Vocab: []int{30, 5}}, graph.Input{Dim: 3}
	biaffine := nets.Config{Net: "biaffine", Channels: []int{6}, Embed: []int{4, 3}, Window: 3, ArcUnits: 5, LabelUnits: 4, Dropout: 0.2}
	return []Check{
		{"net biaffine, dropout", g.pairs(words, 7, func() (*nets.Net, error) {
			return nets.Make(biaffine, words, nets.Output{Labels: treeForm.Parts[1].Width, Form: treeForm})
		})},
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

// pairs draws sentences for a network of word pairs and compares it with the CPU's.
func (g *rig) pairs(input graph.Input, seed uint64, build func() (*nets.Net, error)) func(context.Context, *rand.Rand, *worst) (string, error) {
	return g.parts(seed, func(r *rand.Rand) (*nets.Net, *structured.Dataset, error) {
		net, err := build()
		return net, randomSentences(r, input, 3, 1, 0, 9, 2, g.pick(40, 5)), err
	})
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
