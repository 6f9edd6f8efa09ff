package engine

import (
	"context"
	"math"

	"github.com/dsp-go/dsp/structured/machine/vec"
)

// localMoves moves a descent on the host.
//
// ProxRule costs what the batch reads. In rows of the scorer's row tables that the batch does not read, v and w only shrink, each by a
// factor that has a closed form for any number of steps, so it is applied when a batch reads the row again (catchUp).
type localMoves struct {
	*Descent
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

func (e local) mover(d *Descent) mover {
	rows := e.touched.numRows()
	m := &localMoves{Descent: d, touched: e.touched, upTo: make([]int32, rows), shrinks: make([]float64, rows)}
	m.rebase()
	m.openRows()
	return m
}

func (d *localMoves) prepare(examples []int) {
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

func (d *localMoves) step(ctx context.Context, q Question, m Move) (γ float64, err error) {
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
func (d *localMoves) ask(ctx context.Context, q Question, memory *Memory) error {
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
func (d *localMoves) gradient(st *Step, n int) {
	d.g = st.Grad.Times(float32(1/float64(n)), &d.zeros)
}

// each calls do for the ranges of touched weights, each with its place in q.
func (d *localMoves) each(do func(lo, hi, at int)) {
	at := 0
	d.touched.each(func(lo, hi int) {
		do(lo, hi, at)
		at += hi - lo
	})
}

// clip scales the gradient down to the given norm if it is longer; 0 leaves it alone.
func (d *localMoves) clip(norm float64) {
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

func (d *localMoves) adam(η, λ, β1 float64) {
	if !d.adams.on {
		d.adams.on = true
		d.wakeRows()
	}
	d.means.β = β1
	d.q = vec.Grow(d.q, blockWeights)
	d.steps++
	β, unbias, mean := float32(d.squares.β), d.squares.after(d.steps), d.means.after(d.steps)
	d.eachAwake(func(lo, hi int, rate float64) {
		g, v, m, w, q := d.g[lo:hi], d.v[lo:hi], d.m[lo:hi], d.W[lo:hi], d.q[:hi-lo]
		η := η * rate
		vec.Observe(β, unbias, g, v, q)
		keep := float32(1 - η*λ)
		if d.engine.Center != nil && λ != 0 {
			vec.Axpy(float32(-η*λ), d.fromCenter(lo, hi), w)
			keep = 1
		}
		vec.DescendMean(float32(β1), keep, float32(η)*mean, g, q, m, w)
	})
	d.rested(η * λ)
	d.stepped()
}

func (d *localMoves) momentum(η, λ, μ float64, nesterov bool) {
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
func (d *localMoves) stepped() {
	if d.zeros != nil {
		d.touched.clear(d.zeros)
	}
}

// shrunk ends a step of ProxRule that the batch's rows took: all others shrink by exp(−ηλ/√(hH)) in w, and by β in v. length is ηλ/√H; with
// λ₁‖w‖₁ it is η/√H, and decaySparsely does the rest.
//
// For a row that no batch has read since step r, h at step s is √(v_r β^{s−r}/(1−β^s)), apart from its floor. So the steps after r
// shrink w by exp(−x/√√v_r) in all, with
//
//	x = β^{r/4} Σ_s η_s λ H_s^{−1/2} (1−β^s)^{1/4} β^{−s/4}.
//
// The sum over steps is shrink; powers of β count from base.
func (d *localMoves) shrunk(length float64) {
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
func (d *localMoves) rebase() {
	d.base, d.shrink = d.steps, 0
	clear(d.shrinks)
	for r := range d.upTo {
		d.upTo[r] = int32(d.steps)
	}
}

// catchUp brings row r of table k up to date. A weight that has never had a gradient, whose v is 0, stays where it is.
func (d *localMoves) catchUp(k, r int) {
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
func (d *localMoves) root(n int) float64 {
	for len(d.roots) <= n {
		d.roots = append(d.roots, math.Pow(d.squares.β, float64(len(d.roots))/2))
	}
	return d.roots[n]
}

// catchAllUp brings every weight up to date.
func (d *localMoves) catchAllUp() {
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

func (d *localMoves) include(share float64) {
	d.catchAllUp()
	if d.count == 1 {
		d.Mean = append(d.Mean[:0], d.W...)
		return
	}
	vec.Axpby(float32(share), d.W, float32(1-share), d.Mean)
}

func (d *localMoves) finish() error {
	d.catchAllUp()
	d.rebase()
	d.openRows()
	return nil
}
