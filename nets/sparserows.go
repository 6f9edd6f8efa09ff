package nets

import "github.com/dsp-go/dsp/structured"

// Rows lists the rows of weights that a batch touches, for methods that leave all others alone. A row is a run of weights
// that are touched together: the Y of an attribute, the transitions, the Y×Y of a step's attribute. The zero value is ready
// to use; it is scratch memory, one a goroutine.
type Rows struct {
	Index []int32 // numbers of rows, each once, in the order in which the batch first touches them

	seen []uint32 // [NumRows] the last call that saw each row
	call uint32
}

// NumRows returns how many rows the weights fall into. Rows are numbered as they lie in w.
func (s *SparseLinear) NumRows() int {
	if s.transitions < 0 {
		return s.nodes
	}
	return s.nodes + 1 + s.edges
}

// Row returns where a row lies: w[lo:hi].
func (s *SparseLinear) Row(row int32) (lo, hi int) {
	y := s.labels
	if r := int(row); r < s.nodes {
		return r * y, (r + 1) * y
	}
	lo = s.transitions + (int(row)-s.nodes)*y*y
	return lo, lo + y*y
}

// Rows makes r the rows that the batch touches: those its potentials are made of, and all that Scatter changes.
func (s *SparseLinear) Rows(batch *structured.Batch, r *Rows) {
	r.Index = r.Index[:0]
	r.call++
	if n := s.NumRows(); len(r.seen) != n || r.call == 0 {
		r.seen, r.call = make([]uint32, n), 1
	}
	data := batch.Data
	for _, i := range batch.Examples {
		lo, hi := data.Offsets[i], data.Offsets[i+1]
		r.add(data.Attributes, lo, hi, 0)
		if s.transitions >= 0 {
			r.touch(int32(s.nodes))
			if s.edges > 0 {
				r.add(data.EdgeAttributes, lo, hi, int32(s.nodes)+1)
			}
		}
	}
}

// add touches the attributes of positions lo to hi-1, whose rows begin at first.
func (r *Rows) add(x *structured.Sparse, lo, hi int, first int32) {
	if x == nil || lo == hi {
		return
	}
	for _, a := range x.Index[x.Offsets[lo]:x.Offsets[hi]] {
		r.touch(first + a)
	}
}

func (r *Rows) touch(row int32) {
	if r.seen[row] != r.call {
		r.seen[row] = r.call
		r.Index = append(r.Index, row)
	}
}
