package engine

import (
	"context"
	"math"

	"github.com/dsp-go/dsp/oracles"
)

// local does an engine's work on the host's threads, in lanes.
type local struct{ *Engine }

func (e local) accelerator() Accelerator { return nil }
func (e local) sibling(o *Objective) (*Engine, error) {
	other := NewEngine(o, e.team.threads)
	other.group.Group = e.group.Group
	return other, nil
}
func (e local) moveTo([]float32) {}
func (e local) cutInto(int)      {} // lanes are parts already
func (e local) mostRanks() int   { return max(1, e.home.mostRanks()) }

func (e local) newMemory() (*Memory, error)       { return NewMemory(e.Objective), nil }
func (e local) attach(m *Memory) (*Memory, error) { return m.Attach(e.Objective), nil }
func (e local) fetch(*Memory) error               { return nil }

func (e local) toGold(m *Memory, γ float32) {
	m.scale(γ)
	m.addGold(1 - γ)
}

func (e local) remember(m *Memory, γ float32) {
	for _, found := range e.team.found[:e.last.shards] {
		m.remember(found, γ)
	}
}

func (e local) fullPass(ctx context.Context, w []float32, s oracles.Smoothing, memory *Memory, g []float64) (Sums, error) {
	e.prepareCentres()
	e.prepareLosses()
	sums, err := e.sumOverShards(ctx, e.layout.shards, g, true, func(ln *Lane) error {
		if err := e.precisely(ln, w); err != nil {
			return err
		}
		e.Ask(&ln.Shard, s, true)
		if memory != nil {
			memory.remember(ln.finding, 1)
		}
		e.Difference(&ln.Shard, nil)
		if err := e.measureCentre(ln); err != nil {
			return err
		}
		e.settleRows(&ln.Shard)
		e.roundAnswers(&ln.Shard, e.smoothing(s))
		return nil
	})
	if err == nil && memory != nil {
		err = e.exchangeMemory(ctx, memory)
	}
	return sums, err
}

func (e local) pullBack(ctx context.Context, w []float32, of DualPoint, g []float64) (Sums, error) {
	e.prepareCentres()
	e.prepareLosses()
	return e.sumOverShards(ctx, e.layout.shards, g, true, func(ln *Lane) error {
		if err := e.precisely(ln, w); err != nil {
			return err
		}
		of.Load(ln)
		ln.V.Copy(&ln.Answer.U)
		for b := range ln.Batch.Examples {
			e.subtractGold(&ln.Shard, &ln.V, b)
		}
		if p, ok := of.(RefinedPoint); ok {
			p.Refine(ln)
		}
		e.weigh(&ln.Shard, true)
		if err := e.measureCentre(ln); err != nil {
			return err
		}
		e.settleRows(&ln.Shard)
		e.roundMemory(&ln.Shard)
		if e.Loss == Quadratic { // of other losses, what is left out is an entropy, which is at least 0
			e.quadraticOfMemory(&ln.Shard)
		}
		for b, i := range ln.Batch.Examples { // the point's score is the gold output's plus Linear
			gold, _ := e.gold(&ln.Shard, b)
			ln.tally().Scores += 2 * e.Data.Weight(i) * math.Abs(gold)
		}
		return nil
	})
}

func (e local) value(ctx context.Context, w []float32, _ []int, shards [][]int) (Sums, error) {
	return e.values(ctx, w, shards, nil)
}

// values is value that calls found, unless that is nil, for each example with the output that the max oracle finds.
func (e local) values(ctx context.Context, w []float32, shards [][]int, found func(i int, output []int32)) (Sums, error) {
	e.prepareLosses()
	return e.overShards(ctx, shards, nil, func(ln *Lane) error {
		if err := e.precisely(ln, w); err != nil {
			return err
		}
		losses := e.Losses(&ln.Shard)
		ln.tally().Primal += losses
		for b, i := range ln.Batch.Examples {
			if found != nil {
				found(i, ln.Output[ln.Theta.Outputs[b]:ln.Theta.Outputs[b+1]])
			}
		}
		return nil
	})
}

func (e local) step(ctx context.Context, w Point, examples []int, s oracles.Smoothing, memory *Memory, dropout uint64) (Step, error) {
	return e.OverBatch(ctx, w, examples, memory != nil, func(ln *Lane) error {
		if err := e.query(ln, w, s, false, dropout); err != nil {
			return err
		}
		e.Difference(&ln.Shard, memory.points())
		return nil
	})
}

func (e local) change(ctx context.Context, from, to []float32, examples []int, s oracles.Smoothing) (Gradient, error) {
	st, err := e.OverBatch(ctx, At(to), examples, false, func(ln *Lane) error {
		if err := e.query(ln, At(from), s, false, 0); err != nil {
			return err
		}
		ln.KeepAnswer()
		if err := e.query(ln, At(to), s, false, 0); err != nil {
			return err
		}
		e.DifferenceOfAnswers(&ln.Shard)
		return nil
	})
	return st.Grad, err
}

func (e local) stepper(x *Path) stepper { return e.home.stepper(x) }

func (e local) unit() float64 { return Unit }
func (e local) precise() bool { return e.Engine.precise }

func (e local) scores(sums Sums, _ float64) float64 { return sums.Scores * (1 / float64(e.Len())) }
