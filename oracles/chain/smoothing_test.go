package chain_test

import (
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/structured"
)

func TestKindNames(t *testing.T) {
	for _, k := range []oracles.Kind{oracles.None, oracles.L2, oracles.Entropy} {
		if got, err := oracles.ParseKind(k.String()); err != nil || got != k {
			t.Errorf("ParseKind(%q) = %v, %v", k, got, err)
		}
	}
	if _, err := oracles.ParseKind("l3"); !structured.IsBadInput(err) {
		t.Errorf("ParseKind of nonsense: %v", err)
	}
}

// Once scratch has grown to the batch, nothing allocates.
func TestAnswerAllocatesNothing(t *testing.T) {
	for _, perPosition := range []bool{false, true} {
		θ := oracletest.LongChain(rand.New(rand.NewPCG(5, 6)), 30, 12, perPosition)
		for _, s := range []oracles.Smoothing{{Kind: oracles.None}, {Kind: oracles.L2, Mu: 1, K: 3}, {Kind: oracles.L2, Mu: 50}, {Kind: oracles.Entropy, Mu: 1},
			{Kind: oracles.Entropy, Mu: 1e-3}} {
			o, a := oracles.New(), new(oracles.Answer)
			s.Answer(o, θ, a, true)
			if n := testing.AllocsPerRun(5, func() { s.Answer(o, θ, a, true) }); n != 0 {
				t.Errorf("%v, μ = %g, per position %v: %g allocations", s.Kind, s.Mu, perPosition, n)
			}
		}
	}
}
