package engine

import (
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

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

// score computes the potentials of a lane's batch, with dropout if the seed is not 0 and the scorer supports it.
func (w *Point) score(ln *Lane, dropout uint64) error {
	var err error
	worker, batch, θ, scratch := ln.Worker, &ln.Batch, &ln.Theta, &ln.φ
	if w.byRows {
		return worker.Score(w.touched(ln), batch, θ)
	}
	if soft, ok := worker.(nets.ThresholdWorker); ok && w.τ > 0 && w.box == nil {
		err = soft.ScoreThresholded(w.v, w.τ, batch, θ)
	} else if net, ok := worker.(nets.DropoutWorker); ok {
		err = net.ScoreDropout(w.weights(&ln.soft), dropout, batch, θ)
	} else {
		err = worker.Score(w.weights(&ln.soft), batch, θ)
	}
	if err != nil {
		return err
	}
	if w.q != 0 {
		if err := worker.Score(w.b, batch, scratch); err != nil {
			return err
		}
		for k := range θ.Parts {
			vec.Axpby(float32(w.q), scratch.Parts[k].Values, float32(w.p), θ.Parts[k].Values)
		}
	} else if w.p != 1 {
		for k := range θ.Parts {
			vec.Scale(float32(w.p), θ.Parts[k].Values)
		}
	}
	return nil
}

// touched returns weights that are w in the rows that the lane's batch touches.
func (w *Point) touched(ln *Lane) []float32 {
	ln.soft = vec.Grow(ln.soft, len(w.v))
	p, q, free := float32(w.p), float32(w.q), w.rows.Unshrunk()
	w.rows.Rows(&ln.Batch, &ln.rows)
	for _, row := range ln.rows.Index {
		lo, hi := w.rows.Row(row)
		τ := w.τ
		for _, r := range free {
			if lo >= r[0] && hi <= r[1] { // a row lies within a range or outside
				τ = 0
			}
		}
		for j := lo; j < hi; j++ {
			x := p * w.v[j]
			if q != 0 {
				x += q * w.b[j]
			}
			ln.soft[j] = w.softened(x, τ)
		}
	}
	return ln.soft
}

// Potentials computes θ + ℓ of the lane's batch at a point (ℓ only if the loss has one) and applies the constraints.
func (o *Objective) Potentials(ln *Lane, at Point) error { return o.potentials(ln, at, 0) }

// potentials is Potentials with dropout. Seed 0 turns dropout off.
func (o *Objective) potentials(ln *Lane, at Point, dropout uint64) error {
	b, θ := &ln.Batch, &ln.Theta
	ln.allowed.find(b)
	if err := at.score(ln, dropout); err != nil {
		return err
	}
	return o.Augment(b, θ)
}

// precisely is Potentials at w with sums in float64, if the scorer can take them.
func (o *Objective) precisely(ln *Lane, w []float32) error {
	if ln.precise == nil {
		return o.Potentials(ln, At(w))
	}
	ln.allowed.find(&ln.Batch)
	if err := ln.precise.ScorePrecisely(w, 0, &ln.Batch, &ln.Theta); err != nil {
		return err
	}
	return o.Augment(&ln.Batch, &ln.Theta)
}
