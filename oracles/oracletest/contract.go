// Package oracletest holds what every oracle of chains must satisfy, on the CPU and on devices: checks against the enumeration of
// all outputs of small instances, and of properties of large ones.
package oracletest

import (
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"pgregory.net/rapid"
)

var properties = []struct {
	name  string
	check func(t *rapid.T, o oracles.Oracle)
}{
	{"max is best of all", maxIsBestOfAll},
	{"top-K is best of all", topKIsBestOfAll},
	{"top-K of long chains", topKOfLongChains},
	{"top-K's order below float32", topKOrderBelowFloat32},
	{"exp is Gibbs", expIsGibbs},
	{"exp's marginals are its gradient", expMarginalsAreGradient},
	{"shift", shift},
	{"the batch does not matter", batchDoesNotMatter},
	{"smoothing bounds", smoothingBounds},
	{"top-K smoothing is exact", topKSmoothingIsExact},
	{"the mixture is the marginals", mixtureIsMarginals},
	{"n-best probabilities", nBestProbabilities},
}

// Run checks all that an oracle promises, as often as the flag -rapid.checks says.
func Run(t *testing.T, o oracles.Oracle) {
	for _, p := range properties {
		t.Run(p.name, rapid.MakeCheck(func(t *rapid.T) { p.check(t, o) }))
	}
	t.Run("exp where little is allowed", func(t *testing.T) { expWhereLittleIsAllowed(t, o) })
	t.Run("great sizes", func(t *testing.T) { greatSizes(t, o) })
}
