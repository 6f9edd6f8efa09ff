package sparse

import (
	"math"
	"sync"

	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Stripes is how many stripes the weights are divided into. It is fixed, so that sums over stripes do not depend on the
// number of threads.
const Stripes = kernels.Stripes

// share returns what stripes lo to hi-1 own of a block of weights that is divided among all stripes.
func share[E any](block []E, lo, hi int) []E {
	n := len(block)
	return block[n*lo/Stripes : n*hi/Stripes]
}

// Stripe calls each for the ranges w[lo:hi] of the weights of stripe k, in order. They never overlap, and the stripes
// have all weights.
func (s *Linear) Stripe(k int, each func(lo, hi int)) {
	shared := func(offset, n int) { // of n weights that are divided among all stripes
		if lo, hi := n*k/Stripes, n*(k+1)/Stripes; lo < hi {
			each(offset+lo, offset+hi)
		}
	}
	for i := range s.parts {
		p := &s.parts[i]
		if p.bias >= 0 {
			shared(p.bias, p.Width)
		}
		if p.wide {
			for a := range p.attributes {
				shared(p.rows+a*p.Width, p.Width)
			}
		} else {
			const turn = kernels.RowsInTurn
			for a := k * turn; a < p.attributes; a += turn * Stripes {
				each(p.rows+a*p.Width, p.rows+min(a+turn, p.attributes)*p.Width)
			}
		}
		for j := range p.dense {
			b := &p.dense[j]
			if from, to := b.columnsOf(k, k+1); from < to {
				each(b.offset+from*b.width, b.offset+to*b.width)
			}
		}
	}
}

// Scatter adds c·Jᵀv to the weights of stripes lo to hi-1 of to [Dim], where v are marginals of the batch or
// differences of marginals; lo = 0 and hi = Stripes update all weights. Calls on disjoint stripes of the same to may
// run at the same time. Each weight receives its summands in the order of the batch, so its bits depend neither on the
// division nor on the threads.
//
// If norms [Stripes] is not nil, norms[k] grows by the change of ‖to‖² in stripe k, Σ(2xδ + δ²) with x a weight before
// the call and δ its change; of a thresholded scorer, by the change of the norm of the soft thresholds.
func (s *Linear) Scatter(c float32, v *structured.Marginals, batch *structured.Batch, lo, hi int, to []float32, norms []float64) {
	if c == 0 || lo >= hi {
		return
	}
	f := scatterers.Get().(*scatterer)
	defer scatterers.Put(f)
	f.c, f.τ, f.lo, f.hi, f.norms, f.measures = c, s.τ, lo, hi, norms, false
	s.scatter(f, v, batch, to, nil)
	if s.HasDense() {
		s.scatterDense(f, v, batch, to)
	}
}

// Measure is Scatter to all weights. It returns the change of ‖to‖² that Scatter adds to norms, in one sum over all
// stripes, which takes less time. Unless added is nil, it counts the additions there.
func (s *Linear) Measure(
	c float32, v *structured.Marginals, batch *structured.Batch, to []float32, added *Additions,
) float64 {
	f := scatterers.Get().(*scatterer)
	defer scatterers.Put(f)
	f.c, f.τ, f.lo, f.hi, f.norms, f.total = c, s.τ, 0, Stripes, f.all[:], 0
	f.measures, f.one, f.added = s.τ == 0, kernels.Change{}, Additions{}
	clear(f.norms)
	s.scatter(f, v, batch, to, nil)
	if s.HasDense() {
		f.measures = false
		s.scatterDense(f, v, batch, to)
	}
	for _, x := range f.norms {
		f.total += x
	}
	if added != nil {
		for k := range s.parts {
			if s.Scores(k) {
				f.added.Moved += float64(c) * float64(c) * vec.Norm2(v.Parts[k].Values)
			}
		}
		added.add(f.added, f.measures && !s.HasDense())
	}
	return f.total
}

// ScatterTwo is Scatter of c·Jᵀv to one vector and of d·Jᵀv to another. It takes less time than two calls: it reads
// attributes once, and waits for the memory of both vectors at the same time.
func (s *Linear) ScatterTwo(c, d float32, v *structured.Marginals, batch *structured.Batch, lo, hi int, to, other []float32) {
	if c == 0 || d == 0 || s.HasDense() {
		s.Scatter(c, v, batch, lo, hi, to, nil)
		s.Scatter(d, v, batch, lo, hi, other, nil)
		return
	}
	if lo >= hi {
		return
	}
	f := scatterers.Get().(*scatterer)
	defer scatterers.Put(f)
	f.c, f.d, f.τ, f.lo, f.hi, f.norms, f.measures = c, d, s.τ, lo, hi, nil, false
	s.scatter(f, v, batch, to, other)
}

// scatter adds the pullback to to, and if other is not nil, to that as well, but for dense inputs.
func (s *Linear) scatter(f *scatterer, v *structured.Marginals, batch *structured.Batch, to, other []float32) {
	for b, i := range batch.Examples {
		for k := range s.parts {
			s.parts[k].scatter(f, &v.Parts[k], b, batch.Data, i, to, other)
		}
		f.flush()
	}
}

// scatter adds the pullback of example b of v, which is example i of the data.
func (p *part) scatter(f *scatterer, v *structured.Part, b int, data *structured.Dataset, i int, to, other []float32) {
	x, width := data.AttributesOf(p.Shape), p.Width
	if p.Rows == structured.Tied || p.attributes == 0 {
		x = nil
	}
	if x == nil && p.bias < 0 {
		return
	}
	row := 0
	if x != nil {
		row = data.Rows(p.Rows)[i]
	}
	share := func(at int, from []float32, x float32, free bool) { // of a block of weights from at on
		f.addShare(to[at:][:width], from, f.c*x, free)
		if other != nil {
			f.addShare(other[at:][:width], from, f.d*x, free)
		}
	}
	weights, others := to[p.rows:][:p.attributes*width], other
	if other != nil {
		others = other[p.rows:][:p.attributes*width]
	}
	for r := v.Offsets[b]; r < v.Offsets[b+1]; r, row = r+1, row+1 {
		from := v.Values[r*width:][:width]
		if kernels.Sparse.IsZero(from) {
			continue
		}
		if p.bias >= 0 {
			share(p.bias, from, 1, p.free)
		}
		if x == nil {
			continue
		}
		index, value := x.Row(row)
		if !p.wide {
			f.rows(weights, others, from, index, value)
			continue
		}
		for k, a := range index {
			share(p.rows+int(a)*width, from, kernels.ValueAt(value, k), false)
		}
	}
}

// scatterer is the state of one call of Scatter. Its sums are zero between calls.
type scatterer struct {
	change *kernels.Changes
	c, d   float32 // d: for another vector (ScatterTwo)
	τ      float32
	lo, hi int
	norms  []float64

	// For Measure:
	measures bool // without a threshold: sums over all stripes
	all      [Stripes]float64
	one      kernels.Change
	total    float64
	added    Additions
	terms    int // of a float32 sum since flush, at most

	index  [64]int32 // attributes of these stripes
	value  [64]float32
	row    []float64 // of v (ScatterDouble)
	wide   []float64 // v of a part (ScatterDouble)
	single pulling[float32]
	double pulling[float64]
}

var scatterers = sync.Pool{New: func() any { return &scatterer{change: new(kernels.Changes)} }}

// rows adds to the rows of the attributes of one position, of one vector or two, 64 at a time whatever the stripes, so
// that changes are summed in the same order for every division.
func (f *scatterer) rows(to, other, v []float32, index []int32, value []float32) {
	whole := f.lo == 0 && f.hi == Stripes
	for len(index) > 0 {
		n := min(len(index), len(f.index))
		owned, x := index[:n], value
		if !whole {
			owned, x = f.choose(owned, x)
		}
		switch {
		case other != nil:
			kernels.Sparse.ScatterTwo(to, other, v, f.c, f.d, owned, x)
		case f.norms == nil:
			kernels.Sparse.Scatter(to, v, f.c, owned, x)
		case f.measures:
			kernels.Sparse.MeasureAll(to, v, f.c, owned, x, &f.one)
			f.added.Count++
			f.terms += len(owned) * len(v)
		case f.τ > 0:
			kernels.Sparse.MeasureSoft(to, v, f.c, f.τ, owned, x, f.change)
		default:
			kernels.Sparse.Measure(to, v, f.c, owned, x, f.change)
		}
		index = index[n:]
		if value != nil {
			value = value[n:]
		}
	}
}

// choose returns the attributes that belong to the stripes of this call. It does not branch on the attributes.
func (f *scatterer) choose(index []int32, value []float32) ([]int32, []float32) {
	n, lo, width := 0, uint32(f.lo), uint32(f.hi-f.lo)
	for k, row := range index {
		f.index[n&63] = row
		if value != nil {
			f.value[n&63] = value[k]
		}
		in := uint32(kernels.StripeOf(row)) - lo
		n += int((in - width) >> 31 &^ (in >> 31))
	}
	if value == nil {
		return f.index[:n], nil
	}
	return f.index[:n], f.value[:n]
}

// addShare adds c·v to the share that these stripes own of a block of weights. Free weights have no threshold.
func (f *scatterer) addShare(to, v []float32, c float32, free bool) {
	if f.norms == nil {
		if v = share(v, f.lo, f.hi); len(v) > 0 {
			kernels.Sparse.Scatter(share(to, f.lo, f.hi), v, c, []int32{0}, nil)
		}
		return
	}
	if f.measures {
		f.total += kernels.Sparse.MeasureRun(to, v, c)
		f.added.Count++
		f.added.After += vec.Norm2(to)
		return
	}
	for p := f.lo; p < f.hi; p++ {
		if f.τ > 0 && !free {
			f.norms[p] += kernels.Sparse.MeasureRunSoft(share(to, p, p+1), share(v, p, p+1), c, f.τ)
		} else {
			f.norms[p] += kernels.Sparse.MeasureRun(share(to, p, p+1), share(v, p, p+1), c)
		}
	}
}

// flush adds the changes of an example to the norms.
func (f *scatterer) flush() {
	if f.norms == nil {
		return
	}
	if f.measures {
		f.total += kernels.Sparse.Take(f.one[:1])
		more := 1 + 2*unit*float64(f.terms) // what sums in float32 lack at most
		f.added.After += more * kernels.Sparse.Take(f.one[1:])
		if f.terms > mostTerms {
			f.added.After = math.Inf(1)
		}
		f.terms = 0
		return
	}
	for p := f.lo; p < f.hi; p++ {
		f.norms[p] += kernels.Sparse.Take(f.change[p*kernels.Places : (p+1)*kernels.Places])
	}
}
