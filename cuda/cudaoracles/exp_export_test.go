package cudaoracles

import "github.com/dsp-go/dsp/cuda/device"

// Declined returns which chains of the last Exp call exceeded the range of float32.
func (o *Oracle) Declined(chains int) []int32 {
	x := make([]int32, chains)
	device.Download(o.d, x, o.exp.declined)
	return x
}

// Oracle returns the oracle that processes the uploaded potentials.
func (c *ChainOracle) Oracle() *Oracle { return c.o }

// SetBusyThreads sets how many threads of the kernels for declined chains run at once. It returns the number before.
func SetBusyThreads(n int) int {
	before := busyThreads
	busyThreads = n
	return before
}

// SetManyChains sets from how many chains on blocks share the reads of edges between many labels. It returns the number
// before.
func SetManyChains(n int) int {
	before := manyChains
	manyChains = n
	return before
}

// Err returns the device's error.
func (c *ChainOracle) Err() error { return c.d.Err() }
