package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/dsp-go/dsp/structured/machine/vec"
	"github.com/dsp-go/dsp/train/ranks"
)

// The exchange of a round (Rounds) with sparse inputs.

// rowSpan is a run of rows, and its weights w[lo:hi].
type rowSpan struct {
	first, end int32
	lo, hi     int
}

// spanOf returns the span of rows first to end−1, at least one.
func (e *Engine) spanOf(first, end int32) rowSpan {
	lo, _ := e.sparse.Row(first)
	_, hi := e.sparse.Row(end - 1)
	return rowSpan{first, end, lo, hi}
}

// gapRows is how many rows that are not touched a span may have between others where all ranks' changes are added: some more weights cost less than another span. What
// ranks tell has no gaps.
const gapRows = 8

// listSpans makes spans the runs of touched rows, with gaps of up to so many rows, and returns how many weights they have.
func (r *Rounds) listSpans(e *Engine, gap int32) (weights int) {
	first, end := int32(0), int32(-1) // of the span that may go on; none at first
	add := func() {
		if end > 0 {
			s := e.spanOf(first, end)
			r.spans, weights = append(r.spans, s), weights+s.hi-s.lo
		}
	}
	r.spans = r.spans[:0]
	r.rows.Runs(func(from, to int32) {
		if end < 0 || from-end > gap {
			add()
			first = from
		}
		end = to
	})
	add()
	return weights
}

// told is what a rank tells: spans, and what it has added there.
type told struct {
	spans []rowSpan
	added []float32
}

// read returns what a rank has told, of which its head says how much.
func (r *Rounds) read(e *Engine, rank int, head []float64) (told, error) {
	part := r.part(rank)[partHead:]
	rows, t, weights := ranks.View[int32](ranks.Bytes(part[:2*int(head[1])])), told{added: part[2*int(head[1]):]}, 0
	for ; len(rows) > 0; rows = rows[2:] {
		s := e.spanOf(rows[0], rows[1])
		t.spans, weights = append(t.spans, s), weights+s.hi-s.lo
	}
	if weights != len(t.added) {
		return t, fmt.Errorf("rank %d sent %d numbers, expected %d", rank, len(t.added), weights)
	}
	return t, nil
}

// blockOfSpans is how many weights all ranks' changes are added to at a time, or more: so few that they stay in a core's cache.
const blockOfSpans = 2048

// exchangeRows adds to w what all ranks have added to the rows that they have touched.
func (r *Rounds) exchangeRows(ctx context.Context, e *Engine, τ, share float32, w []float32, heads []float64, c *changes) error {
	me, size := e.group.Rank(), e.group.Size()
	mine := r.part(me)[partHead:]
	rows := ranks.View[int32](ranks.Bytes(mine[:2*len(r.spans)]))
	mine = mine[len(rows):]
	at := 0
	for k, s := range r.spans {
		rows[2*k], rows[2*k+1] = s.first, s.end
		d := mine[at:][:s.hi-s.lo]
		at += copy(d, w[s.lo:s.hi])
		vec.Axpy(-1, r.common[s.lo:s.hi], d)
	}
	vec.Scale(share, mine)
	if err := r.tell(ctx, e, vec.Norm2(mine), c); err != nil {
		return err
	}
	all, n := make([]told, size), len(heads)/size
	for rank := range all {
		if rank == me {
			all[rank] = told{slices.Clone(r.spans), mine}
			continue
		}
		var err error
		if all[rank], err = r.read(e, rank, heads[rank*n:]); err != nil {
			return err
		}
		for _, s := range all[rank].spans {
			r.rows.Add(s.first, s.end)
		}
	}
	r.old = vec.Grow(r.old, r.listSpans(e, gapRows))[:0]
	for spans := r.spans; len(spans) > 0; {
		n, weights := 0, 0
		for n < len(spans) && weights < blockOfSpans {
			s := spans[n]
			r.old = append(r.old, r.common[s.lo:s.hi]...)
			n, weights = n+1, weights+s.hi-s.lo
		}
		for rank := range all {
			all[rank].addTo(r.common, spans[n-1].hi)
		}
		before := r.old[len(r.old)-weights:]
		r.now = r.now[:0]
		for _, s := range spans[:n] {
			now := r.common[s.lo:s.hi]
			copy(w[s.lo:s.hi], now)
			c.conjugate(e.Objective, τ, s.lo, before[len(r.now):][:len(now)], now)
			r.now = append(r.now, now...)
		}
		c.measure(e.Objective, before, r.now)
		spans = spans[n:]
	}
	return nil
}

// addTo adds to w what a rank has added to its next spans, up to an end that is in none of them.
func (t *told) addTo(w []float32, end int) {
	for len(t.spans) > 0 && t.spans[0].lo < end {
		s := t.spans[0]
		vec.Axpy(1, t.added[:s.hi-s.lo], w[s.lo:s.hi])
		t.spans, t.added = t.spans[1:], t.added[s.hi-s.lo:]
	}
}
