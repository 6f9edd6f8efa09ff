package engine

import (
	"context"
	"math"
	"slices"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// ScaledDescent is the sequence of iterates of a method that moves every weight by a step length of its own,
//
//	v ← βv + (1−β)g²,    h = √(v/(1−β^c)) + 10⁻⁸,
//
// where g is the mean gradient of the batch and c counts the steps. ProxRule tempers these scales by one that all
// weights share.
//
// On a device, which must be a Descender, the descent lives there until Finish; W and Mean are then out of date. It
// must not be copied after Start or Resume.
type ScaledDescent struct {
	W    []float32 // [Dim] the iterate
	Mean []float32 // [Dim] of the iterates that Include has added; empty before the first

	v, m    []float32 // [Dim] means of g² and of g; m is z of the momentum rules; empty where no step needs them
	count   int       // iterates in the mean
	common  []float32 // [1] V of ProxRule; empty where no step needs it
	steps   int       // c
	squares unbiased  // of v

	engine  *Engine
	stepper descentStepper
}

// Question is what a step of a descent asks the oracle: about which examples, with which smoothing, and with which seed
// of dropout masks; 0 turns dropout off.
type Question struct {
	Examples  []int
	Smoothing oracles.Smoothing
	Dropout   uint64
}

// Move tells how a step moves the iterate along the mean gradient g of its batch.
type Move struct {
	Rule        Rule
	Eta, Lambda float64 // η and λ
	Beta        float64 // β₁ of AdamRule, μ of the momentum rules
	Clip        float64 // largest norm of g, which is scaled down if it is longer; 0: any
}

// Rule tells how a step moves the iterate.
type Rule int

// The rules. ProxRule moves to the minimiser of a model of the objective on the batch (proxstep.go). AdamRule takes a
// step of AdamW (Kingma and Ba 2015; Loshchilov and Hutter 2019) with all weights: with m the mean of g by β₁,
//
//	w ← (1 − ηλ)w − η m/((1−β₁^c) h).
//
// MomentumRule and NesterovRule take a step with all weights along a mean of the gradients of F:
//
//	z ← μz + g + λw,      w ← w − ηz,  or with Nesterov's  w ← w − η(g + λw + μz).
const (
	ProxRule Rule = iota + 1
	AdamRule
	MomentumRule
	NesterovRule
)

// descentStepper takes the steps of a descent, whose methods of the same names say what each call does: hostDescent or
// deviceDescent. v and m exist where a step needs them.
type descentStepper interface {
	prepare(examples []int)
	step(ctx context.Context, q Question, m Move) (γ float64, err error)
	include(share float64)
	finish() error
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

// Unbias returns 1/(1−β^c) for c = 0, 1, …, as long as it differs from 1 by 10⁻⁹ or more: what a mean that started at
// zero must be multiplied with after c steps. For c = 0, which has no mean, it is infinite.
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
func (d *ScaledDescent) Start(e *Engine, at []float32, β float64) {
	*d = ScaledDescent{W: slices.Clone(at)}
	d.Resume(e, β)
}

// Resume attaches a restored descent to the engine, whose device, if it has one, must be a Descender.
func (d *ScaledDescent) Resume(e *Engine, β float64) {
	d.engine, d.squares = e, unbiased{β: β}
	d.stepper = e.backend.descentStepper(d)
}

// Step asks about a batch at the iterate, and moves the iterate. It returns the γ of ProxRule on the host, and else
// NaN. On a device an error may come from an earlier step.
func (d *ScaledDescent) Step(ctx context.Context, q Question, m Move) (γ float64, err error) {
	d.Prepare(q.Examples)
	d.makeRoom(m.Rule)
	return d.stepper.step(ctx, q, m)
}

// makeRoom makes the means exist that a rule needs.
func (d *ScaledDescent) makeRoom(rule Rule) {
	if rule == ProxRule || rule == AdamRule {
		d.v = d.perWeight(d.v)
	}
	if rule != ProxRule {
		d.m = d.perWeight(d.m)
	} else if len(d.common) == 0 {
		d.common = make([]float32, 1)
	}
}

// Prepare brings the weights that a batch reads up to date.
func (d *ScaledDescent) Prepare(examples []int) { d.stepper.prepare(examples) }

// perWeight returns x, or zeros for every weight if it is empty.
func (d *ScaledDescent) perWeight(x []float32) []float32 {
	if len(x) == 0 {
		return make([]float32, len(d.W))
	}
	return x
}

// Include adds the iterate to the mean of the iterates with a share: mean ← (1−share)·mean + share·w. The first
// iterate's is 1.
func (d *ScaledDescent) Include(share float64) {
	d.count++
	d.stepper.include(share)
}

// Count returns the number of iterates that the mean includes.
func (d *ScaledDescent) Count() int { return d.count }

// ResetMean starts a new mean.
func (d *ScaledDescent) ResetMean() { d.count = 0 }

// Finish brings the weights up to date, as at the end of a pass.
func (d *ScaledDescent) Finish() error { return d.stepper.finish() }

// Archive saves or restores a finished descent.
func (d *ScaledDescent) Archive(a Archive) {
	a.Floats("descent.w", &d.W)
	a.Floats("descent.mean", &d.Mean)
	a.Floats("descent.squares", &d.v)
	a.Floats("descent.gradients", &d.m)
	a.Floats("descent.common", &d.common)
	a.Count("descent.mean.iterates", &d.count)
	a.Count("descent.steps", &d.steps)
}

// hostDescent moves a descent on the host.
//
// ProxRule costs what the batch reads. In rows of the scorer's row tables that the batch does not read, v and w only
// shrink, each by a factor that has a closed form for any number of steps, so it is applied when a batch reads the row
// again (catchUp).
type hostDescent struct {
	*ScaledDescent
	touched *touchedRows
	means   unbiased  // of m
	g       []float32 // [Dim] the mean gradient, zero in weights that are not touched; memory of the engine, or zeros
	zeros   []float32 // [Dim] for sparse inputs, whose gradients the engine does not store; zero between steps
	f       float64   // the mean loss
	losses  losses    // by example
	q       []float32 // step lengths of the touched weights in their order; for Adam those of a block
	away    []float32 // of a block of weights, from the centre of the regulariser
	adams   adamRows  // rows that Adam leaves alone

	lazy    bool      // steps are those of ProxRule, which leave rows behind
	shrink  float64   // what the steps since base shrink (catchUp)
	base    int       // step at which shrink was 0
	upTo    []int32   // [rows] by row, table after table: the step up to which the row is up to date
	shrinks []float64 // [rows] by row: shrink then
	roots   []float64 // of powers of β (root)
}

func (e hostBackend) descentStepper(d *ScaledDescent) descentStepper {
	rows := e.touched.numRows()
	m := &hostDescent{ScaledDescent: d, touched: e.touched, upTo: make([]int32, rows), shrinks: make([]float64, rows)}
	m.rebase()
	m.openRows()
	return m
}

func (d *hostDescent) prepare(examples []int) {
	d.touched.findAhead(d.engine.Data, examples)
	d.wakeRows()
	if !d.lazy {
		return
	}
	for k := range d.touched.tables {
		for _, r := range d.touched.rows[k] {
			d.catchUp(k, int(r))
		}
	}
}

func (d *hostDescent) step(ctx context.Context, q Question, m Move) (γ float64, err error) {
	if err := d.ask(ctx, q, nil); err != nil {
		return 0, err
	}
	d.clip(m.Clip)
	switch m.Rule {
	case ProxRule:
		return d.prox(m.Eta, m.Lambda), nil
	case AdamRule:
		d.adam(m.Eta, m.Lambda, m.Beta)
	default:
		d.momentum(m.Eta, m.Lambda, m.Beta, m.Rule == NesterovRule)
	}
	return math.NaN(), nil
}

// ask sets f and g to the mean loss of a batch and its mean gradient at the iterate, without the regulariser. With a
// memory, g is the gradient of the change from what it holds.
func (d *hostDescent) ask(ctx context.Context, q Question, memory *Memory) error {
	e := d.engine
	st, err := e.StepAt(ctx, At(d.W), q.Examples, q.Smoothing, memory, q.Dropout)
	if err != nil {
		return err
	}
	d.f = st.Smoothed / float64(len(q.Examples))
	if e.Loss.Smooth() {
		d.losses.set(e, q.Examples)
	}
	d.gradient(&st, len(q.Examples))
	return nil
}

// gradient makes g the gradient of a step, divided by n.
func (d *hostDescent) gradient(st *Step, n int) {
	d.g = st.Grad.Times(float32(1/float64(n)), &d.zeros)
}

// each calls do for the ranges of touched weights, each with its place in q.
func (d *hostDescent) each(do func(lo, hi, at int)) {
	at := 0
	d.touched.each(func(lo, hi int) {
		do(lo, hi, at)
		at += hi - lo
	})
}

// clip scales the gradient down to the given norm if it is longer; 0 leaves it alone.
func (d *hostDescent) clip(norm float64) {
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

func (d *hostDescent) momentum(η, λ, μ float64, nesterov bool) {
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

// stepped ends a step: it clears the gradient of sparse inputs.
func (d *hostDescent) stepped() {
	if d.zeros != nil {
		d.touched.clear(d.zeros)
	}
}

// shrunk ends a step of ProxRule that the batch's rows took: all others shrink by exp(−ηλ/√(hH)) in w, and by β in v.
// length is ηλ/√H; with λ₁‖w‖₁ it is η/√H, and decaySparsely does the rest.
//
// For a row that no batch has read since step r, h at step s is √(v_r β^{s−r}/(1−β^s)), apart from its floor. So the
// steps after r shrink w by exp(−x/√√v_r) in all, with
//
//	x = β^{r/4} Σ_s η_s λ H_s^{−1/2} (1−β^s)^{1/4} β^{−s/4}.
//
// The sum over steps is shrink; powers of β count from base.
func (d *hostDescent) shrunk(length float64) {
	d.steps++
	if d.touched.everywhere() {
		return
	}
	d.lazy = true
	unbias := float64(d.squares.after(d.steps))
	d.shrink += length / math.Sqrt(math.Sqrt(unbias)*d.root(d.steps-d.base))
	for k, first := range d.touched.first {
		for _, r := range d.touched.rows[k] {
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
func (d *hostDescent) rebase() {
	d.base, d.shrink = d.steps, 0
	clear(d.shrinks)
	for r := range d.upTo {
		d.upTo[r] = int32(d.steps)
	}
}

// catchUp brings row r of table k up to date. A weight that has never had a gradient, whose v is 0, stays where it is.
func (d *hostDescent) catchUp(k, r int) {
	row, t := d.touched.first[k]+r, d.touched.tables[k]
	missed := d.steps - int(d.upTo[row])
	if missed == 0 {
		return
	}
	lo := t.Offset + r*t.Cols
	w, v := d.W[lo:lo+t.Cols], d.v[lo:lo+t.Cols]
	x := float32((d.shrink - d.shrinks[row]) * math.Sqrt(d.root(int(d.upTo[row])-d.base)) * d.engine.Rates.at(lo))
	switch {
	case d.engine.L1 > 0:
		d.decaySparsely(float64(x), d.engine.Lambda, lo, v, w)
	case d.engine.Center == nil:
		vec.Decay(x, v, w)
	default:
		away := d.fromCenter(lo, lo+t.Cols)
		vec.Decay(x, v, away)
		copy(w, d.engine.Center[lo:])
		vec.Axpy(1, away, w)
	}
	root := d.root(missed)
	vec.Scale(float32(root*root), v)
	d.upTo[row], d.shrinks[row] = int32(d.steps), d.shrink
}

// root returns β^{n/2}.
func (d *hostDescent) root(n int) float64 {
	for len(d.roots) <= n {
		d.roots = append(d.roots, math.Pow(d.squares.β, float64(len(d.roots))/2))
	}
	return d.roots[n]
}

// catchAllUp brings every weight up to date.
func (d *hostDescent) catchAllUp() {
	d.catchRowsUp()
	if !d.lazy {
		return
	}
	for k, t := range d.touched.tables {
		for r := range t.Rows {
			d.catchUp(k, r)
		}
	}
}

func (d *hostDescent) include(share float64) {
	d.catchAllUp()
	if d.count == 1 {
		d.Mean = append(d.Mean[:0], d.W...)
		return
	}
	vec.Axpby(float32(share), d.W, float32(1-share), d.Mean)
}

func (d *hostDescent) finish() error {
	d.catchAllUp()
	d.rebase()
	d.openRows()
	return nil
}

// fromCenter returns w − c for a range of weights that is a row or a block. The result is valid until the next call.
func (d *hostDescent) fromCenter(lo, hi int) []float32 {
	d.away = append(d.away[:0], d.W[lo:hi]...)
	vec.Axpy(-1, d.engine.Center[lo:hi], d.away)
	return d.away
}
