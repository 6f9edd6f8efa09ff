package methods

import (
	"context"
	"math"
	"slices"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// workingSet is the dual of the hinge restricted to the active outputs of each example, with all that steps between
// active outputs need in memory. A step then neither scores an example nor asks the oracle: it costs what few weights
// the two outputs differ in.
//
// For an affine scorer, an output y of example i is a plane over the weights: ⟨1_y − 1_{y_i}, θ_i(w) + ℓ_i⟩ = b_y +
// ⟨φ_y, w⟩ with φ_y = J_iᵀ(1_y − 1_{y_i}).
//
// Where weights multiply the dense inputs z_t of a position, φ_y has for each label in which y and y_i differ at t the
// numbers of z_t, so the set keeps a cell (t, label) in their place: ⟨φ_y, w⟩ takes the product of z_t and the label's
// weights, once for all planes of the example. Of all other weights it keeps the entries of φ_y that are not zero. It
// also keeps the inner products of an example's planes.
//
// Products are float32: they choose steps, and no certificate relies on them, because the dual point is recomposed from
// the shares.
//
// Weights of a block that multiplies dense inputs are kept by columns: those of a label are next to each other.
type workingSet struct {
	active  activeOutputs
	w       []float32  // of the dual point, by columns
	sets    []planeSet // [n]
	blocks  []nets.DenseBlock
	cells   []nets.DenseBlock // those with cells
	tied    []nets.TiedBlock
	covered bool // cells, what is added to them and tied blocks are all weights, and scores at the origin are 0

	rows   *sparse.Linear                          // where gather is gatherRows
	gather func(k *planeMaker, of *planeSet) error // makes the runs of a plane from a pullback of the lane's v

	makers chan *planeMaker

	since, before, step []float32 // w at the last mark, at the one before, and a change of w

	scores, shares []float64
	products       []float64 // of cells with weights
	factors        []float32 // of cells in a step
}

// newWorkingSet returns the set of the active outputs, at their dual point.
func newWorkingSet(ctx context.Context, p *train.Problem, c activeOutputs) (*workingSet, error) {
	dim := p.Scorer.Dim()
	x := &workingSet{active: c, blocks: nets.DenseBlocks(p.Scorer), tied: nets.TiedBlocks(p.Scorer), sets: make([]planeSet, len(c)), w: make([]float32, dim)}
	x.since, x.before, x.step = make([]float32, dim), make([]float32, dim), make([]float32, dim)
	parts := p.Scorer.Form().Parts
	for _, b := range x.blocks {
		if part := parts[b.Part]; part.Rows == structured.Positions && part.Width == b.Width && b.Dim == p.Data.Dim {
			x.cells = append(x.cells, b)
		}
	}
	x.gather = x.gatherAll
	if rows, ok := p.Rows(); ok && len(x.blocks) == len(x.cells) {
		x.rows, x.gather = rows, x.gatherRows
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

// inputs returns how many weights a cell has.
func (x *workingSet) inputs() int {
	if len(x.cells) == 0 {
		return 0
	}
	return x.cells[0].Dim
}

// answerProducts returns how many products of a position's inputs with a label's weights an answer about all examples
// takes, 0 without cells.
func (x *workingSet) answerProducts(p *train.Problem) (n int) {
	for _, b := range x.cells {
		n += p.Data.Positions() * b.Width
	}
	return n
}

// prune drops the active outputs of example i without a share, and of more than mostActive those with the least.
func (x *workingSet) prune(i int) {
	x.active.merge(i, mostActive)
	var left []int
	for k, c := range x.active[i] {
		if c.α > 0 {
			left = append(left, k)
		}
	}
	if len(left) == len(x.active[i]) {
		return
	}
	of := &x.sets[i]
	if of.keep(left); len(of.cells) == 0 {
		of.inputs = nil
	}
	x.active.prune(i)
}

// mostActive is how many active outputs an example keeps from pass to pass.
const mostActive = 50

// recompose computes the weights anew, w = c − (1/λn) Σ_i c_i Σ_k α_k φ_k, and returns the value at the origin of the
// lower bound that the dual point proves on the mean loss.
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
			α := c * x.active[i][k].α
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
		terms, runs, values := of.parts(k)
		for _, t := range terms {
			x.factors[t.place] += float32(c[k]) * t.factor
		}
		addRuns(float32(c[k]), runs, values, w)
	}
	dim := x.inputs()
	for e, by := range x.factors {
		if at := of.cells[e]; by != 0 {
			vec.Axpy(by, of.inputs[at.inputs():][:dim], w[at.weights():][:dim])
		}
	}
}

// score sets the scores of a set's planes at the weights.
func (x *workingSet) score(of *planeSet) {
	dim := x.inputs()
	x.products = vec.Grow(x.products, len(of.cells))
	for e, at := range of.cells {
		x.products[e] = float64(vec.Dot(of.inputs[at.inputs():][:dim], x.w[at.weights():][:dim]))
	}
	x.scores = vec.Grow(x.scores, len(of.planes))
	for k := range of.planes {
		terms, runs, values := of.parts(k)
		s := of.planes[k].height + dotRuns(runs, values, x.w)
		for _, t := range terms {
			s += float64(t.factor) * x.products[t.place]
		}
		x.scores[k] = s
	}
}

const (
	solvedShare = 0.1 // of the slope of its first step, below which a visit takes no more
	visitSteps  = 30
)

// visit moves the shares of example i's active outputs to where they raise the dual most, by pairwise steps as those of
// bcpfw, and returns the gap of the block before: by how much its best active output is above its mixture.
func (x *workingSet) visit(p *train.Problem, i int) float64 {
	c, of, set := p.Data.Weight(i), x.active[i], &x.sets[i]
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
		x.active.move(i, from, to, γ)
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
