package engine

import (
	"slices"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/machine/vec"
)

// support is where the gradient of a batch can differ from zero: all weights outside the scorer's row tables, and the rows of the
// tables that the batch reads.
type support struct {
	scorer nets.RowScorer
	tables []nets.RowTable
	spans  []span // outside the tables
	first  []int  // number of each table's first row, when rows are counted through all tables
	rows   [][]int32
	seen   [][]uint32 // by table and row: the last call of find that listed the row
	call   uint32

	batch structured.Batch // scratch memory
	all   []int32
}

// span is the range w[lo:hi].
type span struct{ lo, hi int }

// newSupport returns the support of a scorer's gradients, or nil if the scorer has no row tables.
func newSupport(scorer nets.Scorer) *support {
	by, ok := scorer.(nets.RowScorer)
	if !ok || len(by.RowTables()) == 0 {
		return nil
	}
	s := &support{scorer: by, tables: by.RowTables(), rows: make([][]int32, len(by.RowTables()))}
	at := 0
	for _, t := range s.tables {
		if at < t.Offset {
			s.spans = append(s.spans, span{at, t.Offset})
		}
		at = t.Offset + t.Rows*t.Cols
		s.first = append(s.first, s.numRows())
		s.seen = append(s.seen, make([]uint32, t.Rows))
	}
	if at < scorer.Dim() {
		s.spans = append(s.spans, span{at, scorer.Dim()})
	}
	return s
}

// numRows returns the number of rows of all tables.
func (s *support) numRows() int {
	n := 0
	for _, seen := range s.seen {
		n += len(seen)
	}
	return n
}

// find makes s the support of a batch.
func (s *support) find(data *structured.Dataset, examples []int) {
	s.batch.Reset(data, examples)
	if s.call++; s.call == 0 { // wrapped around
		for _, seen := range s.seen {
			clear(seen)
		}
		s.call = 1
	}
	for k := range s.tables {
		s.all = s.scorer.RowsRead(k, &s.batch, s.all[:0])
		s.rows[k] = s.rows[k][:0]
		for _, r := range s.all {
			if s.seen[k][r] != s.call {
				s.seen[k][r] = s.call
				s.rows[k] = append(s.rows[k], r)
			}
		}
		slices.Sort(s.rows[k]) // memory is then read in order
	}
}

// each calls do for the ranges of weights of the support, in order.
func (s *support) each(do func(lo, hi int)) {
	for _, p := range s.spans {
		do(p.lo, p.hi)
	}
	for k, t := range s.tables {
		for _, r := range s.rows[k] {
			lo := t.Offset + int(r)*t.Cols
			do(lo, lo+t.Cols)
		}
	}
}

// clear sets x to zero on the support.
func (s *support) clear(x []float32) {
	s.each(func(lo, hi int) { clear(x[lo:hi]) })
}

// axpy adds c·x to y on the support.
func (s *support) axpy(c float32, x, y []float32) {
	s.each(func(lo, hi int) { vec.Axpy(c, x[lo:hi], y[lo:hi]) })
}
