package cudaoracles

import "github.com/dsp-go/dsp/cuda/device"

// Declined tells which chains of the last call of Exp float32 did not hold.
func (o *Oracle) Declined(chains int) []int32 {
	x := make([]int32, chains)
	device.Download(o.d, x, o.exp.declined)
	return x
}

// Oracle returns the oracle that works on what the host's is given.
func (c *ChainOracle) Oracle() *Oracle { return c.o }
