package sdca

import (
	"context"

	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// Several ranks: each visits its own examples, in rounds. It stores what it knows of them where one process stores that
// of all.

// chunks returns the number of parts of a pass: rounds of several ranks, after each of which they exchange what they
// have changed, and in the first pass of a warm start the parts after which w moves on.
func (m *SDCA) chunks(p *train.Problem) int {
	if m.drop != nil {
		return warmChunks
	}
	return m.rounds.PerPass(p.Engine)
}

// Dual implements engine.DualBlock.
func (m *SDCA) Dual() ([]float32, []*float64) { return m.w, []*float64{&m.linear, &m.entropy} }

// keptBlock is a copy of the dual variables of some examples.
type keptBlock struct {
	numbers []float32
	entropy []float64
}

// Keep implements engine.DualBlock.
func (m *SDCA) Keep(examples []int, more bool) {
	k, from := &m.kept, m.memory
	if !more {
		k.numbers, k.entropy = k.numbers[:0], k.entropy[:0]
	}
	for _, i := range examples {
		k.numbers = append(from.u.Keep(i, from.φ.Keep(i, k.numbers)), from.step[i])
		k.entropy = append(k.entropy, from.entropy[i])
	}
}

// Restore implements engine.DualBlock.
func (m *SDCA) Restore(examples []int) {
	numbers, to := m.kept.numbers, m.memory
	for at, i := range examples {
		numbers = to.u.Restore(i, to.φ.Restore(i, numbers))
		to.step[i], numbers = numbers[0], numbers[1:]
		to.entropy[i] = m.kept.entropy[at]
	}
}

// tell tells other ranks all numbers of own examples but the dual variables themselves.
func (m *dualMemory) tell(ctx context.Context, p *train.Problem) error {
	if err := engine.AllGatherExamples(ctx, p.Engine, m.entropy); err != nil {
		return err
	}
	for _, x := range [][]float32{m.step, m.gap, m.age} {
		if err := engine.AllGatherExamples(ctx, p.Engine, x); err != nil {
			return err
		}
	}
	return nil
}

// Assemble implements train.Divided.
func (m *SDCA) Assemble(ctx context.Context, p *train.Problem) error {
	if err := p.AllGatherMarginals(ctx, &m.memory.φ.Marginals); err != nil {
		return err
	}
	return p.AllGatherMarginals(ctx, &m.memory.u.Marginals)
}
