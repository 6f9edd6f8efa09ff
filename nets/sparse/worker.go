package sparse

import (
	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

type worker struct {
	s     *Linear
	batch *structured.Batch // of the last Score
	dense scoring[float32]
}

// Score implements nets.Worker. It sums over the attributes of a row in their order, then over dense inputs, whatever
// the batch.
func (k *worker) Score(w []float32, batch *structured.Batch, θ *structured.Potentials) error {
	return k.ScoreThresholded(w, k.s.τ, batch, θ)
}

// ScoreThresholded implements nets.ThresholdWorker.
func (k *worker) ScoreThresholded(w []float32, τ float32, batch *structured.Batch, θ *structured.Potentials) error {
	k.batch = batch
	θ.Resize(batch, k.s.form)
	for i := range k.s.parts {
		k.s.parts[i].score(w, τ, batch, &θ.Parts[i])
	}
	if !k.s.HasDense() {
		return nil
	}
	if err := k.dense.inputs.load(batch, k.s.dim); err != nil {
		return err
	}
	for i := range k.s.parts {
		part := &θ.Parts[i]
		k.dense.add(&k.s.parts[i], w, batch, part.Offsets, part.Values, kernels.Dense.Score)
	}
	return nil
}

func (k *worker) Pullback(v *structured.Marginals, grad []float32) error {
	k.s.Scatter(1, v, k.batch, 0, Stripes, grad, nil)
	return nil
}

// score sets each row of θ to the bias, or zeros, plus the rows of w of its attributes; with τ > 0, of the soft
// thresholds of w.
func (p *part) score(w []float32, τ float32, batch *structured.Batch, θ *structured.Part) {
	width, to := p.Width, θ.Values
	if p.bias < 0 {
		clear(to)
	} else {
		for at := 0; at < len(to); at += width {
			copy(to[at:at+width], w[p.bias:])
		}
		if τ > 0 && !p.free {
			vec.Soften(τ, to, to)
		}
	}
	x := batch.Data.AttributesOf(p.Shape)
	if x == nil || θ.Offsets == nil || p.attributes == 0 {
		return
	}
	rows, at := batch.Data.Rows(p.Rows), 0
	w = w[p.rows:][:p.attributes*width]
	for _, i := range batch.Examples {
		for r := rows[i]; r < rows[i+1]; r++ {
			index, value := x.Row(r)
			if τ > 0 {
				kernels.Sparse.GatherSoft(to[at:at+width], w, τ, index, value)
			} else {
				kernels.Sparse.Gather(to[at:at+width], w, index, value)
			}
			at += width
		}
	}
}
