package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// sparseRound is roundWeights for sparse inputs: a round costs as much as the rows of weights that its examples touch.
// Ranks tell each other these and what they have added to them, and each adds up all of it, in the order of the ranks.
type sparseRound struct {
	engine *Engine
	rows   sparse.Rows // that this rank has touched in this round, and then that any has
	spans  []rowSpan   // of the touched rows, in order
	common []float32   // [Dim] the weights that all ranks have: w when the round begins and when it ends
	old    []float32   // what they were before the round in the touched rows, one row after the other
	now    []float32   // scratch memory: what some of them are after it
	batch  structured.Batch
}

func (x *sparseRound) begin(w []float32, continues bool) {
	if !continues {
		x.common = append(x.common[:0], w...)
	}
	x.rows.Clear()
}

func (x *sparseRound) visit(examples []int) {
	x.batch.Reset(x.engine.Data, examples)
	x.engine.sparse.AddRows(&x.batch, &x.rows)
}

func (x *sparseRound) sizes() (spans, weights int) {
	weights = x.listSpans(0)
	return len(x.spans), weights
}

func (x *sparseRound) undo(w []float32) {
	old := x.old
	for _, s := range x.spans {
		copy(w[s.lo:s.hi], old)
		old = old[copy(x.common[s.lo:s.hi], old):]
	}
}

// rowSpan is a run of rows, and its weights w[lo:hi].
type rowSpan struct {
	first, end int32
	lo, hi     int
}

// spanOf returns the span of rows first to end−1, at least one.
func (x *sparseRound) spanOf(first, end int32) rowSpan {
	lo, _ := x.engine.sparse.Row(first)
	_, hi := x.engine.sparse.Row(end - 1)
	return rowSpan{first, end, lo, hi}
}

// gapRows is how many rows that are not touched a span may have between others where all ranks' changes are added: some
// more weights cost less than another span. What ranks tell has no gaps.
const gapRows = 8

// listSpans makes spans the runs of touched rows, with gaps of up to so many rows, and returns how many weights they
// have.
func (x *sparseRound) listSpans(gap int32) (weights int) {
	first, end := int32(0), int32(-1) // of the span that may go on; none at first
	add := func() {
		if end > 0 {
			s := x.spanOf(first, end)
			x.spans, weights = append(x.spans, s), weights+s.hi-s.lo
		}
	}
	x.spans = x.spans[:0]
	x.rows.Runs(func(from, to int32) {
		if end < 0 || from-end > gap {
			add()
			first = from
		}
		end = to
	})
	add()
	return weights
}

// addedRows is what a rank tells: spans, and what it has added there.
type addedRows struct {
	spans []rowSpan
	added []float32
}

// read returns what a rank has told, of which its head says how much.
func (x *sparseRound) read(r *Rounds, rank int, head []float64) (addedRows, error) {
	part := r.part(rank)[partHead:]
	rows, t, weights := vec.View[int32](vec.Bytes(part[:2*int(head[1])])), addedRows{added: part[2*int(head[1]):]}, 0
	for ; len(rows) > 0; rows = rows[2:] {
		s := x.spanOf(rows[0], rows[1])
		t.spans, weights = append(t.spans, s), weights+s.hi-s.lo
	}
	if weights != len(t.added) {
		return t, fmt.Errorf("rank %d sent %d numbers, expected %d", rank, len(t.added), weights)
	}
	return t, nil
}

// blockOfSpans is how many weights all ranks' changes are added to at a time, or more: so few that they stay in a
// core's cache.
const blockOfSpans = 2048

func (x *sparseRound) exchange(ctx context.Context, r *Rounds, by roundShare, w []float32, heads []float64, c *changes) error {
	e := x.engine
	me, size := e.group.Rank(), e.group.Size()
	mine := r.part(me)[partHead:]
	rows := vec.View[int32](vec.Bytes(mine[:2*len(x.spans)]))
	mine = mine[len(rows):]
	at := 0
	for k, s := range x.spans {
		rows[2*k], rows[2*k+1] = s.first, s.end
		d := mine[at:][:s.hi-s.lo]
		at += copy(d, w[s.lo:s.hi])
		vec.Axpy(-1, x.common[s.lo:s.hi], d)
	}
	vec.Scale(by.share, mine)
	if err := r.gather(ctx, e, vec.Norm2(mine), c); err != nil {
		return err
	}
	all, n := make([]addedRows, size), len(heads)/size
	for rank := range all {
		if rank == me {
			all[rank] = addedRows{slices.Clone(x.spans), mine}
			continue
		}
		var err error
		if all[rank], err = x.read(r, rank, heads[rank*n:]); err != nil {
			return err
		}
		for _, s := range all[rank].spans {
			x.rows.Add(s.first, s.end)
		}
	}
	x.old = vec.Grow(x.old, x.listSpans(gapRows))[:0]
	for spans := x.spans; len(spans) > 0; {
		n, weights := 0, 0
		for n < len(spans) && weights < blockOfSpans {
			s := spans[n]
			x.old = append(x.old, x.common[s.lo:s.hi]...)
			n, weights = n+1, weights+s.hi-s.lo
		}
		for rank := range all {
			all[rank].addTo(x.common, spans[n-1].hi)
		}
		before := x.old[len(x.old)-weights:]
		x.now = x.now[:0]
		for _, s := range spans[:n] {
			now := x.common[s.lo:s.hi]
			copy(w[s.lo:s.hi], now)
			c.conjugate(e.Objective, by.τ, s.lo, before[len(x.now):][:len(now)], now)
			x.now = append(x.now, now...)
		}
		c.measure(e.Objective, before, x.now)
		spans = spans[n:]
	}
	return nil
}

// addTo adds to w what a rank has added to its next spans, up to an end that is in none of them.
func (t *addedRows) addTo(w []float32, end int) {
	for len(t.spans) > 0 && t.spans[0].lo < end {
		s := t.spans[0]
		vec.Axpy(1, t.added[:s.hi-s.lo], w[s.lo:s.hi])
		t.spans, t.added = t.spans[1:], t.added[s.hi-s.lo:]
	}
}
