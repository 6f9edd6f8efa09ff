package sdca

import (
	"context"
	"math"

	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// metPoint is what a certificate without a gradient needs (engine.Met): w is, but for roundings, the minimiser of the
// bound that the dual point gives, as long as w has come from the centre by steps alone.
type metPoint struct {
	added []sparse.Additions // to the weights of each shard; nil if the point cannot be met
	pass  int                // the pass after which the last point was met
	point engine.Met

	reach  *sparse.Reach // of all examples; nil: not known yet
	length float64       // its length
}

// begin prepares for points of a method that begins at the centre with so many shards.
func (x *metPoint) begin(shards int) { x.added = make([]sparse.Additions, shards) }

// forget makes known that w has not come by steps alone.
func (x *metPoint) forget() { x.added = nil }

// of returns where to count what is added to the weights of a shard.
func (x *metPoint) of(shard int) *sparse.Additions {
	if x.added == nil {
		return nil
	}
	return &x.added[shard]
}

// drift bounds how far the weights are from the sum in exact arithmetic of what was added. Shards have no weights in
// common.
func (x *metPoint) drift() float64 {
	square := 0.0
	for _, a := range x.added {
		d := a.Drift(x.reach)
		square += d * d
	}
	return math.Sqrt(square)
}

// useful reports whether a certificate of a point that is met can charge little of the gap, and finds how attributes
// occur.
func (m *SDCA) useful(p *train.Problem, gap float64) bool {
	x := &m.met
	if x.added == nil || !p.CanMeet() {
		return false
	}
	if x.reach == nil {
		rows, _ := p.Rows()
		var each [dualShards]sparse.Reach // as many whatever the threads, so that sums have the same bits
		n := p.Len()
		p.Parallel(dualShards, func(k int) { each[k] = rows.ReachOf(p.Data, n*k/dualShards, n*(k+1)/dualShards) })
		for _, r := range each[1:] {
			each[0].Add(r)
		}
		x.reach, x.length = &each[0], each[0].Length()
	}
	return p.Far(x.drift(), x.length) <= train.MostFar*gap
}

func (x *metPoint) archive(a engine.Archive) {
	numbers := make([]float64, 0, 3*len(x.added))
	for _, s := range x.added {
		numbers = append(numbers, float64(s.Count), s.After, s.Moved)
	}
	a.Doubles("additions", &numbers)
	if !a.Restores() {
		return
	}
	x.added = nil
	for ; len(numbers) >= 3; numbers = numbers[3:] {
		x.added = append(x.added, sparse.Additions{Count: int(numbers[0]), After: numbers[1], Moved: numbers[2]})
	}
}

// meet meets the dual point at m.w after this pass, with F(m.w) on the way if asked for.
func (m *SDCA) meet(ctx context.Context, p *train.Problem, value bool) (upper, rounded float64, err error) {
	x := &m.met
	x.point, upper, rounded, err = p.Meet(ctx, m.w, &m.memory.u, x.length, value)
	x.pass = m.passes
	return upper, rounded, err
}

// soon is how many times as large as the gap after a pass, at which the run may end, the gap is that was seen before.
const soon = 4

// upper returns F(w) rounded up, and by how much. Where F was seen before, the rise of the dual since then promises
// that the run may end here, and the dual point is met on the way.
func (m *SDCA) upper(ctx context.Context, p *train.Problem, w []float32) (upper, rounded float64, err error) {
	if m.primal == math.Inf(1) || !same(w, m.w) || !m.useful(p, (m.primal-m.dual)/soon) {
		return p.Upper(ctx, w)
	}
	return m.meet(ctx, p, true)
}

// certifyMet records the bound of the dual point without a gradient, and reports whether that is possible and of use.
func (m *SDCA) certifyMet(ctx context.Context, p *train.Problem, s *train.State) (bool, error) {
	gap := s.Primal - m.dual
	if !m.useful(p, gap) {
		return false, nil
	}
	x := &m.met
	if x.pass != m.passes {
		if _, _, err := m.meet(ctx, p, false); err != nil {
			return false, err
		}
		s.FullPasses++
	}
	entropy, err := m.memory.boundedEntropy(ctx, p)
	return err == nil && m.bound.Meet(p, x.point, entropy, x.drift(), gap, m.passes), err
}
