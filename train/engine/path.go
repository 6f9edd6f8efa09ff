package engine

import (
	"math"

	"github.com/dsp-go/dsp/structured/vec"
)

// Path is the sequence of iterates that a stochastic method walks,
//
//	w ← ρw + q·b + c·D,
//
// with a drift b that is constant or moves with D, and the weighted mean of the iterates that Include adds.
//
// With dense inputs that is all. With sparse inputs D touches few rows, and the other rows must cost nothing even though they
// shrink, drift and enter the mean. So w is stored as P·v + Q·b, and the sum of iterates Σ a_t w_t as A·v + R·b − s. The
// first two terms of a step, and a new summand of the mean, change only the numbers P, Q, A and R. Only D's rows are written:
// v receives the change in w, and s receives the excess that this change causes in the sum:
//
//	step   P ← ρP,   Q ← ρQ + q,   v ← v + (c/P)D,   s ← s + A(c/P)D
//	add    A ← A + aP,   R ← R + aQ
//
// If D also moves b by βD, v changes by ((c − Qβ)/P)D, which cancels the change of Qb in w, and s by A times that plus RβD.
type Path struct {
	W     []float32 // the iterate; v while the path is open
	b     []float32 // the drift; nil means q = 0
	Mean  []float32 // of the iterates; s while the path is open; empty before the first
	total float64   // total weight of the iterates in the mean
	Count int       // number of iterates in the mean

	rise, progress float64 // sums of the observed steps (observe.go)

	lazy       bool // store w as P·v + Q·b, for sparse inputs
	open       bool // W and Mean hold v and s
	p, q, a, r float64

	device Accelerator // holds the path while it is open, or nil
	stride Stride      // the pending step on the device
	due    bool        // whether stride is pending
}

// fold is the least |P| before collect folds P into v.
const fold = 1. / 1024

// Start sets the iterate and clears the mean. The drift may be nil; it is used and updated in place.
func (x *Path) Start(e *Engine, at, b []float32) {
	x.W, x.open, x.due = append(x.W[:0], at...), false, false
	x.rise, x.progress = 0, 0
	x.Resume(e, b)
	x.ResetMean()
}

// Resume attaches a restored, finished path to the engine.
func (x *Path) Resume(e *Engine, b []float32) {
	x.b, x.device = b, e.device
	x.lazy = e.sparse != nil && e.device == nil
}

// ResetMean starts a new mean.
func (x *Path) ResetMean() { x.total, x.Count = 0, 0 }

// At returns the current point of the path.
func (x *Path) At() Point {
	if x.device != nil {
		x.flush()
		return Point{}
	}
	if !x.open {
		return At(x.W)
	}
	return Point{p: x.p, v: x.W, q: x.q, b: x.b}
}

// unfold turns the iterate and the mean into v and s.
func (x *Path) unfold() {
	if x.Count > 0 {
		vec.Scale(float32(-x.total), x.Mean)
	}
	x.open = true
	x.p, x.q, x.a, x.r = 1, 0, 0, 0
}

// collect folds the whole sum into −s and the whole iterate into v.
func (x *Path) collect() {
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

// Finish turns w and the mean back into plain vectors on the host, as at the end of a pass.
func (x *Path) Finish() error {
	if !x.open {
		return nil
	}
	if x.device != nil {
		return x.toHost()
	}
	x.collect()
	if x.Count > 0 {
		vec.Scale(float32(-1/x.total), x.Mean)
	}
	x.open = false
	return nil
}

// Step sets w ← ρw + q·b + c·D, b ← b + β·D.
func (x *Path) Step(ρ, q, c, β float64, d Gradient) {
	if x.device != nil {
		x.flush()
		x.stride, x.due = Stride{Rho: ρ, Q: q, C: c, Beta: β}, true
		return
	}
	if !x.lazy {
		switch {
		case q != 0:
			vec.Axpby(float32(q), x.b, float32(ρ), x.W)
		default:
			scaleTo(ρ, x.W)
		}
		if c != 0 {
			d.AddTo(float32(c), x.W)
		}
		if β != 0 {
			d.AddTo(float32(β), x.b)
		}
		return
	}
	if !x.open {
		x.unfold()
	}
	x.p, x.q = ρ*x.p, ρ*x.q+q
	if math.Abs(x.p) < fold {
		x.collect()
	}
	δ := (c - x.q*β) / x.p
	if δ != 0 {
		d.AddTo(float32(δ), x.W)
	}
	if σ := x.a*δ + x.r*β; σ != 0 {
		d.AddTo(float32(σ), x.Mean)
	}
	if β != 0 {
		d.AddTo(float32(β), x.b)
	}
}

// Include adds the iterate to the mean with weight a and returns its share of the mean.
func (x *Path) Include(a float64) float64 {
	if x.lazy && !x.open {
		x.unfold()
	}
	first := x.Count == 0
	share := x.Weigh(a)
	switch {
	case x.device != nil:
		x.include(share)
	case x.lazy:
		if first {
			x.Mean = vec.Grow(x.Mean, len(x.W))
			clear(x.Mean)
		}
		x.a += a * x.p
		x.r += a * x.q
	case first:
		x.Mean = append(x.Mean[:0], x.W...)
	default:
		vec.Axpby(float32(share), x.W, float32(1-share), x.Mean)
	}
	return share
}

// Weigh records that an iterate with weight a enters the mean and returns its share.
func (x *Path) Weigh(a float64) float64 {
	share := a / (x.total + a)
	x.total += a
	x.Count++
	return share
}

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

// Archive saves or restores a finished path.
func (x *Path) Archive(a Archive) {
	a.Floats("w", &x.W)
	a.Floats("mean", &x.Mean)
	a.Number("mean.weight", &x.total)
	a.Count("mean.iterates", &x.Count)
}
