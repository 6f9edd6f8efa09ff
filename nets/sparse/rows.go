package sparse

import (
	"math/bits"
	"slices"

	"github.com/dsp-go/dsp/structured"
)

// Rows lists the rows of weights that a batch touches, for methods that leave all others unchanged. A row is a run of
// weights that are used together: those of an attribute or of a dense input, or a bias. The zero value is ready to use.
// It includes scratch memory: use one per goroutine.
type Rows struct {
	Index []int32 // distinct row numbers, in the order in which the batch first touches them

	listed []uint64 // a bit for each row: whether it is in Index
}

// Clear empties the list.
func (r *Rows) Clear() {
	for _, row := range r.Index {
		r.listed[row/64] = 0
	}
	r.Index = r.Index[:0]
}

// grow makes place for that many rows.
func (r *Rows) grow(rows int) {
	if n := (rows + 63) / 64; n > len(r.listed) {
		r.listed = append(r.listed, make([]uint64, n-len(r.listed))...)
	}
}

// Add lists rows first to end−1, too.
func (r *Rows) Add(first, end int32) {
	r.grow(int(end))
	for row := first; row < end; row++ {
		r.touch(row)
	}
}

// Runs calls do for the runs of consecutive rows, in order. The weights of a run lie one after the other.
func (r *Rows) Runs(do func(first, end int32)) {
	if len(r.Index) < len(r.listed) { // too few for a look at all bits
		slices.Sort(r.Index)
		for rows := r.Index; len(rows) > 0; {
			n := 1
			for n < len(rows) && rows[n] == rows[0]+int32(n) {
				n++
			}
			do(rows[0], rows[0]+int32(n))
			rows = rows[n:]
		}
		return
	}
	first, end := 0, 0 // of the run that may go on
	for k, x := range r.listed {
		for at := k * 64; x != 0; {
			skip := bits.TrailingZeros64(x)
			n := bits.TrailingZeros64(^(x >> skip))
			at += skip
			if at > end {
				if end > 0 {
					do(int32(first), int32(end))
				}
				first = at
			}
			at += n
			end = at
			x = x >> skip >> n
		}
	}
	if end > 0 {
		do(int32(first), int32(end))
	}
}

// NumRows returns the number of rows of weights. Rows are numbered in the order of w.
func (s *Linear) NumRows() int {
	n := 0
	for _, p := range s.parts {
		n += p.attributes
		if p.bias >= 0 {
			n++
		}
		for _, b := range p.dense {
			n += b.dim
		}
	}
	return n
}

// Row returns the range w[lo:hi] of a row.
func (s *Linear) Row(row int32) (lo, hi int) {
	k := len(s.parts) - 1
	for k > 0 && row < s.parts[k].first {
		k--
	}
	p := &s.parts[k]
	for i := len(p.dense) - 1; i >= 0; i-- {
		if b := &p.dense[i]; row >= b.firstRow {
			lo = b.offset + int(row-b.firstRow)*b.width
			return lo, lo + b.width
		}
	}
	start := p.rows
	if p.bias >= 0 {
		start = p.bias
	}
	lo = start + int(row-p.first)*p.Width
	return lo, lo + p.Width
}

// Rows sets r to the rows that the batch touches: those that Score reads, which include all that Scatter changes.
func (s *Linear) Rows(batch *structured.Batch, r *Rows) {
	r.Clear()
	s.AddRows(batch, r)
}

// AddRows adds those that r does not list yet.
func (s *Linear) AddRows(batch *structured.Batch, r *Rows) {
	r.grow(s.NumRows())
	for _, i := range batch.Examples {
		for k := range s.parts {
			s.parts[k].touch(batch.Data, i, r)
		}
	}
}

// touch lists the rows that example i touches.
func (p *part) touch(data *structured.Dataset, i int, r *Rows) {
	if p.Rows != structured.Tied {
		if rows := data.Rows(p.Rows); rows[i] == rows[i+1] {
			return
		}
	}
	first := p.first
	if p.bias >= 0 {
		r.touch(first)
		first++
	}
	for i := range p.dense {
		if b := &p.dense[i]; !r.has(b.firstRow) {
			for d := range b.dim {
				r.touch(b.firstRow + int32(d))
			}
		}
	}
	x := data.AttributesOf(p.Shape)
	if x == nil || p.Rows == structured.Tied {
		return
	}
	rows := data.Rows(p.Rows)
	r.touchAll(first, x.Index[x.Offsets[rows[i]]:x.Offsets[rows[i+1]]])
}

func (r *Rows) has(row int32) bool { return r.listed[row/64]>>(row%64)&1 != 0 }

func (r *Rows) touch(row int32) {
	if !r.has(row) {
		r.listed[row/64] |= 1 << (row % 64)
		r.Index = append(r.Index, row)
	}
}

// touchAll lists rows, numbered from first on. It does not branch on them: half of them are there already.
func (r *Rows) touchAll(first int32, index []int32) {
	n := len(r.Index)
	r.Index = slices.Grow(r.Index, len(index))
	to := r.Index[:n+len(index)]
	for _, a := range index {
		row := uint32(first + a)
		word := &r.listed[row/64]
		to[n] = int32(row)
		n += int(^*word >> (row % 64) & 1)
		*word |= 1 << (row % 64)
	}
	r.Index = to[:n]
}
