package engine

import (
	"math"

	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured/machine/vec"
)

// plainSteps takes a path's steps on whole vectors, for dense inputs.
type plainSteps struct {
	*Path
	curvature
}

func (x *plainSteps) at() Point     { return Point{p: 1, v: x.W, τ: x.Threshold, box: x.bounds} }
func (x *plainSteps) finish() error { return nil }

func (x *plainSteps) step(ρ, q, c, β float64, d Gradient) {
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

func (x *plainSteps) include(a float64) (share float64) {
	first := x.Count == 0
	share = x.Weigh(a)
	if first {
		x.Mean = append(x.Mean[:0], x.W...)
	} else {
		vec.Axpby(float32(share), x.W, float32(1-share), x.Mean)
	}
	return share
}

// lazySteps takes a path's steps for sparse inputs. There D touches few rows, and the other rows must cost nothing even though they
// shrink, drift and enter the mean. So w is stored as P·v + Q·b, and the sum of iterates Σ a_t w_t as A·v + R·b − s. The
// first two terms of a step, and a new summand of the mean, change only the numbers P, Q, A and R. Only D's rows are written:
// v receives the change in w, and s receives the excess that this change causes in the sum:
//
//	step   P ← ρP,   Q ← ρQ + q,   v ← v + (c/P)D,   s ← s + A(c/P)D
//	add    A ← A + aP,   R ← R + aQ
//
// If D also moves b by βD, v changes by ((c − Qβ)/P)D, which cancels the change of Qb in w, and s by A times that plus RβD.
type lazySteps struct {
	*Path
	curvature
	sparse     *sparse.Linear
	open       bool // W and Mean hold v and s
	p, q, a, r float64
}

// fold is the least |P| before collect folds P into v.
const fold = 1. / 1024

func (x *lazySteps) at() Point {
	if !x.open {
		return Point{p: 1, v: x.W, τ: x.Threshold, box: x.bounds, sparse: x.sparse}
	}
	return Point{p: x.p, v: x.W, q: x.q, b: x.b, τ: x.Threshold, box: x.bounds, sparse: x.sparse}
}

// unfold turns the iterate and the mean into v and s.
func (x *lazySteps) unfold() {
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
func (x *lazySteps) collect() {
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

func (x *lazySteps) finish() error {
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

func (x *lazySteps) step(ρ, q, c, β float64, d Gradient) {
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

func (x *lazySteps) include(a float64) (share float64) {
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
