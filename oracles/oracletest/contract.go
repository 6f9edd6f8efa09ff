// Package oracletest holds what every structure and every oracle must satisfy, on the CPU and on devices: checks against the
// enumeration of all outputs of small instances, and for chains of properties of large ones.
package oracletest

import (
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/kinds"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"pgregory.net/rapid"
)

// Run checks all that an oracle of a kind promises, with the capabilities that it has, as often as the flag -rapid.checks says.
func Run(t *testing.T, kind kinds.Kind, o oracles.Maximiser) {
	run := func(name string, check func(t *rapid.T)) { t.Run(name, rapid.MakeCheck(check)) }
	run("max is best of all", func(t *rapid.T) { maxIsBestOfAll(t, kind, o) })
	run("the batch does not matter", func(t *rapid.T) { batchDoesNotMatter(t, kind, o) })
	run("smoothing bounds", func(t *rapid.T) { smoothingBounds(t, kind, o) })
	run("the mixture is the marginals", func(t *rapid.T) { mixtureIsMarginals(t, kind, o) })
	ranker, ranks := o.(oracles.Ranker)
	if ranks {
		run("top-K is best of all", func(t *rapid.T) { topKIsBestOfAll(t, kind, ranker) })
		run("top-K smoothing is exact", func(t *rapid.T) { topKSmoothingIsExact(t, kind, ranker) })
	}
	if s, ok := o.(oracles.Summer); ok {
		run("exp is Gibbs", func(t *rapid.T) { expIsGibbs(t, kind, s) })
		run("exp's marginals are its gradient", func(t *rapid.T) { expMarginalsAreGradient(t, kind, s) })
	}
	if all, ok := o.(oracles.Oracle); ok {
		run("n-best probabilities", func(t *rapid.T) { nBestProbabilities(t, kind, all) })
	}
}

// RunStructure checks all that a kind's structure promises.
func RunStructure(t *testing.T, kind kinds.Kind) {
	for _, p := range []struct {
		name  string
		check func(t *rapid.T, θ *structured.Potentials)
	}{
		{"scores are linear", scoresAreLinear},
		{"views and copies", viewsAndCopies},
		{"restrict leaves what agrees", restrictLeavesWhatAgrees},
		{"Hamming counts what is wrong", hammingCounts},
		{"raise", raise},
		{"number of outputs", numberOfOutputs},
	} {
		t.Run(p.name, rapid.MakeCheck(func(t *rapid.T) { p.check(t, drawPotentials(t, kind, anyNumbers)) }))
	}
}

// RunChains checks all that an oracle of chains promises: Run, and what is known of chains alone.
func RunChains(t *testing.T, o oracles.Oracle) {
	Run(t, kinds.Of(chains.Chain{}), o)
	for _, p := range []struct {
		name  string
		check func(t *rapid.T, o oracles.Oracle)
	}{
		{"max settles ties in order", maxSettlesTies},
		{"top-K's scores are exact", topKScoresAreExact},
		{"top-K of long chains", topKOfLongChains},
		{"top-K's order below float32", topKOrderBelowFloat32},
		{"shift", shift},
	} {
		t.Run(p.name, rapid.MakeCheck(func(t *rapid.T) { p.check(t, o) }))
	}
	t.Run("exp where little is allowed", func(t *testing.T) { expWhereLittleIsAllowed(t, o) })
	t.Run("great sizes", func(t *testing.T) { greatSizes(t, o) })
}
