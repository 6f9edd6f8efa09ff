package models

import (
	"context"

	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/host"
)

// Potentials computes the potentials of all examples of d, with the model's constraints applied as −∞.
func (m *Model) Potentials(ctx context.Context, d *structured.Dataset, threads int) (*structured.Potentials, error) {
	if err := m.accepts(d); err != nil {
		return nil, err
	}
	all, batch, examples := &structured.Potentials{}, &structured.Batch{}, make([]int, d.Len())
	for i := range examples {
		examples[i] = i
	}
	batch.Reset(d, examples)
	all.Resize(batch, m.Net.Form())
	if m.device != nil {
		return all, m.device.potentials(ctx, m, d, all)
	}
	type piece struct {
		first int // example
		θ     *structured.Potentials
	}
	err := host.InOrder(ctx, threads, host.Each(inputs.Batches(d)), m.newPredictor,
		func(p *predictor, examples []int) (piece, error) {
			if err := p.potentials(d, examples); err != nil {
				return piece{}, err
			}
			some := &structured.Potentials{}
			some.Copy(&p.θ)
			return piece{examples[0], some}, nil
		},
		func(r piece) error {
			place(all, r.first, r.θ)
			return nil
		})
	return all, err
}

// place copies potentials of consecutive examples to their place among those of all.
func place(all *structured.Potentials, first int, some *structured.Potentials) {
	for k := range all.Parts {
		to, from := &all.Parts[k], some.Parts[k].Values
		if to.Offsets == nil {
			copy(to.Values, from)
		} else {
			copy(to.Values[to.Offsets[first]*to.Width:], from)
		}
	}
}
