package nets

import (
	"sync"

	"github.com/dsp-go/dsp/structured"
)

// ScatterParts is how many parts the weights of a SparseLinear fall into. It is fixed, so that what is summed part by part
// does not depend on the number of threads.
const ScatterParts = 16

// Rows of attributes belong to parts in turn, eight at a time: parts meet in few cache lines, and the frequent attributes,
// whose numbers are low and close, are dealt evenly.
const rowsInTurn = 8

// part returns the part of an attribute's row.
func part(row int32) int { return int(uint32(row) / rowsInTurn % ScatterParts) }

// share returns what belongs to parts lo to hi-1 of a block of edge weights, which every part has some of.
func share(block []float32, lo, hi int) []float32 {
	n := len(block)
	return block[n*lo/ScatterParts : n*hi/ScatterParts]
}

// Scatter adds c·Jᵀv to the weights of parts lo to hi-1 of to [Dim], for marginals v of the batch or differences of such;
// all of it is parts 0 to ScatterParts. Calls on distinct parts may run at the same time, also on the same to: each
// weight receives its summands in the order of the batch, so its bits depend neither on the cut nor on the threads.
//
// With norms [ScatterParts], norms[p] grows by the change of ‖to‖² in part p, Σ(2xδ + δ²) with x the weight before and δ
// its change.
func (s *SparseLinear) Scatter(c float32, v *structured.Marginals, batch *structured.Batch, lo, hi int, to []float32, norms []float64) {
	if c == 0 || lo >= hi {
		return
	}
	y, yy := s.labels, s.labels*s.labels
	f := scatterers.Get().(*scatterer)
	defer scatterers.Put(f)
	f.c, f.lo, f.hi, f.norms = c, lo, hi, norms
	for b, i := range batch.Examples {
		from, t0 := batch.Offsets[b], batch.Data.Offsets[i]
		length := batch.Data.Offsets[i+1] - t0
		if x := batch.Data.Attributes; x != nil {
			for t := range length {
				if node := v.Node[(from+t)*y:][:y]; !sparse.isZero(node) {
					index, value := x.Row(t0 + t)
					f.rows(to[:s.nodes*y], node, index, value)
				}
			}
		}
		switch {
		case s.PerPosition():
			x := batch.Data.EdgeAttributes
			for t := 1; t < length; t++ {
				edge := v.Edge[(from+t)*yy:][:yy]
				if sparse.isZero(edge) {
					continue
				}
				f.block(to[s.transitions:][:yy], edge, 1)
				if x != nil {
					index, value := x.Row(t0 + t)
					for k, row := range index {
						f.block(to[s.edgeRows+int(row)*yy:][:yy], edge, at(value, k))
					}
				}
			}
		case s.transitions >= 0:
			if edge := v.Edge[b*yy:][:yy]; !sparse.isZero(edge) {
				f.block(to[s.transitions:][:yy], edge, 1)
			}
		}
		f.flush()
	}
}

// scatterer is one call of Scatter. Its sums are zero between calls.
type scatterer struct {
	change *changes
	c      float32
	lo, hi int
	norms  []float64
	index  [64]int32 // attributes of these parts
	value  [64]float32
}

var scatterers = sync.Pool{New: func() any { return &scatterer{change: new(changes)} }}

// rows adds to the rows of one position's attributes, 64 at a time, so that the order in which changes are added up does not
// depend on the cut.
func (f *scatterer) rows(to, v []float32, index []int32, value []float32) {
	whole := f.lo == 0 && f.hi == ScatterParts
	for len(index) > 0 {
		n := min(len(index), len(f.index))
		mine, x := index[:n], value
		if !whole {
			mine, x = f.choose(mine, x)
		}
		if f.norms == nil {
			sparse.scatter(to, v, f.c, mine, x)
		} else {
			sparse.measure(to, v, f.c, mine, x, f.change)
		}
		index = index[n:]
		if value != nil {
			value = value[n:]
		}
	}
}

// choose returns the attributes of these parts, without a branch that depends on them.
func (f *scatterer) choose(index []int32, value []float32) ([]int32, []float32) {
	n, lo, width := 0, uint32(f.lo), uint32(f.hi-f.lo)
	for k, row := range index {
		f.index[n&63] = row
		if value != nil {
			f.value[n&63] = value[k]
		}
		in := uint32(part(row)) - lo
		n += int((in - width) >> 31 &^ (in >> 31))
	}
	if value == nil {
		return f.index[:n], nil
	}
	return f.index[:n], f.value[:n]
}

// block adds x·c·v to what is here of a block of edge weights.
func (f *scatterer) block(to, v []float32, x float32) {
	if f.norms == nil {
		if v = share(v, f.lo, f.hi); len(v) > 0 {
			sparse.scatter(share(to, f.lo, f.hi), v, f.c*x, []int32{0}, nil)
		}
		return
	}
	for p := f.lo; p < f.hi; p++ {
		f.norms[p] += sparse.measureRun(share(to, p, p+1), share(v, p, p+1), f.c*x)
	}
}

// flush adds the chain's changes to the norms.
func (f *scatterer) flush() {
	if f.norms == nil {
		return
	}
	for p := f.lo; p < f.hi; p++ {
		f.norms[p] += sparse.take(f.change[p*places : (p+1)*places])
	}
}
