package methods

import (
	"cmp"
	"context"
	"slices"

	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// BCFW and BCPFW on several ranks, each of which visits its own examples in engine.Rounds. The mean of the iterates
// includes those that all ranks have, at the end of each round.

// blocks returns how many rounds a pass has, and the examples that this process visits in it.
func (m *BCFW) blocks(p *train.Problem) (rounds int, own []int) {
	if rounds = m.rounds.PerPass(p.Engine); rounds > 1 && !m.Divide {
		return 1, p.All()
	}
	return rounds, p.Own()
}

// sweepBlock takes steps on own examples in the given order, in rounds.
func (m *BCFW) sweepBlock(ctx context.Context, p *train.Problem, rounds int, order []int, size int, averaging Averaging) error {
	for k := range rounds {
		now := order[len(order)*k/rounds : len(order)*(k+1)/rounds]
		if k > 0 {
			m.rounds.Continue()
		}
		err := m.rounds.Round(ctx, p.Engine, m.regulariser.Lambda, m.path.Threshold, m, func(σ float64, visit func([]int)) error {
			m.λ = m.regulariser.Lambda / σ
			visit(now)
			return m.path.Apart(func() error { return m.sweep(ctx, p, now, size, NoAverage) })
		})
		if err != nil {
			return err
		}
		m.include(averaging)
		if err := m.path.Finish(); err != nil {
			return err
		}
	}
	m.dual = dualValue(p, &m.regulariser, m.linear, m.path.W)
	return nil
}

// Dual implements engine.DualBlock.
func (m *BCFW) Dual() ([]float32, []*float64) { return m.path.W, []*float64{&m.linear} }

// Keep implements engine.DualBlock.
func (m *BCFW) Keep(examples []int, more bool) {
	if !more {
		m.memory.KeepRest()
		m.kept = m.kept[:0]
	}
	for _, i := range examples {
		m.kept = m.memory.Keep(i, m.kept)
	}
}

// Restore implements engine.DualBlock.
func (m *BCFW) Restore(examples []int) {
	kept := m.kept
	for _, i := range examples {
		kept = m.memory.Restore(i, kept)
	}
}

// Assemble implements train.Divided.
func (m *BCFW) Assemble(ctx context.Context, p *train.Problem) error {
	return p.AllGatherMemory(ctx, m.memory)
}

// sweepBlock makes visits to the next examples of its own, in rounds.
func (m *BCPFW) sweepBlock(ctx context.Context, p *train.Problem, rounds, visits int, next func() int) error {
	for k := range rounds {
		if k > 0 {
			m.rounds.Continue()
		}
		err := m.rounds.Round(ctx, p.Engine, m.regulariser.Lambda, m.path.Threshold, m, func(σ float64, visit func([]int)) error {
			m.λ = m.regulariser.Lambda / σ
			return m.path.Apart(func() error {
				for range visits*(k+1)/rounds - visits*k/rounds {
					i := next()
					visit([]int{i})
					if err := m.visit(ctx, p, i); err != nil {
						return err
					}
				}
				return nil
			})
		})
		if err != nil {
			return err
		}
		m.path.Include(1)
		if err := m.path.Finish(); err != nil {
			return err
		}
	}
	m.dual = dualValue(p, &m.regulariser, m.linear, m.path.W)
	return m.allGatherGaps(ctx, p)
}

// Dual implements engine.DualBlock.
func (m *BCPFW) Dual() ([]float32, []*float64) { return m.path.W, []*float64{&m.linear} }

// Keep implements engine.DualBlock.
func (m *BCPFW) Keep(examples []int, more bool) {
	if !more {
		m.kept = m.kept[:0]
	}
	for _, i := range examples {
		m.kept = append(m.kept, slices.Clone(m.active[i]))
	}
}

// Restore implements engine.DualBlock.
func (m *BCPFW) Restore(examples []int) {
	for k, i := range examples {
		m.active[i] = m.kept[k]
	}
}

// allGatherGaps tells other ranks the gaps and ages of own examples.
func (m *BCPFW) allGatherGaps(ctx context.Context, p *train.Problem) error {
	if err := engine.AllGatherExamples(ctx, p.Engine, m.gap); err != nil {
		return err
	}
	return engine.AllGatherExamples(ctx, p.Engine, m.age)
}

// allCalls returns how often the oracle was asked in this pass, on all ranks.
func (m *BCPFW) allCalls(ctx context.Context, p *train.Problem) (int, error) {
	switch {
	case !m.caches():
		return p.Len(), nil
	case m.rounds.PerPass(p.Engine) == 1:
		return m.calls, nil
	}
	all, err := engine.AllGatherNumbers(ctx, p.Engine, []int32{int32(m.calls)})
	if err != nil {
		return 0, err
	}
	total := 0
	for _, calls := range all {
		total += int(calls[0])
	}
	return total, nil
}

// Assemble implements train.Divided.
func (m *BCPFW) Assemble(ctx context.Context, p *train.Problem) error {
	var mine [][]activeOutput
	for _, i := range p.Own() {
		mine = append(mine, m.active[i])
	}
	all, err := allGatherActive(ctx, p.Engine, mine)
	if err != nil {
		return err
	}
	for rank, of := range all {
		for k, i := range p.OwnOf(rank) {
			m.active[i] = of[k]
		}
	}
	return nil
}

// allGatherActive returns the active outputs of some examples that each rank gives.
func allGatherActive(ctx context.Context, e *engine.Engine, mine [][]activeOutput) (all [][][]activeOutput, err error) {
	counts, lengths, labels, shares := packed(mine)
	allCounts, err1 := engine.AllGatherNumbers(ctx, e, counts)
	allLengths, err2 := engine.AllGatherNumbers(ctx, e, lengths)
	allLabels, err3 := engine.AllGatherNumbers(ctx, e, labels)
	allShares, err4 := engine.AllGatherNumbers(ctx, e, shares)
	if err := cmp.Or(err1, err2, err3, err4); err != nil {
		return nil, err
	}
	for rank := range allCounts {
		all = append(all, unpacked(allCounts[rank], allLengths[rank], allLabels[rank], allShares[rank]))
	}
	return all, nil
}
