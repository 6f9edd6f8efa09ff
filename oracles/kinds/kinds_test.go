package kinds_test

import (
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles/kinds"
	"github.com/dsp-go/dsp/oracles/oracletest"
)

// Every structure that is registered, and the oracle that answers for it, keep the contract.
func TestContract(t *testing.T) {
	for _, k := range kinds.All {
		t.Run(k.Name(), func(t *testing.T) {
			t.Run("structure", func(t *testing.T) { oracletest.RunStructure(t, k) })
			t.Run("oracle", func(t *testing.T) { oracletest.Run(t, k, k.Oracle()) })
		})
	}
}

// Small examples are of their kind, and a kind is found by its structure, whose name no other has.
func TestOf(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range kinds.All {
		if seen[k.Name()] {
			t.Errorf("two kinds are called %s", k.Name())
		}
		seen[k.Name()] = true
		θ := k.Small(rand.New(rand.NewPCG(1, 2)))
		if got := kinds.Of(θ.Structure); got.Name() != k.Name() || θ.Structure.Name() != k.Name() || θ.Len() < 1 {
			t.Errorf("small examples of %s are of %s, found as %s", k.Name(), θ.Structure.Name(), got.Name())
		}
	}
}
