package traintest

import (
	"slices"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Linear scores any structure with dense features of positions x: the rows of a part on positions are x·W, a tied part
// is weights, and the rows of other parts are zeros. Its weights are those of the parts in order, W by rows.
type Linear struct {
	Inputs    int
	Structure structured.Form
}

func (l *Linear) Dim() int {
	n := 0
	for _, p := range l.Structure.Parts {
		n += l.weights(p)
	}
	return n
}

// weights returns the number of weights of a part.
func (l *Linear) weights(p structured.Shape) int {
	switch p.Rows {
	case structured.Positions:
		return l.Inputs * p.Width
	case structured.Tied:
		return p.Width
	}
	return 0
}

// DenseBlocks implements nets.DenseScorer.
func (l *Linear) DenseBlocks() (blocks []nets.DenseBlock) {
	at := 0
	for k, p := range l.Structure.Parts {
		if p.Rows == structured.Positions && l.Inputs > 0 {
			blocks = append(blocks, nets.DenseBlock{Part: k, Offset: at, Dim: l.Inputs, Width: p.Width, Bias: -1, Ends: -1})
		}
		at += l.weights(p)
	}
	return blocks
}

func (l *Linear) Form() structured.Form  { return l.Structure }
func (l *Linear) Affine() bool           { return true }
func (l *Linear) NewWorker() nets.Worker { return &linearWorker{l: l} }

type linearWorker struct {
	l     *Linear
	batch *structured.Batch
}

func (k *linearWorker) Score(w []float32, batch *structured.Batch, θ *structured.Potentials) error {
	k.batch = batch
	θ.Resize(batch, k.l.Structure)
	for i := range θ.Parts {
		p := &θ.Parts[i]
		n := k.l.weights(p.Shape)
		clear(p.Values)
		switch p.Rows {
		case structured.Positions:
			k.each(func(t int, x []float32) { mulAdd(p.Values[t*p.Width:(t+1)*p.Width], x, w) })
		case structured.Tied:
			copy(p.Values, w[:n])
		}
		w = w[n:]
	}
	return nil
}

func (k *linearWorker) Pullback(v *structured.Marginals, grad []float32) error {
	for i := range v.Parts {
		p := &v.Parts[i]
		switch p.Rows {
		case structured.Positions:
			k.each(func(t int, x []float32) { outer(grad, x, p.Values[t*p.Width:(t+1)*p.Width]) })
		case structured.Tied:
			for j, e := range p.Values {
				grad[j%p.Width] += e
			}
		}
		grad = grad[k.l.weights(p.Shape):]
	}
	return nil
}

func (k *linearWorker) each(do func(t int, x []float32)) { (&worker{batch: k.batch}).each(do) }

// NewPreciseWorker implements nets.PreciseScorer.
func (l *Linear) NewPreciseWorker() nets.PreciseWorker { return &preciseLinear{linearWorker{l: l}} }

type preciseLinear struct{ linearWorker }

func (k *preciseLinear) ScorePrecisely(w []float32, τ float32, batch *structured.Batch, θ *structured.Potentials) error {
	soft := slices.Clone(w)
	vec.Soften(τ, w, soft)
	if err := k.Score(soft, batch, θ); err != nil {
		return err
	}
	for i := range θ.Parts {
		p := &θ.Parts[i]
		if p.Rows == structured.Positions {
			k.each(func(t int, x []float32) {
				for j := range p.Width {
					sum := 0.0
					for d, v := range x {
						sum += float64(v) * float64(soft[d*p.Width+j])
					}
					p.Values[t*p.Width+j] = float32(sum)
				}
			})
		}
		soft = soft[k.l.weights(p.Shape):]
	}
	return nil
}

func (k *preciseLinear) PullbackPrecisely(v *structured.Marginals, grad []float64) error {
	for i := range v.Parts {
		p := &v.Parts[i]
		switch p.Rows {
		case structured.Positions:
			k.each(func(t int, x []float32) {
				for d, f := range x {
					for j, u := range p.Values[t*p.Width : (t+1)*p.Width] {
						grad[d*p.Width+j] += float64(f) * float64(u)
					}
				}
			})
		case structured.Tied:
			for j, u := range p.Values {
				grad[j%p.Width] += float64(u)
			}
		}
		grad = grad[k.l.weights(p.Shape):]
	}
	return nil
}
