package methods

import (
	"cmp"
	"slices"

	"github.com/dsp-go/dsp/structured/machine/vec"
)

// planeSet is the planes of an example.
type planeSet struct {
	inputs []float32 // z_t of all positions, one after the other, if there are cells
	cells  []cell    // of all planes, sorted
	planes []plane   // of each corner
	gram   []float64 // ⟨φ_k, φ_l⟩, by rows

	since, before []float64 // shares at the last mark, and at the one before
}

// cell is the weights of a label that multiply the inputs of a position.
type cell struct{ inputs, weights int32 } // where they begin, in the set's inputs and in w

func (c cell) compare(to cell) int {
	return cmp.Or(cmp.Compare(c.inputs, to.inputs), cmp.Compare(c.weights, to.weights))
}

// plane is b + ⟨φ, w⟩. φ has terms and, of other weights, runs of entries that are not zero.
type plane struct {
	height float64 // b
	terms  []term
	runs   []run
	values []float32 // of the runs, one after the other
}

// term is a cell times a number.
type term struct {
	cell
	place  int32 // among the cells of the set
	factor float32
}

// run is a range of weights.
type run struct{ at, n int32 }

const (
	shortRun = 32 // the longest run that is not worth a call of a vector loop
	fewZeros = 2  // between runs, as many or fewer join them
)

// take appends the entries of v[lo:hi] that are not zero, in order.
func (f *plane) take(v []float32, lo, hi int) {
	for j := lo; j < hi; j++ {
		if v[j] == 0 {
			continue
		}
		end := j + 1 // behind the last entry that is not zero
		for k := end; k < hi && k-end <= fewZeros; k++ {
			if v[k] != 0 {
				end = k + 1
			}
		}
		f.runs = append(f.runs, run{int32(j), int32(end - j)})
		f.values = append(f.values, v[j:end]...)
		j = end
	}
}

// takeAll appends the n entries of v from at on that are not zero, and clears them.
func (f *plane) takeAll(v []float32, at, n int) {
	f.take(v, at, at+n)
	clear(v[at:][:n])
}

// dot returns ⟨φ, w⟩ of the runs of φ.
func (f *plane) dot(w []float32) float64 {
	sum, values := 0.0, f.values
	for _, r := range f.runs {
		if r.n <= shortRun {
			for j, y := range w[r.at:][:r.n] {
				sum += float64(values[j]) * float64(y)
			}
		} else {
			sum += float64(vec.Dot(values[:r.n], w[r.at:][:r.n]))
		}
		values = values[r.n:]
	}
	return sum
}

// addTo adds cφ to w, of the runs of φ.
func (f *plane) addTo(c float32, w []float32) {
	values := f.values
	for _, r := range f.runs {
		if to := w[r.at:][:r.n]; r.n <= shortRun {
			for j := range to {
				to[j] += float32(c * values[j])
			}
		} else {
			vec.Axpy(c, values[:r.n], to)
		}
		values = values[r.n:]
	}
}

// clear sets w to zero where φ may differ from zero.
func (of *planeSet) clear(f *plane, dim int, w []float32) {
	for _, t := range f.terms {
		clear(w[t.weights:][:dim])
	}
	for _, r := range f.runs {
		clear(w[r.at:][:r.n])
	}
}

// index lists the cells of all planes.
func (of *planeSet) index() {
	of.cells = of.cells[:0]
	for _, f := range of.planes {
		for _, t := range f.terms {
			of.cells = append(of.cells, t.cell)
		}
	}
	slices.SortFunc(of.cells, cell.compare)
	of.cells = slices.Compact(of.cells)
	for _, f := range of.planes {
		for j := range f.terms {
			place, _ := slices.BinarySearchFunc(of.cells, f.terms[j].cell, cell.compare)
			f.terms[j].place = int32(place)
		}
	}
}
