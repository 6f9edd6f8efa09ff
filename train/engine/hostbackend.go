package engine

import (
	"context"
	"math"

	"github.com/dsp-go/dsp/oracles"
)

// hostBackend does an engine's work on the host's threads, in lanes.
type hostBackend struct{ *Engine }

func (e hostBackend) accelerator() Accelerator { return nil }
func (e hostBackend) sibling(o *Objective) (*Engine, error) {
	other := NewEngine(o, e.team.threads)
	other.group.Group = e.group.Group
	return other, nil
}
func (e hostBackend) moveTo([]float32) {}
func (e hostBackend) cutInto(int)      {} // lanes are parts already
func (e hostBackend) mostRanks() int   { return max(1, e.access.mostRanks()) }

func (e hostBackend) newMemory() (*Memory, error)       { return NewMemory(e.Objective), nil }
func (e hostBackend) attach(m *Memory) (*Memory, error) { return m.Attach(e.Objective), nil }
func (e hostBackend) fetch(*Memory) error               { return nil }

func (e hostBackend) toGold(m *Memory, γ float32) {
	m.scale(γ)
	m.addGold(1 - γ)
}

func (e hostBackend) remember(m *Memory, γ float32) {
	for _, found := range e.team.results[:e.last.shards] {
		m.remember(found, γ)
	}
}

func (e hostBackend) fullPass(ctx context.Context, w []float32, s oracles.Smoothing, memory *Memory, g []float64) (Sums, error) {
	e.prepareCentres()
	e.prepareLosses()
	sums, err := e.sumOverShards(ctx, e.layout.shards, g, true, func(ln *Lane) error {
		if err := e.precisely(ln, w); err != nil {
			return err
		}
		e.Ask(&ln.Shard, s, true)
		if memory != nil {
			memory.remember(ln.shardResult, 1)
		}
		e.Difference(&ln.Shard, nil)
		if err := e.measureCentre(ln); err != nil {
			return err
		}
		e.balanceRows(&ln.Shard)
		e.roundAnswers(&ln.Shard, e.smoothing(s))
		return nil
	})
	if err == nil && memory != nil {
		err = e.allGatherAnswers(ctx, memory)
	}
	return sums, err
}

func (e hostBackend) pullBack(ctx context.Context, w []float32, of DualPoint, g []float64) (Sums, error) {
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
		e.balanceRows(&ln.Shard)
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

func (e hostBackend) value(ctx context.Context, w []float32, _ []int, shards [][]int) (Sums, error) {
	return e.values(ctx, w, shards, nil)
}

// values is value that calls found, unless that is nil, for each example with the output that the max oracle finds.
func (e hostBackend) values(ctx context.Context, w []float32, shards [][]int, found func(i int, output []int32)) (Sums, error) {
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

func (e hostBackend) pathStepper(x *AffinePath) pathStepper { return e.access.pathStepper(x) }

func (e hostBackend) unit() float64 { return Unit }

func (e hostBackend) answering(o oracles.Maximiser) oracles.Maximiser { return o }

func (e hostBackend) precise() bool { return e.Engine.precise }

func (e hostBackend) scores(sums Sums, _ float64) float64 {
	return sums.Scores * (1 / float64(e.Len()))
}
