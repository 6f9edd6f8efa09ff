package chain_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/chain"
	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/structured"
	"pgregory.net/rapid"
)

// The oracle of chains satisfies the contract with all kernels that this build and machine have.
func TestContract(t *testing.T) {
	for name, o := range chain.Every() {
		t.Run(name, func(t *testing.T) { oracletest.RunChains(t, o) })
	}
}

// Chains too large to enumerate, with potentials of all sizes, few or many of them forbidden: the probability methods
// agree with the log domain wherever they are used, and float32 is used wherever its range suffices.
func TestExpAgreesWithLogDomain(t *testing.T) {
	used := map[[2]bool]int{}
	for name, o := range chain.Every() {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) { checkProbabilities(t, o, rapid.Uint64().Draw(t, "seed")) }))
	}
	for seed := range uint64(30) { // seeds that need all three methods, which random ones may not
		used[checkProbabilities(t, chain.NewPlain(), seed)]++
	}
	t.Logf("float32 and float64 hold probabilities: %v times", used)
	for _, inRange := range [][2]bool{{true, true}, {false, true}, {false, false}} {
		if used[inRange] == 0 {
			t.Errorf("float32 and float64 hold probabilities: %v times", used)
		}
	}
}

// checkProbabilities reports whether float32 and float64 can represent the probabilities of the chain drawn from the
// seed.
func checkProbabilities(t oracletest.Failer, o oracles.Oracle, seed uint64) [2]bool {
	r := rand.New(rand.NewPCG(seed, 0))
	θ := oracletest.LongChain(r, 1+r.IntN(60), 1+r.IntN(40), r.IntN(2) == 0)
	factor, forbidden := float32(math.Exp(9*r.Float64()-4)), 0.9*max(0, r.Float64()-0.5)
	for k := range θ.Parts {
		x := θ.Parts[k].Values
		for i := range x {
			x[i] *= factor
			if r.Float64() < forbidden {
				x[i] = float32(math.Inf(-1))
			}
		}
	}
	value, u := make([]float64, 1), new(structured.Marginals)
	o.Exp(θ, 1, value, u)
	logZ, want, inRange := chain.LogDomain(θ)
	oracletest.Near(t, "value", value[0], logZ, 1e-6*max(10, math.Abs(logZ)))
	oracletest.NearMarginals(t, "marginal", u, want, 5e-5)
	return inRange
}
