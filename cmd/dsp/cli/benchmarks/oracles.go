package benchmarks

import (
	"fmt"
	"math/rand/v2"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/chain"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/trees"
)

// chainMeasures measures every answer of the chain oracle, with 25 and with 128 labels.
func chainMeasures() []measure {
	const sequences, length = 64, 50
	var all []measure
	for _, labels := range []int{25, 128} {
		θ, each := randomChains(sequences, length, labels), float64(sequences*length*labels*labels)
		all = append(all, oracleMeasures(fmt.Sprintf("oracle, chain, %d labels", labels), chain.New(), θ, answerNames{
			max: "max", topK: "top-5", l2: "l2 smoothing, K=5", exp: "exp", samples: "10 samples", maxFlops: 2 * each, expFlops: 6 * each})...)
	}
	return all
}

// treeMeasures measures every answer of the tree oracles on sentences of 25 words, with 1 and with 50 relations.
func treeMeasures() []measure {
	const sentences, words = 64, 25
	var all []measure
	for _, relations := range []int{1, 50} {
		named := "1 relation"
		if relations > 1 {
			named = fmt.Sprintf("%d relations", relations)
		}
		for _, of := range []struct {
			structure trees.SpanningTree
			names     answerNames
		}{
			{trees.SpanningTree{}, answerNames{max: "max (Eisner)", topK: "top-5", exp: "exp (inside-outside)", samples: "10 samples"}},
			{trees.SpanningTree{NonProjective: true}, answerNames{max: "max (Chu-Liu-Edmonds)", topK: "top-5", exp: "exp (matrix-tree)", samples: "10 samples (Wilson)"}},
			{trees.SpanningTree{Siblings: true}, answerNames{max: "max (McDonald and Pereira)", topK: "top-5", exp: "exp (inside-outside)", samples: "10 samples"}},
		} {
			part := fmt.Sprintf("oracle, %s, %d words, %s", of.structure.Name(), words, named)
			θ := randomTrees(of.structure, sentences, words, relations)
			all = append(all, oracleMeasures(part, registry.Of(of.structure).Oracle(), θ, of.names)...)
		}
	}
	return all
}

// answerNames holds the name under which a table shows each answer of an oracle, and its floating-point operations per
// batch (0: not counted). An answer without a name is not measured; one with a name must be among the oracle's
// capabilities.
type answerNames struct {
	max, topK, l2, exp, samples string
	maxFlops, expFlops          float64
}

// oracleMeasures measures the answers of an oracle for a batch, on one thread.
func oracleMeasures(part string, o oracles.Maximiser, θ *structured.Potentials, names answerNames) []measure {
	y, value := make([]int32, θ.OutputSize()), make([]float64, θ.Len())
	var u structured.Marginals
	var best oracles.KBest
	var answer oracles.Answer
	l2 := oracles.Smoothing{Kind: oracles.L2, Mu: 1, K: 5}
	var all []measure
	add := func(what string, flops float64, run func()) {
		if what != "" {
			all = append(all, measure{part, what, θ.Len(), flops, func() error { run(); return nil }, θ})
		}
	}
	add(names.max, names.maxFlops, func() { o.Max(θ, y, value) })
	add(names.topK, 0, func() { o.(oracles.Ranker).TopK(θ, 5, &best) })
	add(names.l2, 0, func() { l2.Answer(o, θ, &answer, false) })
	seed, samples := make([]uint64, θ.Len()), oracles.Samples{}
	add(names.samples, 0, func() { o.(oracles.Sampler).Sample(θ, 1, 10, seed, &samples) })
	add(names.exp, names.expFlops, func() { o.(oracles.Summer).Exp(θ, 1, value, &u) })
	return all
}

// randomChains draws the potentials of a batch of chains of equal length.
func randomChains(sequences, length, labels int) *structured.Potentials {
	r := rand.New(rand.NewPCG(1, 1))
	θ, offsets := &structured.Potentials{}, make([]int, sequences+1)
	for b := range offsets {
		offsets[b] = b * length
	}
	chains.Resize(θ, offsets, labels, false)
	return drawNormal(θ, r)
}

// randomTrees draws the potentials of a batch of sentences of equal length.
func randomTrees(structure trees.SpanningTree, sentences, words, relations int) *structured.Potentials {
	θ, outputs, rows, siblings := &structured.Potentials{}, make([]int, sentences+1), make([]int, sentences+1), make([]int, sentences+1)
	for b := range outputs {
		outputs[b], rows[b], siblings[b] = 2*b*words, b*words*words, b*trees.Siblings(words)
	}
	θ.Reshape(structure.Form(relations), outputs, func(table string) []int {
		if table == trees.SiblingRows {
			return siblings
		}
		return rows
	})
	return drawNormal(θ, rand.New(rand.NewPCG(1, 1)))
}

// drawNormal draws every potential from the standard normal distribution.
func drawNormal(θ *structured.Potentials, r *rand.Rand) *structured.Potentials {
	for k := range θ.Parts {
		x := θ.Parts[k].Values
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
	}
	return θ
}
