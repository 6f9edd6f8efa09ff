// Package oracletest is the contract suite of structures and oracles, on the CPU and on devices: it checks them against
// the enumeration of all outputs of small instances, and checks properties of large chains.
package oracletest

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// Run checks the contract of an oracle of a kind, for all its capabilities, or that its answers are bounds if it is
// relaxed. The flag -rapid.checks sets the number of repetitions.
func Run(t *testing.T, kind registry.Kind, o oracles.Maximiser) {
	if r, ok := o.(oracles.Relaxed); ok && r.Relaxed() != "" {
		runRelaxed(t, kind, r)
		return
	}
	run := func(name string, check func(t *rapid.T)) { t.Run(name, rapid.MakeCheck(check)) }
	t.Run("extreme potentials", func(t *testing.T) { runExtremes(t, kind, o) })
	t.Run("large negative potentials forbid", func(t *testing.T) { masksForbid(t, kind, o) })
	t.Run("answers are reused", func(t *testing.T) { answersAreReused(t, kind, o) })
	run("errors are within Rounding", func(t *rapid.T) { errorsAreWithinRounding(t, kind, o) })
	run("max is the best output", func(t *rapid.T) { maxIsBestOfAll(t, kind, o) })
	run("independent of the batch", func(t *rapid.T) { batchDoesNotMatter(t, kind, o) })
	run("smoothing bounds", func(t *rapid.T) { smoothingBounds(t, kind, o) })
	run("the mixture is the marginals", func(t *rapid.T) { mixtureIsMarginals(t, kind, o) })
	ranker, ranks := o.(oracles.Ranker)
	if ranks {
		run("top-K are the best outputs", func(t *rapid.T) { topKIsBestOfAll(t, kind, ranker) })
		run("top-K smoothing is exact", func(t *rapid.T) { topKSmoothingIsExact(t, kind, ranker) })
	}
	if m, ok := o.(oracles.MaxMarginaler); ok {
		run("max-marginals are the best of some", func(t *rapid.T) { maxMarginalsAreBestOfSome(t, kind, m) })
		run("BMMF ranks by max-marginals", func(t *rapid.T) {
			topKIsBestOfAll(t, kind, &rankedByMaxMarginals{m, oracles.BMMF{Oracle: m}})
		})
	}
	if s, ok := o.(oracles.Summer); ok {
		run("exp is Gibbs", func(t *rapid.T) { expIsGibbs(t, kind, s) })
		run("exp's marginals are its gradient", func(t *rapid.T) { expMarginalsAreGradient(t, kind, s) })
	}
	if s, ok := o.(oracles.DoubleSummer); ok {
		run("sums in float64 are within their errors", func(t *rapid.T) { doublesAreWithinErrors(t, kind, s) })
	}
	if s, ok := o.(oracles.Sampler); ok {
		run("samples are Gibbs", func(t *rapid.T) { samplesAreGibbs(t, kind, s) })
	}
	if _, restricts := kind.Structure.(structured.Restricter); restricts {
		run("what is given is kept", func(t *rapid.T) { givenIsKept(t, kind, o) })
	}
	if all, ok := o.(oracles.Oracle); ok {
		run("n-best probabilities", func(t *rapid.T) { nBestProbabilities(t, kind, all) })
	}
}

// RunStructure checks the contract of a kind's structure.
func RunStructure(t *testing.T, kind registry.Kind) {
	run := func(name string, check func(t *rapid.T, θ *structured.Potentials)) {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) { check(t, drawPotentials(t, kind, anyNumbers)) }))
	}
	run("scores are linear", scoresAreLinear)
	run("views and copies", viewsAndCopies)
	run("the loss is added", lossIsAdded)
	run("number of outputs", numberOfOutputs)
	run("rows that outputs use", rowsAreUsed)
	if _, restricts := kind.Structure.(structured.Restricter); restricts {
		run("restrict keeps agreeing outputs", restrictKeepsAgreeing)
	}
	if _, locates := kind.Structure.(structured.Locator); locates {
		run("locates what is used", locatesWhatIsUsed)
	}
	if _, raises := kind.Structure.(structured.Raiser); raises {
		run("raise", raise)
	}
	if s, minimises := kind.Structure.(structured.RiskMinimiser); minimises {
		t.Run("least risk", func(t *testing.T) { leastRisk(t, kind, s) })
	}
	if _, sums := kind.Oracle().(oracles.Summer); sums {
		t.Run("sums come with Raise and LeastRisk", func(t *testing.T) {
			_, raises := kind.Structure.(structured.Raiser)
			_, minimises := kind.Structure.(structured.RiskMinimiser)
			if !raises || !minimises {
				t.Errorf("%s has sums: Raiser %v, RiskMinimiser %v", kind.Name(), raises, minimises)
			}
		})
	}
}

// RunStructures checks the contract of all registered structures of the package that s is of.
func RunStructures(t *testing.T, s structured.Structure) {
	of, found := reflect.TypeOf(s).PkgPath(), false
	for _, k := range registry.All {
		if reflect.TypeOf(k.Structure).PkgPath() == of {
			found = true
			t.Run(k.Name(), func(t *testing.T) { RunStructure(t, k) })
		}
	}
	if !found {
		t.Fatalf("no structure of %s is registered", of)
	}
}

// RunChains checks the contract of an oracle of chains: Run, and properties of chains only.
func RunChains(t *testing.T, o oracles.Oracle) {
	Run(t, registry.Of(chains.Chain{}), o)
	for _, p := range []struct {
		name  string
		check func(t *rapid.T, o oracles.Oracle)
	}{
		{"max breaks ties in order", maxBreaksTies},
		{"top-K's scores are exact", topKScoresAreExact},
		{"top-K of long chains", topKOfLongChains},
		{"top-K's order below float32", topKOrderBelowFloat32},
		{"shift", shift},
	} {
		t.Run(p.name, rapid.MakeCheck(func(t *rapid.T) { p.check(t, o) }))
	}
	t.Run("exp with few allowed outputs", func(t *testing.T) { expOfFewAllowed(t, o) })
	t.Run("large sizes", func(t *testing.T) { largeSizes(t, o) })
}
