package engine

import (
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/vec"
)

// Point is weights w = p·v + q·b in the form that steps on sparse inputs keep, without ever computing w (path.go). The
// potentials are linear in w, so those at v and at b give those at w.
type Point struct {
	p, q float64
	v, b []float32
}

// At returns a weight vector as a point.
func At(w []float32) Point { return Point{p: 1, v: w} }

// score computes the potentials of a batch, with dropout if the seed is not 0 and the scorer supports it.
func (w *Point) score(worker nets.Worker, dropout uint64, batch *structured.Batch, θ, scratch *structured.Potentials) error {
	var err error
	if net, ok := worker.(nets.DropoutWorker); ok {
		err = net.ScoreDropout(w.v, dropout, batch, θ)
	} else {
		err = worker.Score(w.v, batch, θ)
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
