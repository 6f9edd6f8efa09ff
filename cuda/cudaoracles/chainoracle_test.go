package cudaoracles_test

import (
	"math"
	"testing"

	"github.com/dsp-go/dsp/cuda/cudaoracles"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/oracles/chain"
	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/structured"
)

// withinRange is the device's oracle on potentials within 4·10⁷ μ, the range that its Exp supports
// (cuda/devicecode/cudaoracles/gibbs.cuh), and the CPU's oracle on all others.
type withinRange struct {
	*cudaoracles.ChainOracle
	host *chain.Oracle
}

func (o withinRange) Exp(θ *structured.Potentials, μ float64, value []float64, u *structured.Marginals) {
	for _, part := range θ.Parts {
		for _, x := range part.Values {
			if size := math.Abs(float64(x)); size > 4e7*μ && !math.IsInf(size, 1) {
				o.host.Exp(θ, μ, value, u)
				return
			}
		}
	}
	o.ChainOracle.Exp(θ, μ, value, u)
}

// The device's oracle satisfies the same contract as the CPU's.
func TestContract(t *testing.T) {
	d := cudatest.Device(t)
	oracletest.RunChains(t, withinRange{cudaoracles.NewChainOracle(d), chain.New()})
	if err := d.Sync(); err != nil {
		t.Error(err)
	}
}
