package methods

import (
	"slices"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// planeSet is the planes of an example. Terms, runs and values of all planes lie one after the other, because a visit
// reads all of them, and none is in a cache.
type planeSet struct {
	inputs []float32 // z_t of all positions, one after the other, if there are cells
	cells  []cell    // of all planes, sorted
	planes []plane   // of each active output
	terms  []term
	runs   []run
	values []float32 // of the runs
	gram   []float64 // ⟨φ_k, φ_l⟩, by rows

	since, before []float64 // shares at the last mark, and at the one before
}

// cell is the weights of a label that multiply the inputs of a position: where both begin, in one number, which sorts
// fast.
type cell uint64

func cellAt(inputs, weights int) cell { return cell(uint64(inputs)<<32 | uint64(uint32(weights))) }

// inputs returns where they begin in the set's inputs.
func (c cell) inputs() int { return int(c >> 32) }

// weights returns where they begin in w.
func (c cell) weights() int { return int(uint32(c)) }

// plane is b + ⟨φ, w⟩. φ has terms and, of other weights, runs of entries that are not zero.
type plane struct {
	height              float64 // b
	terms, runs, values int32   // of the set, where those of the plane end
}

// term is a cell times a number.
type term struct {
	place  int32 // among the cells of the set
	factor float32
}

// run is a range of weights.
type run struct{ at, n int32 }

const (
	shortRun = 32 // the longest run that is not worth a call of a vector loop
	fewZeros = 2  // between runs, as many or fewer join them
)

// take appends the entries of v[lo:hi] that are not zero to the runs, in order.
func (of *planeSet) take(v []float32, lo, hi int) {
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
		of.runs = append(of.runs, run{int32(j), int32(end - j)})
		of.values = append(of.values, v[j:end]...)
		j = end
	}
}

// takeAll appends the n entries of v from at on that are not zero to the runs, and clears them.
func (of *planeSet) takeAll(v []float32, at, n int) {
	of.take(v, at, at+n)
	clear(v[at:][:n])
}

// end makes a plane of the terms and runs behind those of the others.
func (of *planeSet) end(height float64) {
	of.planes = append(of.planes, plane{height, int32(len(of.terms)), int32(len(of.runs)), int32(len(of.values))})
}

// parts returns the terms, the runs and the values of plane k.
func (of *planeSet) parts(k int) ([]term, []run, []float32) {
	var from plane
	if k > 0 {
		from = of.planes[k-1]
	}
	to := &of.planes[k]
	return of.terms[from.terms:to.terms], of.runs[from.runs:to.runs], of.values[from.values:to.values]
}

// keep drops all planes but some.
func (of *planeSet) keep(some []int) {
	was, n := *of, len(of.planes)
	of.planes, of.terms, of.runs, of.values = make([]plane, 0, len(some)), nil, nil, nil
	of.gram = make([]float64, 0, len(some)*len(some))
	for _, k := range some {
		terms, runs, values := was.parts(k)
		of.terms, of.runs, of.values = append(of.terms, terms...), append(of.runs, runs...), append(of.values, values...)
		of.end(was.planes[k].height)
		for _, l := range some {
			of.gram = append(of.gram, was.gram[k*n+l])
		}
	}
	of.index()
}

// index sorts the cells, and drops those of no plane.
func (of *planeSet) index() {
	was := of.cells
	of.cells = make([]cell, 0, len(was))
	for _, t := range of.terms {
		of.cells = append(of.cells, was[t.place])
	}
	slices.Sort(of.cells)
	of.cells = slices.Compact(of.cells)
	for j := range of.terms {
		place, _ := slices.BinarySearch(of.cells, was[of.terms[j].place])
		of.terms[j].place = int32(place)
	}
}

// dotRuns returns ⟨φ, w⟩ of the runs of φ.
func dotRuns(runs []run, values, w []float32) (sum float64) {
	for _, r := range runs {
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

// addRuns adds cφ to w, of the runs of φ.
func addRuns(c float32, runs []run, values, w []float32) {
	for _, r := range runs {
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
