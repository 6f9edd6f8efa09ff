package methods

import (
	"math"
	"slices"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured/machine/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// workingSet is the dual of the hinge restricted to the corners of each example, with all that steps between corners need in memory. A step then
// neither scores an example nor asks the oracle: it costs what few weights the two outputs differ in.
//
// For an affine scorer, an output y of example i is a plane over the weights: ⟨1_y − 1_{y_i}, θ_i(w) + ℓ_i⟩ = b_y + ⟨φ_y, w⟩ with φ_y = J_iᵀ(1_y − 1_{y_i}). The set
// keeps b_y, the entries of φ_y that are not zero, and the inner products of an example's planes.
//
// Weights of a block that multiplies dense inputs are kept by columns, so that φ_y has a run of them for each label in which y and y_i differ.
type workingSet struct {
	corners corners
	w       []float32   // of the dual point, by columns
	planes  [][]plane   // [n] of each corner
	gram    [][]float64 // [n] ⟨φ_k, φ_l⟩, by rows
	blocks  []nets.DenseBlock

	lane   *engine.Lane
	origin []float32   // zeros [Dim]
	sums   []float32   // [Dim] zeros between calls, for gradients and for inner products
	rows   sparse.Rows // that an example touches
	one    [1]int
	flat   []float32
	scores []float64
	shares []float64
}

// plane is b + ⟨φ, w⟩. φ has runs of entries that are not zero.
type plane struct {
	height float64 // b
	runs   []run
	values []float32 // of the runs, one after the other
}

// run is a range of weights.
type run struct{ at, n int32 }

// shortRun is the longest run that is not worth a call of a vector loop. Zeros between runs that are no further apart join them.
const shortRun = 8

// newWorkingSet returns the set of the corners, at their dual point.
func newWorkingSet(p *train.Problem, c corners) (*workingSet, error) {
	dim := p.Scorer.Dim()
	x := &workingSet{corners: c, blocks: nets.DenseBlocks(p.Scorer), lane: p.NewLane(), planes: make([][]plane, len(c)), gram: make([][]float64, len(c))}
	x.origin, x.sums, x.flat, x.w = make([]float32, dim), make([]float32, dim), make([]float32, dim), make([]float32, dim)
	for i := range c {
		if err := x.extend(p, i); err != nil {
			return nil, err
		}
	}
	x.recompose(p)
	return x, nil
}

// extend makes the planes of corners that example i has got.
func (x *workingSet) extend(p *train.Problem, i int) error {
	have := len(x.planes[i])
	if have == len(x.corners[i]) {
		return nil
	}
	gold := p.Data.Gold(i)
	ln, scored := x.lane, false
	for _, k := range x.corners[i][have:] {
		var new plane
		if !slices.Equal(k.labels, gold) {
			if !scored {
				x.one[0], scored = i, true
				ln.Batch.Reset(p.Data, x.one[:])
				if err := p.Potentials(ln, engine.At(x.origin)); err != nil {
					return err
				}
				ln.V.Like(&ln.Theta)
			}
			ln.V.Clear()
			ln.V.Add(0, k.labels, 1)
			ln.V.Add(0, gold, -1)
			if err := ln.Worker.Pullback(&ln.V, x.sums); err != nil {
				return err
			}
			new = x.gather(p)
			new.height = ln.V.Dot(0, &ln.Theta)
		}
		x.relate(i, new)
	}
	return nil
}

// gather makes a plane of the gradient of the lane's example in sums, which it clears.
func (x *workingSet) gather(p *train.Problem) plane {
	var f plane
	if s := p.Sparse(); s != nil && len(x.blocks) == 0 {
		s.Rows(&x.lane.Batch, &x.rows)
		slices.Sort(x.rows.Index)
		for _, row := range x.rows.Index {
			lo, hi := s.Row(row)
			f.take(x.sums, lo, hi)
			clear(x.sums[lo:hi])
		}
		return f
	}
	x.byColumns(x.sums, x.flat)
	clear(x.sums)
	f.take(x.flat, 0, len(x.flat))
	return f
}

// byColumns copies weights to the order of the set.
func (x *workingSet) byColumns(from, to []float32) {
	copy(to, from)
	for _, b := range x.blocks {
		d := from[b.Offset:][:b.Dim*b.Width]
		for j := range b.Width {
			column := to[b.Offset+j*b.Dim:][:b.Dim]
			for r := range column {
				column[r] = d[r*b.Width+j]
			}
		}
	}
}

// weights copies the weights of the dual point to w, in the order of the scorer.
func (x *workingSet) weights(w []float32) {
	copy(w, x.w)
	for _, b := range x.blocks {
		d := w[b.Offset:][:b.Dim*b.Width]
		for j := range b.Width {
			for r, v := range x.w[b.Offset+j*b.Dim:][:b.Dim] {
				d[r*b.Width+j] = v
			}
		}
	}
}

// take appends the entries of v[lo:hi] that are not zero.
func (f *plane) take(v []float32, lo, hi int) {
	for j := lo; j < hi; j++ {
		if v[j] == 0 {
			continue
		}
		end := j + 1 // behind the last entry that is not zero
		for k := end; k < hi && k-end < shortRun; k++ {
			if v[k] != 0 {
				end = k + 1
			}
		}
		f.runs = append(f.runs, run{int32(j), int32(end - j)})
		f.values = append(f.values, v[j:end]...)
		j = end
	}
}

// dot returns ⟨φ, v⟩.
func (f *plane) dot(v []float32) float64 {
	sum, values := 0.0, f.values
	for _, r := range f.runs {
		if r.n <= shortRun {
			for j, y := range v[r.at:][:r.n] {
				sum += float64(values[j]) * float64(y)
			}
		} else {
			sum += vec.Dot64(values[:r.n], v[r.at:][:r.n])
		}
		values = values[r.n:]
	}
	return sum
}

// addTo adds cφ to v.
func (f *plane) addTo(c float32, v []float32) {
	values := f.values
	for _, r := range f.runs {
		if to := v[r.at:][:r.n]; r.n <= shortRun {
			for j := range to {
				to[j] += c * values[j]
			}
		} else {
			vec.Axpy(c, values[:r.n], to)
		}
		values = values[r.n:]
	}
}

// clear sets v to zero where φ may differ from zero.
func (f *plane) clear(v []float32) {
	for _, r := range f.runs {
		clear(v[r.at:][:r.n])
	}
}

// relate adds a plane to those of example i.
func (x *workingSet) relate(i int, new plane) {
	old, n := x.gram[i], len(x.planes[i])
	x.planes[i] = append(x.planes[i], new)
	gram := make([]float64, (n+1)*(n+1))
	for k := range n {
		copy(gram[k*(n+1):], old[k*n:(k+1)*n])
	}
	new.addTo(1, x.sums)
	for k := range x.planes[i] {
		dot := x.planes[i][k].dot(x.sums)
		gram[k*(n+1)+n], gram[n*(n+1)+k] = dot, dot
	}
	new.clear(x.sums)
	x.gram[i] = gram
}

// prune drops the corners of example i without a share.
func (x *workingSet) prune(i int) {
	var left []int
	for k, c := range x.corners[i] {
		if c.α > 0 {
			left = append(left, k)
		}
	}
	n := len(x.corners[i])
	if len(left) == n {
		return
	}
	gram := make([]float64, 0, len(left)*len(left))
	for to, k := range left {
		x.planes[i][to] = x.planes[i][k]
		for _, l := range left {
			gram = append(gram, x.gram[i][k*n+l])
		}
	}
	clear(x.planes[i][len(left):])
	x.planes[i], x.gram[i] = x.planes[i][:len(left)], gram
	x.corners.prune(i)
}

// recompose computes the weights anew, w = c − (1/λn) Σ_i c_i Σ_k α_k φ_k, and returns the value at the origin of the lower bound that the dual point proves on
// the mean loss.
func (x *workingSet) recompose(p *train.Problem) (linear float64) {
	if p.Center != nil {
		x.byColumns(p.Center, x.w)
	} else {
		clear(x.w)
	}
	n := float64(p.Len())
	for i, of := range x.planes {
		c := p.Data.Weight(i)
		for k := range of {
			if α := c * x.corners[i][k].α; α > 0 {
				of[k].addTo(float32(-α/(p.Lambda*n)), x.w)
				linear += α * of[k].height
			}
		}
	}
	return linear / n
}

const (
	solvedShare = 0.1 // of the slope of its first step, below which a visit takes no more
	visitSteps  = 30
)

// visit moves the shares of example i's corners to where they raise the dual most, by pairwise steps as those of bcpfw, and returns the gap of the block before: by
// how much its best corner is above its mixture.
func (x *workingSet) visit(p *train.Problem, i int) float64 {
	c, of, planes, gram := p.Data.Weight(i), x.corners[i], x.planes[i], x.gram[i]
	n := len(of)
	x.scores, x.shares = vec.Grow(x.scores, n), vec.Grow(x.shares, n)
	mean := 0.0
	for k := range planes {
		x.scores[k], x.shares[k] = planes[k].height+planes[k].dot(x.w), of[k].α
		mean += of[k].α * x.scores[k]
	}
	by := c / (p.Lambda * float64(p.Len()))
	first, gap := 0.0, 0.0
	for step := range visitSteps {
		to, from := 0, -1
		for k, s := range x.scores {
			if s > x.scores[to] {
				to = k
			}
			if of[k].α > 0 && (from < 0 || s < x.scores[from]) {
				from = k
			}
		}
		slope := x.scores[to] - x.scores[from]
		if step == 0 {
			first, gap = slope, max(0, c*(x.scores[to]-mean))
		}
		if by == 0 || slope <= solvedShare*first && step > 0 || slope <= 8*engine.Unit*math.Abs(x.scores[to]) {
			break
		}
		γ := of[from].α
		if bend := by * (gram[to*n+to] - 2*gram[to*n+from] + gram[from*n+from]); γ*bend > slope {
			γ = slope / bend
		}
		x.corners.move(i, from, to, γ)
		for k := range x.scores {
			x.scores[k] -= γ * by * (gram[k*n+to] - gram[k*n+from])
		}
	}
	for k := range planes {
		if δ := of[k].α - x.shares[k]; δ != 0 {
			planes[k].addTo(float32(-by*δ), x.w)
		}
	}
	return gap
}
