package train

import (
	"math/rand/v2"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train/engine"
)

// Problem is the input of a method: an objective with its engine, the smoothing, and randomness that depends only on the seed
// and the pass, so that a run can resume at any pass.
type Problem struct {
	*engine.Engine
	Smoothing oracles.Smoothing // of the hinge's max; with Mu = 0 the method chooses μ
	Batch     int               // examples per step; 0 lets the method choose
	Seed      uint64
}

// Rand returns the source of randomness of a pass.
func (p *Problem) Rand(pass int) *rand.Rand {
	return rand.New(rand.NewPCG(p.Seed, uint64(pass)))
}

// BatchSize returns the number of examples per step, at most n; 1 if Batch is 0.
func (p *Problem) BatchSize() int { return min(max(1, p.Batch), p.Len()) }
