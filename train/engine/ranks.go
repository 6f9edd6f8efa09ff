package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"unsafe"

	"gonum.org/v1/gonum/floats"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train/ranks"
)

// With a group of ranks, each rank does a share of the work of a pass or a step, and all of them end with the same
// sums, whose bits are those of one process. For that, numbers are added in its order:
//
//   - with dense inputs, one process sums shards into lanes, and then the lanes in order. So each rank has some
//     consecutive lanes. The sum of lanes passes through the ranks piece by piece, and each adds its own.
//   - with sparse inputs, one process adds all shards to the gradient in order. So each rank has some consecutive shards.
//     It needs their attributes and no others. The first rank adds its shards as it goes. Each of the others asks the
//     oracle about all of its own, and then adds them to the gradient that the ranks before it have begun. The sums of
//     lanes, which go through all shards, are added again from deferredSums. The last rank has the whole gradient in
//     float64. It gives the others what they need of it, which is half as long (access.lower).
//
// A step on sparse inputs keeps its gradient in potential space. There the ranks exchange marginals instead.

// group is the ranks that share an engine's work, and what it keeps for them.
type group struct {
	ranks.Group
	own      []int          // examples of this rank; nil: not asked for yet
	exchange ranks.Exchange // scratch memory
}

// alone returns a process without other ranks.
func alone() group { return group{Group: ranks.Alone{}} }

// share returns the share lo to hi−1 of n things that this rank has.
func (g *group) share(n int) (lo, hi int) { return ranks.Share(g.Group, n) }

// group returns the ranks that share a step: one shard is less work than to tell others of it.
func (s *stepLanes) group() ranks.Group {
	if len(s.examples) <= StepExamples {
		return ranks.Alone{}
	}
	return s.engine.group.Group
}

// ErrFewStrands is why some data are too small for so many ranks.
var ErrFewStrands = errors.New("each rank needs one")

// Join shares the work of passes and steps with the ranks of a group. All ranks must call the same methods in the same
// order. On a device they share what is cut into parts (Cut), and the values of the objective. Else each rank does the
// whole of a step, or of a full pass with a gradient: there the ranks should take steps of their own (Alone, Average).
func (e *Engine) Join(g ranks.Group) error {
	if g.Size() == 1 {
		return nil
	}
	if most := e.MostRanks(); g.Size() > most {
		return structured.BadInput("ranks: %d, strands of the sum over these examples: %d, and %w; start at most %d",
			g.Size(), most, ErrFewStrands, most)
	}
	e.group.Group = g
	return nil
}

// Ranks returns the group that shares the work. Methods call its collectives without asking how many ranks there are,
// but for three: local steps, of which a process alone has none (methods/descentpass.go), threads of saga that wait for
// nobody, which several ranks refuse, and checkpoints of methods that ranks have to assemble, which a process alone
// takes at every pass (train/loop.go). Rounds ask, too: one process has one.
func (e *Engine) Ranks() ranks.Group { return e.group.Group }

// MostRanks returns how many ranks can have a share of a pass.
func (e *Engine) MostRanks() int { return e.backend.mostRanks() }

// ShareOf returns the share of the examples whose attributes a process needs in full passes over data with sparse
// inputs, which need not be there yet.
func ShareOf(peers structured.Peers, data *structured.Dataset) structured.Share {
	if peers.Size() == 1 {
		return structured.Whole(data)
	}
	all := make([]int, data.Len())
	for i := range all {
		all[i] = i
	}
	cut := append(cutIntoShards(data, all), []int{data.Len()})
	lo, hi := ranks.Share(peers, len(cut)-1)
	return structured.Share{Peers: peers, First: cut[lo][0], Last: cut[hi][0]}
}

// AllGatherMarginals completes marginals of all examples, of which each rank has those of its own examples.
func (e *Engine) AllGatherMarginals(ctx context.Context, u *structured.Marginals) error {
	var x ranks.Exchange // not kept: it is as large as the memory of all answers
	_, err := x.AllGather(ctx, e.group.Group, false, func(rank int, do func([]byte)) {
		for _, i := range e.access.examplesOf(rank) {
			for k := range u.Parts {
				do(vec.Bytes(u.Parts[k].Of(i)))
			}
		}
	})
	return err
}

// allGatherAnswers completes a memory of the answers of a full pass.
func (e *Engine) allGatherAnswers(ctx context.Context, m *Memory) error {
	for k := range m.rest {
		clear(m.rest[k])
	}
	return e.AllGatherMarginals(ctx, &m.Marginals)
}

// allRanksHave sets each of some facts to whether it holds on all ranks.
func (e *Engine) allRanksHave(ctx context.Context, facts []bool) error {
	all, err := e.group.AllGather(ctx, vec.Bytes(facts))
	if err != nil {
		return err
	}
	for _, x := range all {
		for k := range facts {
			facts[k] = facts[k] && x[k] != 0
		}
	}
	return nil
}

// ofAllRanks returns the sum of a count over the ranks. A rank that is lost has none: the next call says so.
func (e *Engine) ofAllRanks(n int) int {
	all, err := e.group.AllGather(context.Background(), vec.Bytes([]int64{int64(n)}))
	if err != nil {
		return n
	}
	total := 0
	for _, x := range all {
		count := make([]int64, 1)
		_ = ranks.Numbers(x, count)
		total += int(count[0])
	}
	return total
}

// Own returns the examples that this rank has in full passes, and whose dual variables it owns: all of them without
// other ranks.
func (e *Engine) Own() []int {
	if e.group.Size() == 1 {
		return e.layout.all
	}
	if e.group.own == nil {
		e.group.own = e.OwnOf(e.group.Rank())
	}
	return e.group.own
}

// OwnOf returns the examples that a rank owns.
func (e *Engine) OwnOf(rank int) []int {
	if e.group.Size() == 1 {
		return e.layout.all
	}
	return e.access.examplesOf(rank)
}

// All returns all examples.
func (e *Engine) All() []int { return e.layout.all }

// AllGatherMemory is AllGatherMarginals for a memory.
func (e *Engine) AllGatherMemory(ctx context.Context, m *Memory) error {
	if e.group.Size() == 1 {
		return nil
	}
	m.KeepRest()
	rest := m.Marginals
	rest.Parts = append([]structured.Part(nil), m.Parts...)
	for k := range rest.Parts {
		rest.Parts[k].Values = m.rest[k]
	}
	if err := e.AllGatherMarginals(ctx, &m.Marginals); err != nil {
		return err
	}
	return e.AllGatherMarginals(ctx, &rest)
}

// AllGatherExamples completes numbers x [n] of the examples, of which each rank knows those of its own.
func AllGatherExamples[E float32 | float64](ctx context.Context, e *Engine, x []E) error {
	var exchange ranks.Exchange
	_, err := exchange.AllGather(ctx, e.group.Group, false, func(rank int, do func([]byte)) {
		for _, i := range e.OwnOf(rank) {
			do(vec.Bytes(x[i : i+1]))
		}
	})
	return err
}

// AllGatherNumbers returns the numbers that each rank gives.
func AllGatherNumbers[E int32 | float32 | float64](ctx context.Context, e *Engine, mine []E) ([][]E, error) {
	all, err := e.Ranks().AllGather(ctx, vec.Bytes(mine))
	if err != nil {
		return nil, err
	}
	lists := make([][]E, len(all))
	for rank, x := range all {
		lists[rank] = make([]E, len(x)/int(unsafe.Sizeof(*new(E))))
		if err := ranks.Numbers(x, lists[rank]); err != nil {
			return nil, err
		}
	}
	return lists, nil
}

// SameOnRanks refuses to go on if ranks have different weights.
func (e *Engine) SameOnRanks(ctx context.Context, w []float32) error {
	if e.group.Size() == 1 { // nothing to compare the sum with
		return nil
	}
	sum := crc32.Checksum(vec.Bytes(w), crc32.MakeTable(crc32.Castagnoli))
	all, err := e.group.AllGather(ctx, vec.Bytes([]uint32{sum}))
	if err != nil {
		return err
	}
	for rank, x := range all {
		if !bytes.Equal(x, all[0]) {
			return fmt.Errorf("rank %d has other weights than rank 0: the machines do not compute alike", rank)
		}
	}
	return nil
}

// SumOverRanks returns the sum of a number over the ranks.
func (e *Engine) SumOverRanks(ctx context.Context, x float64) (float64, error) {
	total, err := e.sumNumbers(ctx, []float64{x})
	if err != nil {
		return 0, err
	}
	return total[0], nil
}

// sumNumbers sums numbers, as many on each rank, over the ranks.
func (e *Engine) sumNumbers(ctx context.Context, mine []float64) ([]float64, error) {
	all, err := AllGatherNumbers(ctx, e, mine)
	if err != nil {
		return nil, err
	}
	total := make([]float64, len(mine))
	for rank, x := range all {
		if len(x) != len(mine) {
			return nil, fmt.Errorf("rank %d sent %d numbers, expected %d", rank, len(x), len(mine))
		}
		floats.Add(total, x)
	}
	return total, nil
}

// Lost reports whether an error says that another rank was lost.
func Lost(err error) bool {
	var lost *ranks.LostError
	return errors.As(err, &lost)
}

// apart runs work as a single process would.
func (e *Engine) apart(work func() error) error {
	g := e.group.Group
	e.group.Group = ranks.Alone{}
	err := work()
	e.group.Group = g
	return err
}

// endsRun reports whether an error ends the run of this process, of which the others learn. Potentials that are not
// finite do not: methods go on after them, alike on all ranks.
func endsRun(err error) bool {
	if err == nil {
		return false
	}
	var bad *NonFiniteError
	return !errors.As(err, &bad)
}

// SameOnAll returns err if it ends the run, and else the first rank's error that says that potentials are not finite.
func (e *Engine) SameOnAll(ctx context.Context, err error) error {
	return sameOnAll(ctx, e.group.Group, err)
}

func sameOnAll(ctx context.Context, group ranks.Group, err error) error {
	if endsRun(err) || group.Size() == 1 {
		return err
	}
	var x ranks.Exchange
	if anyFailed, lost := x.AllGather(ctx, group, err != nil, func(int, func([]byte)) {}); lost != nil || !anyFailed {
		return lost
	}
	var mine []byte
	var bad *NonFiniteError
	if errors.As(err, &bad) {
		mine = append([]byte{1}, bad.Where...)
	}
	all, lost := group.AllGather(ctx, mine)
	for _, x := range all {
		if len(x) > 0 {
			return &NonFiniteError{Where: string(x[1:])}
		}
	}
	return lost
}
