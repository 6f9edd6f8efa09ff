package methods

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/machine/host"
	"github.com/dsp-go/dsp/structured/machine/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// workingSet is the dual of the hinge restricted to the corners of each example, with all that steps between corners need in memory. A step then
// neither scores an example nor asks the oracle: it costs what few weights the two outputs differ in.
//
// For an affine scorer, an output y of example i is a plane over the weights: ⟨1_y − 1_{y_i}, θ_i(w) + ℓ_i⟩ = b_y + ⟨φ_y, w⟩ with φ_y = J_iᵀ(1_y − 1_{y_i}).
//
// Where weights multiply the dense inputs z_t of a position, φ_y has for each label in which y and y_i differ at t the numbers of z_t, so the set keeps a cell
// (t, label) in their place: ⟨φ_y, w⟩ takes the product of z_t and the label's weights, once for all planes of the example. Of all other weights it keeps the
// entries of φ_y that are not zero. It also keeps the inner products of an example's planes.
//
// Products are float32: they choose steps, and no certificate relies on them, because the dual point is recomposed from the shares.
//
// Weights of a block that multiplies dense inputs are kept by columns: those of a label are next to each other.
type workingSet struct {
	corners corners
	w       []float32  // of the dual point, by columns
	sets    []planeSet // [n]
	blocks  []nets.DenseBlock
	cells   []nets.DenseBlock // those with cells
	tied    []nets.TiedBlock
	covered bool // cells, what is added to them and tied blocks are all weights, and scores at the origin are 0

	makers chan *planeMaker

	since, before, step []float32 // w at the last mark, at the one before, and a change of w

	scores, shares []float64
	products       []float64 // of cells with weights
	factors        []float32 // of cells in a step
}

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

// planeMaker makes planes, on one thread at a time.
type planeMaker struct {
	lane   *engine.Lane
	origin []float32   // zeros [Dim]
	sums   []float32   // [Dim] zeros between calls, for gradients and for inner products
	flat   []float32   // [Dim]
	rows   sparse.Rows // that an example touches
	one    [1]int
}

// newWorkingSet returns the set of the corners, at their dual point.
func newWorkingSet(ctx context.Context, p *train.Problem, c corners) (*workingSet, error) {
	dim := p.Scorer.Dim()
	x := &workingSet{corners: c, blocks: nets.DenseBlocks(p.Scorer), tied: nets.TiedBlocks(p.Scorer), sets: make([]planeSet, len(c)), w: make([]float32, dim)}
	x.since, x.before, x.step = make([]float32, dim), make([]float32, dim), make([]float32, dim)
	parts := p.Scorer.Form().Parts
	for _, b := range x.blocks {
		if part := parts[b.Part]; part.Rows == structured.Positions && part.Width == b.Width && b.Dim == p.Data.Dim {
			x.cells = append(x.cells, b)
		}
	}
	x.makers = make(chan *planeMaker, p.Threads())
	origin := make([]float32, dim)
	for range p.Threads() {
		x.makers <- &planeMaker{lane: p.NewLane(), origin: origin, sums: make([]float32, dim), flat: make([]float32, dim)}
	}
	var err error
	if x.covered, err = x.covers(p); err != nil {
		return nil, err
	}
	if err := x.extend(ctx, p, p.All()); err != nil {
		return nil, err
	}
	x.recompose(p)
	return x, nil
}

// covers reports what covered says. It looks at scores of the first example.
func (x *workingSet) covers(p *train.Problem) (bool, error) {
	known := 0
	for _, b := range x.cells {
		if known += b.Dim * b.Width; b.Bias >= 0 {
			known += b.Width
		}
		if b.Ends >= 0 {
			known += 2 * b.Width
		}
	}
	for _, b := range x.tied {
		known += b.Width
	}
	if known != p.Scorer.Dim() || p.Len() == 0 {
		return false, nil
	}
	k := <-x.makers
	defer func() { x.makers <- k }()
	ln := k.lane
	ln.Batch.Reset(p.Data, k.one[:])
	if err := ln.Worker.Score(k.origin, &ln.Batch, &ln.Theta); err != nil {
		return false, err
	}
	for _, part := range ln.Theta.Parts {
		if slices.ContainsFunc(part.Values, func(θ float32) bool { return θ != 0 }) {
			return false, nil
		}
	}
	return true, nil
}

// extend makes the planes of corners that some examples have got.
func (x *workingSet) extend(ctx context.Context, p *train.Problem, examples []int) error {
	var grown []int
	for _, i := range examples {
		if len(x.sets[i].planes) < len(x.corners[i]) {
			grown = append(grown, i)
		}
	}
	errs := make([]error, p.Threads())
	strands := len(errs)
	p.Parallel(strands, func(s int) {
		errs[s] = host.Guard(func() error {
			k := <-x.makers
			defer func() { x.makers <- k }()
			for j := s; j < len(grown); j += strands {
				if err := cmp.Or(ctx.Err(), x.extendOne(p, k, grown[j])); err != nil {
					return err
				}
			}
			return nil
		})
	})
	return cmp.Or(errs...)
}

// extendOne is extend for one example.
func (x *workingSet) extendOne(p *train.Problem, k *planeMaker, i int) error {
	of, gold, ln, ready := &x.sets[i], p.Data.Gold(i), k.lane, false
	for _, c := range x.corners[i][len(of.planes):] {
		var new plane
		if !slices.Equal(c.labels, gold) {
			if !ready {
				ready = true
				if err := x.prepare(p, k, i); err != nil {
					return err
				}
			}
			ln.V.Clear()
			ln.V.Add(0, c.labels, 1)
			ln.V.Add(0, gold, -1)
			if x.covered {
				x.gatherCovered(k, &new)
			} else if err := x.gather(p, k, &new); err != nil {
				return err
			}
			x.gatherTerms(k, &new)
			new.height = ln.V.Dot(0, &ln.Theta)
		}
		x.relate(k, of, new)
	}
	of.index()
	return nil
}

// prepare makes the lane's example i, its potentials those at the origin, and reads the inputs.
func (x *workingSet) prepare(p *train.Problem, k *planeMaker, i int) error {
	ln := k.lane
	k.one[0] = i
	ln.Batch.Reset(p.Data, k.one[:])
	if x.covered {
		ln.Theta.Resize(&ln.Batch, p.Scorer.Form())
		for _, part := range ln.Theta.Parts {
			clear(part.Values)
		}
		if err := p.Augment(&ln.Batch, &ln.Theta); err != nil {
			return err
		}
	} else if err := p.Potentials(ln, engine.At(k.origin)); err != nil {
		return err
	}
	ln.V.Like(&ln.Theta)
	of := &x.sets[i]
	if len(x.cells) == 0 || of.inputs != nil {
		return nil
	}
	if from, to := p.Data.Offsets[i], p.Data.Offsets[i+1]; p.Data.Features != nil {
		of.inputs = p.Data.Features[from*p.Data.Dim : to*p.Data.Dim]
		return nil
	}
	of.inputs = make([]float32, p.Data.Length(i)*p.Data.Dim)
	return p.Data.ReadFeatures(of.inputs, i)
}

// gatherTerms makes the terms of a plane from the lane's v.
func (x *workingSet) gatherTerms(k *planeMaker, f *plane) {
	for _, b := range x.cells {
		v := k.lane.V.Parts[b.Part].Of(0)
		for j, c := range v {
			if c != 0 {
				t, label := j/b.Width, j%b.Width
				f.terms = append(f.terms, term{cell: cell{int32(t * b.Dim), int32(b.Offset + label*b.Dim)}, factor: c})
			}
		}
	}
}

// gatherCovered makes the runs of a plane from the lane's v.
func (x *workingSet) gatherCovered(k *planeMaker, f *plane) {
	for _, b := range x.cells {
		v := k.lane.V.Parts[b.Part].Of(0)
		if b.Bias >= 0 {
			sums := k.sums[b.Bias:][:b.Width]
			for j, c := range v {
				sums[j%b.Width] += c
			}
			f.takeAll(k.sums, b.Bias, b.Width)
		}
		if b.Ends >= 0 && len(v) > 0 {
			copy(k.sums[b.Ends:], v[:b.Width])
			copy(k.sums[b.Ends+b.Width:][:b.Width], v[len(v)-b.Width:])
			f.takeAll(k.sums, b.Ends, 2*b.Width)
		}
	}
	for _, b := range x.tied {
		copy(k.sums[b.Offset:][:b.Width], k.lane.V.Parts[b.Part].Of(0))
		f.takeAll(k.sums, b.Offset, b.Width)
	}
}

// takeAll appends the n entries of v from at on that are not zero, and clears them.
func (f *plane) takeAll(v []float32, at, n int) {
	f.take(v, at, at+n)
	clear(v[at:][:n])
}

// gather makes the runs of a plane from a pullback of the lane's v.
func (x *workingSet) gather(p *train.Problem, k *planeMaker, f *plane) error {
	if err := k.lane.Worker.Pullback(&k.lane.V, k.sums); err != nil {
		return err
	}
	for _, b := range x.cells {
		clear(k.sums[b.Offset:][:b.Dim*b.Width])
	}
	if s := p.Sparse(); s != nil && len(x.blocks) == len(x.cells) {
		s.Rows(&k.lane.Batch, &k.rows)
		slices.Sort(k.rows.Index)
		for _, row := range k.rows.Index {
			lo, hi := s.Row(row)
			f.takeAll(k.sums, lo, hi-lo)
		}
		return nil
	}
	x.byColumns(k.sums, k.flat)
	clear(k.sums)
	f.take(k.flat, 0, len(k.flat))
	return nil
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

// relate adds a plane to those of an example.
func (x *workingSet) relate(k *planeMaker, of *planeSet, new plane) {
	dim := x.inputs()
	old, n := of.gram, len(of.planes)
	of.planes = append(of.planes, new)
	gram := make([]float64, (n+1)*(n+1))
	for k := range n {
		copy(gram[k*(n+1):], old[k*n:(k+1)*n])
	}
	for _, t := range new.terms {
		vec.Axpy(t.factor, of.inputs[t.inputs:][:dim], k.sums[t.weights:][:dim])
	}
	new.addTo(1, k.sums)
	for k2 := range of.planes {
		f := &of.planes[k2]
		dot := f.dot(k.sums)
		for _, t := range f.terms {
			dot += float64(t.factor) * float64(vec.Dot(of.inputs[t.inputs:][:dim], k.sums[t.weights:][:dim]))
		}
		gram[k2*(n+1)+n], gram[n*(n+1)+k2] = dot, dot
	}
	of.clear(&new, dim, k.sums)
	of.gram = gram
}

// inputs returns how many weights a cell has.
func (x *workingSet) inputs() int {
	if len(x.cells) == 0 {
		return 0
	}
	return x.cells[0].Dim
}

// prune drops the corners of example i without a share, and of more than mostCorners those with the least.
func (x *workingSet) prune(i int) {
	x.corners.merge(i, mostCorners)
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
	of := &x.sets[i]
	gram := make([]float64, 0, len(left)*len(left))
	for to, k := range left {
		of.planes[to] = of.planes[k]
		for _, l := range left {
			gram = append(gram, of.gram[k*n+l])
		}
	}
	clear(of.planes[len(left):])
	of.planes, of.gram = of.planes[:len(left)], gram
	if of.index(); len(of.cells) == 0 {
		of.inputs = nil
	}
	x.corners.prune(i)
}

// mostCorners is how many corners an example keeps from pass to pass.
const mostCorners = 50

// recompose computes the weights anew, w = c − (1/λn) Σ_i c_i Σ_k α_k φ_k, and returns the value at the origin of the lower bound that the dual point proves on
// the mean loss.
func (x *workingSet) recompose(p *train.Problem) (linear float64) {
	if p.Center != nil {
		x.byColumns(p.Center, x.w)
	} else {
		clear(x.w)
	}
	n := float64(p.Len())
	for i := range x.sets {
		of, c := &x.sets[i], p.Data.Weight(i)
		x.shares = vec.Grow(x.shares, len(of.planes))
		for k := range of.planes {
			α := c * x.corners[i][k].α
			linear += α * of.planes[k].height
			x.shares[k] = -α / (p.Lambda * n)
		}
		x.add(of, x.shares, x.w)
	}
	return linear / n
}

// add adds Σ_k c_k φ_k to weights by columns.
func (x *workingSet) add(of *planeSet, c []float64, w []float32) {
	x.factors = vec.Grow(x.factors, len(of.cells))
	clear(x.factors)
	for k := range of.planes {
		if c[k] == 0 {
			continue
		}
		f := &of.planes[k]
		for _, t := range f.terms {
			x.factors[t.place] += float32(c[k]) * t.factor
		}
		f.addTo(float32(c[k]), w)
	}
	dim := x.inputs()
	for e, by := range x.factors {
		if at := of.cells[e]; by != 0 {
			vec.Axpy(by, of.inputs[at.inputs:][:dim], w[at.weights:][:dim])
		}
	}
}

// score sets the scores of a set's planes at the weights.
func (x *workingSet) score(of *planeSet) {
	dim := x.inputs()
	x.products = vec.Grow(x.products, len(of.cells))
	for e, at := range of.cells {
		x.products[e] = float64(vec.Dot(of.inputs[at.inputs:][:dim], x.w[at.weights:][:dim]))
	}
	x.scores = vec.Grow(x.scores, len(of.planes))
	for k := range of.planes {
		f := &of.planes[k]
		s := f.height + f.dot(x.w)
		for _, t := range f.terms {
			s += float64(t.factor) * x.products[t.place]
		}
		x.scores[k] = s
	}
}

const (
	solvedShare = 0.1 // of the slope of its first step, below which a visit takes no more
	visitSteps  = 30
)

// visit moves the shares of example i's corners to where they raise the dual most, by pairwise steps as those of bcpfw, and returns the gap of the block before: by
// how much its best corner is above its mixture.
func (x *workingSet) visit(p *train.Problem, i int) float64 {
	c, of, set := p.Data.Weight(i), x.corners[i], &x.sets[i]
	n, gram := len(of), set.gram
	x.score(set)
	x.shares = vec.Grow(x.shares, n)
	mean := 0.0
	for k := range of {
		x.shares[k] = of[k].α
		mean += of[k].α * x.scores[k]
	}
	by := c / (p.Lambda * float64(p.Len()))
	first, gap, moved := 0.0, 0.0, false
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
		moved = true
		for k := range x.scores {
			x.scores[k] -= γ * by * (gram[k*n+to] - gram[k*n+from])
		}
	}
	if moved {
		for k := range of {
			x.shares[k] = -by * (of[k].α - x.shares[k])
		}
		x.add(set, x.shares, x.w)
	}
	return gap
}

// mark begins a round of visits at whose end extrapolate may be called. The first of several rounds knows of none before.
func (x *workingSet) mark(first bool) {
	copy(x.before, x.since)
	copy(x.since, x.w)
	if first {
		copy(x.before, x.w)
	}
	for i, of := range x.corners {
		s := &x.sets[i]
		s.since, s.before = s.before, s.since
		s.since = vec.Grow(s.since, len(of))
		for k, c := range of {
			s.since[k] = c.α
		}
		if first {
			s.before = append(s.before[:0], s.since...)
		}
	}
}

// extrapolate moves the dual point on along the change of the shares since the last mark, d, and that of the round before, e: to where the dual is largest among all
// xd + ye, which are cut short for an example whose shares would fall below 0, and then no further than the dual rises. Visits get slow along directions of small
// curvature; these two directions, as those of conjugate gradients, are made of them. It takes no products of planes with weights.
func (x *workingSet) extrapolate(p *train.Problem) {
	λ, n := p.Lambda, float64(p.Len())
	var rise [2]float64
	for i := range x.sets {
		s, c := &x.sets[i], p.Data.Weight(i)
		for k, f := range s.planes {
			rise[0] += c * (x.corners[i][k].α - s.since[k]) * f.height
			rise[1] += c * (s.since[k] - s.before[k]) * f.height
		}
	}
	d, e := x.step, x.before
	copy(d, x.w)
	vec.Axpy(-1, x.since, d)
	vec.Axpby(1, x.since, -1, e) // mark puts other numbers there
	rise[0], rise[1] = rise[0]/n-λ*vec.Dot64(d, x.w), rise[1]/n-λ*vec.Dot64(e, x.w)
	dd, de, ee := λ*vec.Norm2(d), λ*vec.Dot64(d, e), λ*vec.Norm2(e)
	if dd == 0 {
		return
	}
	a, b := rise[0]/dd, 0.0
	if det := dd*ee - de*de; det > independent*dd*ee {
		a, b = (rise[0]*ee-rise[1]*de)/det, (rise[1]*dd-rise[0]*de)/det
	}
	clear(x.step)
	linear := 0.0
	for i := range x.sets {
		if !x.change(i, a, b) {
			continue
		}
		s, c := &x.sets[i], p.Data.Weight(i)
		for k, f := range s.planes {
			linear += c * x.shares[k] * f.height
			x.shares[k] *= -c / (λ * n)
		}
		x.add(s, x.shares, x.step)
	}
	bend := λ * vec.Norm2(x.step)
	γ := min(1, (linear/n-λ*vec.Dot64(x.step, x.w))/bend)
	if !(γ > 0) {
		return
	}
	vec.Axpy(float32(γ), x.step, x.w)
	for i, of := range x.corners {
		if x.change(i, a, b) {
			for k := range of {
				of[k].α = max(0, of[k].α+γ*x.shares[k])
			}
		}
	}
}

// independent is the square of the sine of the least angle between two directions in which extrapolate searches.
const independent = 1e-6

// change sets the shares in x to a times the change of example i's since the last mark plus b times that of the round before, and cuts it short. It reports whether
// there is a change.
func (x *workingSet) change(i int, a, b float64) bool {
	s, of, any := &x.sets[i], x.corners[i], false
	x.shares = vec.Grow(x.shares, len(of))
	short := 1.0
	for k, c := range of {
		δ := a*(c.α-s.since[k]) + b*(s.since[k]-s.before[k])
		if x.shares[k] = δ; δ != 0 {
			any = true
		}
		if δ < 0 {
			short = min(short, c.α/-δ)
		}
	}
	for k := range x.shares {
		x.shares[k] *= short
	}
	return any && short > 0
}
