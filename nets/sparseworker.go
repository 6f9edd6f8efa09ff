package nets

import "github.com/dsp-go/dsp/structured"

type sparseWorker struct {
	s     *SparseLinear
	batch *structured.Batch // of the last Score
}

// Score implements Worker. Each position's sum goes over its attributes in order, whatever batch it is in.
func (k *sparseWorker) Score(w []float32, batch *structured.Batch, θ *structured.Potentials) error {
	s, y := k.s, k.s.labels
	k.batch = batch
	θ.Resize(batch.Offsets, y, s.PerPosition())
	s.gather(w[:s.nodes*y], batch, batch.Data.Attributes, θ.Node, nil)
	switch yy := y * y; {
	case s.PerPosition():
		s.gather(w[s.edgeRows:], batch, batch.Data.EdgeAttributes, θ.Edge, w[s.transitions:][:yy])
	case s.transitions < 0:
		clear(θ.Edge)
	default:
		copy(θ.Edge, w[s.transitions:][:yy])
	}
	return nil
}

// Pullback implements Worker.
func (k *sparseWorker) Pullback(v *structured.Marginals, grad []float32) error {
	k.s.Scatter(1, v, k.batch, 0, ScatterParts, grad, nil)
	return nil
}

// gather sets each position's row of to [N×width] to from, zeros where it is nil, and the sum of its attributes' rows of w.
func (s *SparseLinear) gather(w []float32, batch *structured.Batch, x *structured.Sparse, to, from []float32) {
	n := batch.Positions()
	if n == 0 {
		return
	}
	width := len(to) / n
	if from == nil {
		clear(to)
	} else {
		for t := range n {
			copy(to[t*width:][:width], from)
		}
	}
	if x == nil {
		return
	}
	for b, i := range batch.Examples {
		at, data := batch.Offsets[b]*width, batch.Data.Offsets
		for t := data[i]; t < data[i+1]; t++ {
			index, value := x.Row(t)
			sparse.gather(to[at:at+width], w, index, value)
			at += width
		}
	}
}
