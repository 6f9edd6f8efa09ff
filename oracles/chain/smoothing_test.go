package chain_test

import (
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/chain"
	"github.com/dsp-go/dsp/oracles/oracletest"
)

// Answer does not allocate once scratch memory has grown to the batch.
func TestAnswerDoesNotAllocate(t *testing.T) {
	for _, perPosition := range []bool{false, true} {
		θ := oracletest.LongChain(rand.New(rand.NewPCG(5, 6)), 30, 12, perPosition)
		for _, s := range []oracles.Smoothing{{Kind: oracles.None}, {Kind: oracles.L2, Mu: 1, K: 3}, {Kind: oracles.L2, Mu: 50}, {Kind: oracles.Entropy, Mu: 1},
			{Kind: oracles.Entropy, Mu: 1e-3}} {
			o, a := chain.New(), new(oracles.Answer)
			s.Answer(o, θ, a, true)
			if n := testing.AllocsPerRun(5, func() { s.Answer(o, θ, a, true) }); n != 0 {
				t.Errorf("%v, μ = %g, per position %v: %g allocations", s.Kind, s.Mu, perPosition, n)
			}
		}
	}
}
