package train

import (
	"math/rand/v2"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train/engine"
)

// Problem is the input of a method: an objective with its engine, the smoothing, and randomness that depends only on
// the seed and the pass, so that a run can resume at any pass.
type Problem struct {
	*engine.Engine
	Smoothing oracles.Smoothing // of the hinge's max; with Mu = 0 the method chooses μ
	Batch     int               // examples per step; 0 lets the method choose
	Tokens    int               // positions per step, or their pieces if an encoder reads these; 0: Batch says how large a step is
	Seed      uint64
}

// Rand returns the source of randomness of a pass.
func (p *Problem) Rand(pass int) *rand.Rand {
	return rand.New(rand.NewPCG(p.Seed, uint64(pass)))
}

// BatchSize returns the number of examples per step, at most n; 1 if Batch is 0.
func (p *Problem) BatchSize() int { return min(max(1, p.Batch), p.Len()) }

// Steps returns the number of steps in a pass.
func (p *Problem) Steps() int { return p.StepsOf(p.All()) }

// StepsOf returns the number of steps in a pass over some examples.
func (p *Problem) StepsOf(examples []int) int {
	size, all := p.BatchSize(), len(examples)
	if p.Tokens > 0 {
		size, all = p.Tokens, 0
		for _, i := range examples {
			all += p.tokens(i)
		}
	}
	return min((all+size-1)/size, len(examples))
}

// Batches cuts the examples in an order into Steps batches of a pass, none of them empty. With Tokens, an example is in
// the batch in which it begins, so that a batch has about as many.
func (p *Problem) Batches(order []int) [][]int {
	batches := make([][]int, p.Steps())
	at, last := 0, -1
	for k, i := range order {
		b := k / p.BatchSize()
		if p.Tokens > 0 {
			left := len(order) - k // at least as many examples as batches behind this one have to stay
			b = min(last+1, max(last, at/p.Tokens, len(batches)-left), len(batches)-1)
			last = b
			at += p.tokens(i)
		}
		batches[b] = append(batches[b], i)
	}
	return batches
}

// tokens returns the number of positions of an example, or of pieces.
func (p *Problem) tokens(i int) int {
	if pieces := p.Data.Pieces; pieces != nil {
		return pieces.Offsets[pieces.First[i+1]] - pieces.Offsets[pieces.First[i]]
	}
	return p.Data.Length(i)
}
