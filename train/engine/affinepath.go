package engine

import (
	"math"

	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// AffinePath is the sequence of iterates that a stochastic method walks,
//
//	w ← ρw + q·b + c·D,
//
// with a drift b that is constant or moves with D, and the weighted mean of the iterates that Include adds. It must not
// be copied after Start or Resume.
type AffinePath struct {
	W     []float32 // the iterate, when the path is finished
	b     []float32 // the drift; nil means q = 0
	Mean  []float32 // of the iterates, when the path is finished; empty before the first
	total float64   // total weight of the iterates in the mean
	Count int       // number of iterates in the mean

	// Threshold τ > 0 makes At the point of the soft thresholds of the iterate, on the host.
	Threshold float32

	bounds  *Bounds // cut At off, or nil
	stepper pathStepper
}

// pathStepper takes the steps of a path, whose methods of the same names say what each call does: densePath, sparsePath
// or devicePath. Between the first step and finish, W and Mean are its own.
type pathStepper interface {
	at() Point
	step(ρ, q, c, β float64, d Gradient)
	include(a float64) (share float64)
	observe(st *Step, start []float32, b int)
	observed() (rise, progress float64, err error)
	// observeEvery returns every how many steps observe costs little beside them.
	observeEvery() int
	finish() error
}

// Start sets the iterate and clears the mean. The drift may be nil; it is used and updated in place.
func (x *AffinePath) Start(e *Engine, at, b []float32) {
	x.W = append(x.W[:0], at...)
	x.Resume(e, b)
	x.ResetMean()
}

// Resume attaches a restored, finished path to the engine.
func (x *AffinePath) Resume(e *Engine, b []float32) {
	x.b, x.bounds, x.stepper = b, e.Bounds, e.backend.pathStepper(x)
}

// ResetMean starts a new mean.
func (x *AffinePath) ResetMean() { x.total, x.Count = 0, 0 }

// At returns the current point of the path.
func (x *AffinePath) At() Point { return x.stepper.at() }

// Step sets w ← ρw + q·b + c·D, b ← b + β·D.
func (x *AffinePath) Step(ρ, q, c, β float64, d Gradient) { x.stepper.step(ρ, q, c, β, d) }

// Include adds the iterate to the mean with weight a and returns its share of the mean.
func (x *AffinePath) Include(a float64) float64 { return x.stepper.include(a) }

// Weigh records that an iterate with weight a enters the mean and returns its share.
func (x *AffinePath) Weigh(a float64) float64 {
	share := a / (x.total + a)
	x.total += a
	x.Count++
	return share
}

// Apart takes steps of a finished path that its mean knows nothing of, and finishes it again. Include then has the same
// bits on all ranks, whatever each did in between, if the iterate has.
func (x *AffinePath) Apart(steps func() error) error {
	mean, count := x.Mean, x.Count
	x.Mean, x.Count = nil, 0
	err := steps()
	if err == nil {
		err = x.Finish()
	}
	x.Mean, x.Count = mean, count
	return err
}

// Observe adds the curvature data of a step on b examples at the path's current point: ‖D‖²/b² and ⟨D, w − w_0⟩/b,
// where w_0 is the start of the path. It ignores a step if some of its answers are not exact.
func (x *AffinePath) Observe(st *Step, start []float32, b int) { x.stepper.observe(st, start, b) }

// ObserveEvery returns every how many steps of a pass one should be observed, so that this costs little beside them.
func (x *AffinePath) ObserveEvery() int { return x.stepper.observeEvery() }

// Observed returns both sums over the steps observed since the path was started.
func (x *AffinePath) Observed() (rise, progress float64, err error) { return x.stepper.observed() }

// Finish turns w and the mean back into plain vectors on the host, as at the end of a pass.
func (x *AffinePath) Finish() error { return x.stepper.finish() }

// Archive saves or restores a finished path.
func (x *AffinePath) Archive(a Archive) {
	a.Floats("w", &x.W)
	a.Floats("mean", &x.Mean)
	a.Number("mean.weight", &x.total)
	a.Count("mean.iterates", &x.Count)
}

// Point is weights w = p·v + q·b in the form that steps on sparse inputs keep, without ever computing w
// (affinepath.go). The potentials are linear in w, so those at v and at b give those at w. Soft thresholds are not
// linear: with them, w is computed in the rows that a batch touches. So it is with bounds.
type Point struct {
	p, q   float64
	v, b   []float32
	τ      float32        // w are the soft thresholds of these weights,
	box    *Bounds        // cut off at these bounds, or nil
	device bool           // w is the iterate of the path that is open on the device, and none of this
	rows   *sparse.Linear // where byRows
	byRows bool           // the weights that a batch touches are computed from all this, with a threshold or bounds
}

// At returns a weight vector as a point.
func At(w []float32) Point { return Point{p: 1, v: w} }

// Thresholded returns the point of the weights sign(v_j)·max(|v_j| − τ, 0).
func Thresholded(v []float32, τ float32) Point { return Point{p: 1, v: v, τ: τ} }

// place returns where w is, for a device, which has no points but plain vectors and its own iterate.
func (w *Point) place() Place {
	if w.device {
		return Iterate
	}
	return OnHost(w.v)
}

// weights returns w. If that is not a vector that exists already, it is written to scratch.
func (w *Point) weights(scratch *[]float32) []float32 {
	if w.τ == 0 && w.box == nil {
		return w.v
	}
	*scratch = vec.Grow(*scratch, len(w.v))
	vec.Soften(w.τ, w.v, *scratch)
	if w.box != nil {
		for j, x := range *scratch {
			(*scratch)[j] = w.box.clip(x)
		}
	}
	return *scratch
}

// densePath takes a path's steps on whole vectors, for dense inputs.
type densePath struct {
	*AffinePath
	curvature
}

func (x *densePath) at() Point     { return Point{p: 1, v: x.W, τ: x.Threshold, box: x.bounds} }
func (x *densePath) finish() error { return nil }

func (x *densePath) observeEvery() int { return 1 }

func (x *densePath) step(ρ, q, c, β float64, d Gradient) {
	if q != 0 {
		vec.Axpby(float32(q), x.b, float32(ρ), x.W)
	} else {
		scaleTo(ρ, x.W)
	}
	if c != 0 {
		d.AddTo(float32(c), x.W)
	}
	if β != 0 {
		d.AddTo(float32(β), x.b)
	}
}

func (x *densePath) include(a float64) (share float64) {
	first := x.Count == 0
	share = x.Weigh(a)
	if first {
		x.Mean = append(x.Mean[:0], x.W...)
	} else {
		vec.Axpby(float32(share), x.W, float32(1-share), x.Mean)
	}
	return share
}

// sparsePath takes a path's steps for sparse inputs. There D touches few rows, and the other rows must cost nothing
// even though they shrink, drift and enter the mean. So w is stored as P·v + Q·b, and the sum of iterates Σ a_t w_t as
// A·v + R·b − s. The first two terms of a step, and a new summand of the mean, change only the numbers P, Q, A and R.
// Only D's rows are written: v receives the change in w, and s receives the excess that this change causes in the sum:
//
//	step   P ← ρP,   Q ← ρQ + q,   v ← v + (c/P)D,   s ← s + A(c/P)D
//	add    A ← A + aP,   R ← R + aQ
//
// If D also moves b by βD, v changes by ((c − Qβ)/P)D, which cancels the change of Qb in w, and s by A times that plus
// RβD.
type sparsePath struct {
	*AffinePath
	curvature
	sparse     *sparse.Linear
	open       bool // W and Mean hold v and s
	p, q, a, r float64
}

// fold is the least |P| before collect folds P into v.
const fold = 1. / 1024

func (x *sparsePath) at() Point {
	w := Point{p: 1, v: x.W, τ: x.Threshold, box: x.bounds, rows: x.sparse}
	if x.open {
		w.p, w.q, w.b = x.p, x.q, x.b
	}
	w.byRows = w.box != nil || w.τ > 0 && (w.q != 0 || w.p != 1)
	return w
}

// observeEvery is more than 1 because an observation gathers three times from rows that a step scatters to once.
func (x *sparsePath) observeEvery() int { return 16 }

// unfold turns the iterate and the mean into v and s.
func (x *sparsePath) unfold() {
	if x.open {
		return
	}
	if x.Count > 0 {
		vec.Scale(float32(-x.total), x.Mean)
	}
	x.open = true
	x.p, x.q, x.a, x.r = 1, 0, 0, 0
}

// collect folds the whole sum into −s and the whole iterate into v.
func (x *sparsePath) collect() {
	if x.a != 0 {
		vec.Axpy(float32(-x.a), x.W, x.Mean)
	}
	if x.r != 0 {
		vec.Axpy(float32(-x.r), x.b, x.Mean)
	}
	if x.q != 0 {
		vec.Axpby(float32(x.q), x.b, float32(x.p), x.W)
	} else {
		scaleTo(x.p, x.W)
	}
	x.p, x.q, x.a, x.r = 1, 0, 0, 0
}

func (x *sparsePath) finish() error {
	if !x.open {
		return nil
	}
	x.collect()
	if x.Count > 0 {
		vec.Scale(float32(-1/x.total), x.Mean)
	}
	x.open = false
	return nil
}

func (x *sparsePath) step(ρ, q, c, β float64, d Gradient) {
	x.unfold()
	x.p, x.q = ρ*x.p, ρ*x.q+q
	if math.Abs(x.p) < fold {
		x.collect()
	}
	δ := (c - x.q*β) / x.p
	σ := x.a*δ + x.r*β
	if x.Count == 0 { // a and r are 0, and there is no mean
		σ = 0
	}
	switch {
	case δ != 0 && σ != 0:
		d.AddToTwo(float32(δ), x.W, float32(σ), x.Mean)
	case δ != 0:
		d.AddTo(float32(δ), x.W)
	case σ != 0:
		d.AddTo(float32(σ), x.Mean)
	}
	if β != 0 {
		d.AddTo(float32(β), x.b)
	}
}

func (x *sparsePath) include(a float64) (share float64) {
	x.unfold()
	if x.Count == 0 {
		x.Mean = vec.Grow(x.Mean, len(x.W))
		clear(x.Mean)
	}
	x.a += a * x.p
	x.r += a * x.q
	return x.Weigh(a)
}

// curvature holds the sums of the observed steps of a path on the host.
type curvature struct{ rise, progress float64 }

func (s *curvature) observe(st *Step, start []float32, b int) {
	if st.Exact == b {
		s.rise += st.Grad.Norm2() / float64(b*b)
		s.progress += (st.Product() - st.Grad.Dot(start)) / float64(b)
	}
}

func (s *curvature) observed() (rise, progress float64, err error) { return s.rise, s.progress, nil }

// scaleTo multiplies x by c, which may be 0 or 1.
func scaleTo(c float64, x []float32) {
	switch c {
	case 0:
		clear(x)
	case 1:
	default:
		vec.Scale(float32(c), x)
	}
}
