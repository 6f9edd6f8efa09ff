package engine

import (
	"slices"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// touchedRows is where the gradient of a batch can differ from zero: all weights outside the scorer's row tables, and
// the rows of the tables that the batch reads. Without tables it is everywhere.
type touchedRows struct {
	scorer nets.RowScorer
	tables []nets.RowTable
	spans  []span // outside the tables
	first  []int  // number of each table's first row, when rows are counted through all tables
	rows   [][]int32
	seen   [][]uint32 // by table and row: the last call of find that listed the row
	call   uint32

	ahead bool        // they are those of the next step
	dirty [][]float32 // vectors that are zero everywhere else, and have to be zero there before other rows are found

	batch structured.Batch // scratch memory
	all   []int32
}

// span is the range w[lo:hi].
type span struct{ lo, hi int }

// newTouchedRows returns what gradients of a scorer touch, of no batch yet.
func newTouchedRows(scorer nets.Scorer) *touchedRows {
	t := &touchedRows{}
	if by, ok := scorer.(nets.RowScorer); ok {
		t.scorer, t.tables = by, by.RowTables()
	}
	t.rows = make([][]int32, len(t.tables))
	at := 0
	for _, table := range t.tables {
		if at < table.Offset {
			t.spans = append(t.spans, span{at, table.Offset})
		}
		at = table.Offset + table.Rows*table.Cols
		t.first = append(t.first, t.numRows())
		t.seen = append(t.seen, make([]uint32, table.Rows))
	}
	if at < scorer.Dim() {
		t.spans = append(t.spans, span{at, scorer.Dim()})
	}
	return t
}

// everywhere reports whether every gradient can differ from zero in all weights.
func (t *touchedRows) everywhere() bool { return len(t.tables) == 0 }

// numRows returns the number of rows of all tables.
func (t *touchedRows) numRows() int {
	n := 0
	for _, seen := range t.seen {
		n += len(seen)
	}
	return n
}

// findAhead finds those of the batch of the next step, unless they were found. All vectors that steps have used are
// then zero.
func (t *touchedRows) findAhead(data *structured.Dataset, examples []int) {
	if t.ahead || t.everywhere() {
		return
	}
	t.clean()
	t.find(data, examples)
	t.ahead = true
}

// clean makes the vectors that steps have used zero.
func (t *touchedRows) clean() {
	for _, x := range t.dirty {
		t.clear(x)
	}
	t.dirty = t.dirty[:0]
}

// uses says that a step has made a vector, which was zero, differ from zero there.
func (t *touchedRows) uses(x []float32) {
	if x != nil && !t.everywhere() {
		t.dirty = append(t.dirty, x)
	}
}

// find finds those of a batch.
func (t *touchedRows) find(data *structured.Dataset, examples []int) {
	if t.everywhere() {
		return
	}
	t.batch.Reset(data, examples)
	if t.call++; t.call == 0 { // wrapped around
		for _, seen := range t.seen {
			clear(seen)
		}
		t.call = 1
	}
	for k := range t.tables {
		t.all = t.scorer.RowsRead(k, &t.batch, t.all[:0])
		t.rows[k] = t.rows[k][:0]
		for _, r := range t.all {
			if t.seen[k][r] != t.call {
				t.seen[k][r] = t.call
				t.rows[k] = append(t.rows[k], r)
			}
		}
		slices.Sort(t.rows[k]) // memory is then read in order
	}
}

// each calls do for the ranges of weights that are touched, in order.
func (t *touchedRows) each(do func(lo, hi int)) {
	for _, p := range t.spans {
		do(p.lo, p.hi)
	}
	for k, table := range t.tables {
		for _, r := range t.rows[k] {
			lo := table.Offset + int(r)*table.Cols
			do(lo, lo+table.Cols)
		}
	}
}

// numWeights returns how many weights are touched.
func (t *touchedRows) numWeights() (n int) {
	t.each(func(lo, hi int) { n += hi - lo })
	return n
}

// clear sets the touched weights of x to zero.
func (t *touchedRows) clear(x []float32) {
	t.each(func(lo, hi int) { clear(x[lo:hi]) })
}

// axpy adds c·x to y in the touched weights.
func (t *touchedRows) axpy(c float32, x, y []float32) {
	t.each(func(lo, hi int) { vec.Axpy(c, x[lo:hi], y[lo:hi]) })
}
