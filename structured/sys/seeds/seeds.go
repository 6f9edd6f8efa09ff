// Package seeds has the seeds of tests that draw their cases.
package seeds

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Draw returns the seed of a test's cases: DSP_SEED, or 1 without it. make test-long looks for faults with a seed of
// its own. A failure prints the seed.
func Draw(t testing.TB) uint64 {
	t.Helper()
	seed, err := strconv.ParseUint(os.Getenv("DSP_SEED"), 10, 64)
	if err != nil {
		seed = 1
	}
	t.Logf("DSP_SEED=%d", seed)
	return seed
}

// Rand returns a generator with such a seed.
func Rand(t testing.TB) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(Draw(t), 1))
}
