package models

import (
	"context"

	"github.com/dsp-go/dsp/cuda/accelerator"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/machine/host"
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
	err := OverPotentials(ctx, m, d, threads,
		func(_ oracles.Maximiser, examples []int, θ *structured.Potentials) (piece, error) {
			some := &structured.Potentials{}
			some.Copy(θ)
			return piece{examples[0], some}, nil
		},
		func(r piece) error {
			place(all, r.first, r.θ)
			return nil
		})
	return all, err
}

// OverPotentials computes the potentials of d batch by batch, with the model's constraints applied, and what work makes of each batch with an
// oracle, on several threads (0: all cores). It hands the results to use in the order of the data. work must not keep the potentials. On a
// device, work runs on a single thread of the host.
func OverPotentials[R any](ctx context.Context, m *Model, d *structured.Dataset, threads int,
	work func(o oracles.Maximiser, examples []int, θ *structured.Potentials) (R, error), use func(r R) error) error {
	if err := m.accepts(d); err != nil {
		return err
	}
	if m.device != nil {
		o := m.newPredictor().oracle
		return m.device.over(ctx, m, d, accelerator.Wanted{Potentials: true}, func(examples []int, p *accelerator.Predicted) error {
			r, err := work(o, examples, &p.Potentials)
			if err != nil {
				return err
			}
			return use(r)
		})
	}
	return host.InOrder(ctx, threads, host.Each(inputs.Batches(d)), m.newPredictor,
		func(p *predictor, examples []int) (r R, err error) {
			if err := p.potentials(d, examples); err != nil {
				return r, err
			}
			return work(p.oracle, examples, &p.θ)
		}, use)
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
