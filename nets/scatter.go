package nets

import "github.com/dsp-go/dsp/structured"

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
	f := scatterer{c: c, lo: lo, hi: hi, norms: norms}
	for b, i := range batch.Examples {
		from, t0 := batch.Offsets[b], batch.Data.Offsets[i]
		length := batch.Data.Offsets[i+1] - t0
		if x := batch.Data.Attributes; x != nil {
			for t := range length {
				if node := v.Node[(from+t)*y:][:y]; !isZero(node) {
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
				if isZero(edge) {
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
			if edge := v.Edge[b*yy:][:yy]; !isZero(edge) {
				f.block(to[s.transitions:][:yy], edge, 1)
			}
		}
		f.flush()
	}
}

// scatterer is one call of Scatter.
type scatterer struct {
	c      float32
	lo, hi int
	norms  []float64
	change partLanes // of ‖to‖², by the chain at hand
	index  [64]int32 // attributes of these parts
	value  [64]float32
}

// rows adds to the rows of one position's attributes.
func (f *scatterer) rows(to, v []float32, index []int32, value []float32) {
	if f.lo == 0 && f.hi == ScatterParts {
		f.add(to, v, index, value)
		return
	}
	for len(index) > 0 {
		n := min(len(index), len(f.index))
		mine, x := f.choose(index[:n], value)
		f.add(to, v, mine, x)
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

func (f *scatterer) add(to, v []float32, index []int32, value []float32) {
	if f.norms == nil {
		sparse.scatter(to, v, f.c, index, value)
	} else {
		sparse.measure(to, v, f.c, index, value, &f.change)
	}
}

// block adds x·c·v to what is here of a block of edge weights.
func (f *scatterer) block(to, v []float32, x float32) {
	only := []int32{0}
	if f.norms == nil {
		if v = share(v, f.lo, f.hi); len(v) > 0 {
			sparse.scatter(share(to, f.lo, f.hi), v, f.c*x, only, nil)
		}
		return
	}
	for p := f.lo; p < f.hi; p++ {
		if v := share(v, p, p+1); len(v) > 0 {
			var change partLanes
			sparse.measure(share(to, p, p+1), v, f.c*x, only, nil, &change)
			f.norms[p] += sum(change[0])
		}
	}
}

// flush adds the chain's changes to the norms.
func (f *scatterer) flush() {
	if f.norms == nil {
		return
	}
	for p := f.lo; p < f.hi; p++ {
		f.norms[p] += sum(f.change[p])
		f.change[p] = [16]float32{}
	}
}

func sum(lanes [16]float32) float64 {
	total := 0.0
	for _, x := range lanes {
		total += float64(x)
	}
	return total
}

func isZero(x []float32) bool {
	for _, v := range x {
		if v != 0 {
			return false
		}
	}
	return true
}
