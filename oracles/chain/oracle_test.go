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

// The oracle of chains, on every kind of vector that this build and machine have.
func TestContract(t *testing.T) {
	for name, o := range chain.Every() {
		t.Run(name, func(t *testing.T) { oracletest.RunChains(t, o) })
	}
}

// Chains too large to enumerate, with potentials of every size, few or many forbidden: probabilities agree with the log
// domain wherever they are used, and they are used where float32 holds them.
func TestExpOnProbabilitiesIsExpInLogDomain(t *testing.T) {
	used := map[[2]bool]int{}
	for name, o := range chain.Every() {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) { checkProbabilities(t, o, rapid.Uint64().Draw(t, "seed")) }))
	}
	for seed := range uint64(30) { // which are known to need all three ways, as random ones may not
		used[checkProbabilities(t, chain.NewPlain(), seed)]++
	}
	t.Logf("float32 and float64 hold probabilities: %v times", used)
	for _, held := range [][2]bool{{true, true}, {false, true}, {false, false}} {
		if used[held] == 0 {
			t.Errorf("float32 and float64 hold probabilities: %v times", used)
		}
	}
}

// checkProbabilities says whether float32 and float64 hold the probabilities of the chain drawn from the seed.
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
	logZ, want, held := chain.LogDomain(θ)
	oracletest.Near(t, "value", value[0], logZ, 1e-6*max(10, math.Abs(logZ)))
	oracletest.NearMarginals(t, "marginal", u, want, 5e-5)
	return held
}
