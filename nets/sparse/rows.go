package sparse

import "github.com/dsp-go/dsp/structured"

// Rows lists the rows of weights that a batch touches, for methods that leave all others unchanged. A row is a run of weights that
// are used together: those of an attribute or of a dense input, or a bias. The zero value is ready to use. It includes scratch memory: use one per
// goroutine.
type Rows struct {
	Index []int32 // distinct row numbers, in the order in which the batch first touches them

	seen []uint32 // [NumRows] the last call that listed each row
	call uint32
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
	r.Index = r.Index[:0]
	r.call++
	if n := s.NumRows(); len(r.seen) != n || r.call == 0 {
		r.seen, r.call = make([]uint32, n), 1
	}
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
		if b := &p.dense[i]; r.seen[b.firstRow] != r.call {
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
	for _, a := range x.Index[x.Offsets[rows[i]]:x.Offsets[rows[i+1]]] {
		r.touch(first + a)
	}
}

func (r *Rows) touch(row int32) {
	if r.seen[row] != r.call {
		r.seen[row] = r.call
		r.Index = append(r.Index, row)
	}
}
