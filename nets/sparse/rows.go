package sparse

import "github.com/dsp-go/dsp/structured"

// Rows lists the rows of weights that a batch touches, for methods that leave all others alone. A row is a run of weights
// that are touched together: those of an attribute, or a bias. The zero value is ready to use; it is scratch memory, one
// per goroutine.
type Rows struct {
	Index []int32 // numbers of rows, each once, in the order in which the batch first touches them

	seen []uint32 // [NumRows] the last call that saw each row
	call uint32
}

// NumRows returns how many rows the weights fall into. Rows are numbered as they lie in w.
func (s *Linear) NumRows() int {
	n := 0
	for _, p := range s.parts {
		n += p.attributes
		if p.bias >= 0 {
			n++
		}
	}
	return n
}

// Row returns where a row lies: w[lo:hi].
func (s *Linear) Row(row int32) (lo, hi int) {
	k := len(s.parts) - 1
	for k > 0 && row < s.parts[k].first {
		k--
	}
	p := &s.parts[k]
	start := p.rows
	if p.bias >= 0 {
		start = p.bias
	}
	lo = start + int(row-p.first)*p.Width
	return lo, lo + p.Width
}

// Rows makes r the rows that the batch touches: those its potentials are made of, and all that Scatter changes.
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

// touch adds the rows that example i touches.
func (p *part) touch(data *structured.Dataset, i int, r *Rows) {
	first := p.first
	if p.bias >= 0 {
		r.touch(first)
		first++
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
