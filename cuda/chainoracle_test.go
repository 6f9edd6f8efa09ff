package cuda_test

import (
	"testing"

	"github.com/dsp-go/dsp/cuda"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/oracles/oracletest"
)

// The device's oracle satisfies what the CPU's do.
func TestContract(t *testing.T) {
	d := cudatest.Device(t)
	oracletest.Run(t, cuda.NewChainOracle(d))
	if err := d.Sync(); err != nil {
		t.Error(err)
	}
}
