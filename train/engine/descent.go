package engine

import (
	"context"
	"math"
	"slices"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/machine/vec"
)

// Descent is the sequence of iterates of a method that moves every weight by a step length of its own,
//
//	v ← βv + (1−β)g²,    h = √(v/(1−β^c)) + 10⁻⁸,
//
// where g is the mean gradient of the batch and c counts the steps.
//
// ProxStep costs what the batch reads. In rows of the scorer's row tables that the batch does not read, v and w only shrink, each by a
// factor that has a closed form for any number of steps, so it is applied when a batch reads the row again (catchUp).
//
// On a device, which must be a Descender, the descent lives there until Finish; W and Mean are then out of date.
type Descent struct {
	W    []float32 // [Dim] the iterate
	Mean []float32 // [Dim] of the iterates that Include has added; empty before the first

	v, m    []float32 // [Dim] means of g² and of g; m is z after MomentumStep; empty where no step needs them
	count   int       // iterates in the mean
	steps   int       // c
	squares unbiased  // of v
	means   unbiased  // of m

	lazy    bool      // steps are those of ProxStep, which leave rows behind
	shrink  float64   // what the steps since base shrink (catchUp)
	base    int       // step at which shrink was 0
	upTo    []int32   // [rows] by row, table after table: the step up to which the row is up to date
	shrinks []float64 // [rows] by row: shrink then
	roots   []float64 // of powers of β (root)

	engine  *Engine
	support *support  // of the current batch; nil: all weights
	g       []float32 // [Dim] the mean gradient, zero outside the support; memory of the engine, or zeros
	zeros   []float32 // [Dim] for sparse inputs, whose gradients the engine does not store; zero between steps
	f       float64   // the mean loss
	losses  losses    // by example
	q       []float32 // step lengths of the weights of the support in its order, for Adam of all weights

	remote *remoteDescent // nil without a device
}

// unbiased holds Unbias(β).
type unbiased struct {
	β  float64
	by []float32
}

func (u *unbiased) after(c int) float32 {
	if u.by == nil {
		u.by = Unbias(u.β)
	}
	if c < len(u.by) {
		return u.by[c]
	}
	return 1
}

// Unbias returns 1/(1−β^c) for c = 0, 1, …, as long as it differs from 1 by 10⁻⁹ or more: what a mean that started at zero must be
// multiplied with after c steps. For c = 0, which has no mean, it is infinite.
func Unbias(β float64) []float32 {
	var by []float32
	for c := 0; ; c++ {
		next := -1 / math.Expm1(float64(c)*math.Log(β))
		if next < 1+1e-9 {
			return by
		}
		by = append(by, float32(next))
	}
}

// Start sets the iterate. β is the decay of the mean of squares. All steps of a descent are of one kind.
func (d *Descent) Start(e *Engine, at []float32, β float64) {
	*d = Descent{W: slices.Clone(at)}
	d.Resume(e, β)
}

// Resume attaches a restored descent to the engine.
func (d *Descent) Resume(e *Engine, β float64) {
	d.engine, d.support, d.squares, d.remote = e, e.support, unbiased{β: β}, nil
	if device := e.Descender(); device != nil {
		d.remote = &remoteDescent{Descender: device}
	}
	if d.support != nil {
		d.upTo, d.shrinks = make([]int32, d.support.numRows()), make([]float64, d.support.numRows())
	}
	d.rebase()
}

// Ask computes the mean loss of a batch and its mean gradient at the iterate, without the regulariser. A step must follow. On a
// device the work begins with that step, and an error of it may come from a later call.
func (d *Descent) Ask(ctx context.Context, examples []int, s oracles.Smoothing, dropout uint64) error {
	if d.remote != nil {
		return d.askRemote(ctx, examples, s, dropout)
	}
	d.Prepare(examples)
	return d.ask(ctx, examples, s, nil, dropout)
}

// Prepare brings the weights that a batch reads up to date.
func (d *Descent) Prepare(examples []int) {
	if d.support == nil {
		return
	}
	d.engine.reach(examples)
	if !d.lazy {
		return
	}
	for k := range d.support.tables {
		for _, r := range d.support.rows[k] {
			d.catchUp(k, int(r))
		}
	}
}

// ask is Ask on the host, from a memory unless that is nil.
func (d *Descent) ask(ctx context.Context, examples []int, s oracles.Smoothing, memory *Memory, dropout uint64) error {
	e := d.engine
	st, err := e.StepAt(ctx, At(d.W), examples, s, memory, dropout)
	if err != nil {
		return err
	}
	d.f = st.Smoothed / float64(len(examples))
	if e.Loss.Smooth() {
		d.losses.set(e, examples)
	}
	d.gradient(&st, len(examples))
	return nil
}

// gradient makes g the gradient of a step, divided by n.
func (d *Descent) gradient(st *Step, n int) {
	inv := float32(1 / float64(n))
	if d.engine.sparse == nil {
		d.g = d.engine.dense.values
		d.each(func(lo, hi, _ int) { vec.Scale(inv, d.g[lo:hi]) })
		return
	}
	if d.zeros == nil {
		d.zeros = make([]float32, len(d.W))
	}
	d.g = d.zeros
	st.Grad.AddTo(inv, d.g)
}

// each calls do for the ranges of weights of the support, each with its place in q.
func (d *Descent) each(do func(lo, hi, at int)) {
	if d.support == nil {
		do(0, len(d.W), 0)
		return
	}
	at := 0
	d.support.each(func(lo, hi int) {
		do(lo, hi, at)
		at += hi - lo
	})
}

// size returns the number of weights of the support.
func (d *Descent) size() int {
	n := 0
	d.each(func(lo, hi, _ int) { n += hi - lo })
	return n
}

// AdamStep takes a step of AdamW (Kingma and Ba 2015; Loshchilov and Hutter 2019) with all weights: with m the mean of g by β₁,
//
//	w ← (1 − ηλ)w − η m/((1−β₁^c) h).
func (d *Descent) AdamStep(η, λ, β1 float64) {
	d.v, d.m = d.perWeight(d.v), d.perWeight(d.m)
	if d.remote != nil {
		d.moveRemote(AdamRule, η, λ, β1)
		return
	}
	d.means.β = β1
	d.q = vec.Grow(d.q, len(d.W))
	d.steps++
	vec.Observe(float32(d.squares.β), d.squares.after(d.steps), 0, d.g, d.v, d.q)
	vec.DescendMean(float32(β1), float32(1-η*λ), float32(η)*d.means.after(d.steps), d.g, d.q, d.m, d.W)
	d.stepped()
}

// MomentumStep takes a step with all weights along a mean of the gradients of F:
//
//	z ← μz + g + λw,      w ← w − ηz,  or with nesterov  w ← w − η(g + λw + μz).
func (d *Descent) MomentumStep(η, λ, μ float64, nesterov bool) {
	d.m = d.perWeight(d.m)
	if d.remote != nil {
		rule := MomentumRule
		if nesterov {
			rule = NesterovRule
		}
		d.moveRemote(rule, η, λ, μ)
		return
	}
	vec.Axpby(1, d.g, float32(μ), d.m)
	vec.Axpy(float32(λ), d.W, d.m)
	if nesterov {
		vec.Axpby(float32(-η), d.g, float32(1-η*λ), d.W)
		vec.Axpy(float32(-η*μ), d.m, d.W)
	} else {
		vec.Axpy(float32(-η), d.m, d.W)
	}
	d.steps++
	d.stepped()
}

// Clip scales the gradient down to the given norm if it is longer; 0 leaves it alone.
func (d *Descent) Clip(norm float64) {
	if d.remote != nil {
		d.remote.move.Clip = norm
		return
	}
	if norm == 0 {
		return
	}
	square := 0.0
	d.each(func(lo, hi, _ int) { square += vec.Norm2(d.g[lo:hi]) })
	if square > norm*norm {
		by := float32(norm / math.Sqrt(square))
		d.each(func(lo, hi, _ int) { vec.Scale(by, d.g[lo:hi]) })
	}
}

// perWeight returns x, or zeros for every weight if it is empty.
func (d *Descent) perWeight(x []float32) []float32 {
	if len(x) == 0 {
		return make([]float32, len(d.W))
	}
	return x
}

// stepped ends a step: it clears the gradient of sparse inputs.
func (d *Descent) stepped() {
	if d.zeros != nil {
		d.support.clear(d.zeros)
	}
}

// shrunk ends a step of ProxStep that the batch's rows took: all others shrink by exp(−ηλ/h) in w, and by β in v.
//
// For a row that no batch has read since step r, h at step s is √(v_r β^{s−r}/(1−β^s)), apart from its floor. So the steps after r
// shrink w by exp(−x/√v_r) in all, with
//
//	x = β^{r/2} Σ_s η_s λ √(1−β^s) β^{−s/2}.
//
// The sum over steps is shrink; powers of β count from base.
func (d *Descent) shrunk(length float64) {
	d.steps++
	if d.support == nil {
		return
	}
	d.lazy = true
	unbias := float64(d.squares.after(d.steps))
	d.shrink += length / (math.Sqrt(unbias) * d.root(d.steps-d.base))
	for k, first := range d.support.first {
		for _, r := range d.support.rows[k] {
			d.upTo[first+int(r)], d.shrinks[first+int(r)] = int32(d.steps), d.shrink
		}
	}
	d.stepped()
	if d.steps-d.base >= mostSteps {
		d.catchAllUp()
		d.rebase()
	}
}

// mostSteps keeps powers of β in range.
const mostSteps = 1 << 18

// rebase starts a new sum when all rows are up to date.
func (d *Descent) rebase() {
	d.base, d.shrink = d.steps, 0
	clear(d.shrinks)
	for r := range d.upTo {
		d.upTo[r] = int32(d.steps)
	}
}

// catchUp brings row r of table k up to date. A weight that has never had a gradient, whose v is 0, stays where it is.
func (d *Descent) catchUp(k, r int) {
	row, t := d.support.first[k]+r, d.support.tables[k]
	missed := d.steps - int(d.upTo[row])
	if missed == 0 {
		return
	}
	lo := t.Offset + r*t.Cols
	w, v := d.W[lo:lo+t.Cols], d.v[lo:lo+t.Cols]
	vec.Decay(float32((d.shrink-d.shrinks[row])*d.root(int(d.upTo[row])-d.base)), 1, v, w)
	root := d.root(missed)
	vec.Scale(float32(root*root), v)
	d.upTo[row], d.shrinks[row] = int32(d.steps), d.shrink
}

// root returns β^{n/2}.
func (d *Descent) root(n int) float64 {
	for len(d.roots) <= n {
		d.roots = append(d.roots, math.Pow(d.squares.β, float64(len(d.roots))/2))
	}
	return d.roots[n]
}

// catchAllUp brings every weight up to date.
func (d *Descent) catchAllUp() {
	if d.support == nil || !d.lazy {
		return
	}
	for k, t := range d.support.tables {
		for r := range t.Rows {
			d.catchUp(k, r)
		}
	}
}

// Include adds the iterate to the mean of the iterates with a share: mean ← (1−share)·mean + share·w. The first iterate's is 1.
func (d *Descent) Include(share float64) {
	d.count++
	if d.remote != nil {
		d.flush()
		if d.count == 1 {
			share = 1
		}
		d.remote.IncludeIterate(share)
		return
	}
	d.catchAllUp()
	if d.count == 1 {
		d.Mean = append(d.Mean[:0], d.W...)
		return
	}
	vec.Axpby(float32(share), d.W, float32(1-share), d.Mean)
}

// Count returns the number of iterates that the mean includes.
func (d *Descent) Count() int { return d.count }

// ResetMean starts a new mean.
func (d *Descent) ResetMean() { d.count = 0 }

// Finish brings the weights up to date, as at the end of a pass.
func (d *Descent) Finish() error {
	if d.remote != nil {
		return d.finishRemote()
	}
	d.catchAllUp()
	d.rebase()
	return nil
}

// Archive saves or restores a finished descent.
func (d *Descent) Archive(a Archive) {
	a.Floats("descent.w", &d.W)
	a.Floats("descent.mean", &d.Mean)
	a.Floats("descent.squares", &d.v)
	a.Floats("descent.gradients", &d.m)
	a.Count("descent.mean.iterates", &d.count)
	a.Count("descent.steps", &d.steps)
}
