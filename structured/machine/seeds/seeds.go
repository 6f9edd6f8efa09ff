// Package seeds has the seeds of tests that draw other cases in every run.
package seeds

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Draw returns another seed in every run, which a failure prints. DSP_SEED repeats it.
func Draw(t testing.TB) uint64 {
	t.Helper()
	seed, err := strconv.ParseUint(os.Getenv("DSP_SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64()
	}
	t.Logf("DSP_SEED=%d", seed)
	return seed
}

// Rand returns a generator with such a seed.
func Rand(t testing.TB) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(Draw(t), 1))
}
