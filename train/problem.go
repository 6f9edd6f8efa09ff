package train

import (
	"math/rand/v2"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train/engine"
)

// Problem is what a method gets to work on: an objective behind its engine, the smoothing to use, and randomness that
// depends only on the seed and the pass, so that a run can resume at any pass.
type Problem struct {
	*engine.Engine
	Smoothing oracles.Smoothing // of the hinge's max; Mu = 0 leaves the choice to the method
	Batch     int               // examples a step; 0 leaves the choice to the method
	Seed      uint64
}

// Rand returns the source of randomness of a pass.
func (p *Problem) Rand(pass int) *rand.Rand {
	return rand.New(rand.NewPCG(p.Seed, uint64(pass)))
}

// BatchSize returns the examples that a step takes, at most n; 1 where nothing was said.
func (p *Problem) BatchSize() int { return min(max(1, p.Batch), p.Len()) }
