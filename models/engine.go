package models

import (
	"cmp"
	"context"

	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// backend computes what a model predicts, batch by batch in the order of the data: a home, or Ranks, which share the
// work of theirs.
//
// Three feeders give it data: Predict a whole set; Stream pieces as they come; an Answerer one request after the other.
type backend interface {
	// predict hands the predictions for each batch to use, with how many potentials the oracle changed
	// (oracles.Truncator).
	predict(ctx context.Context, m *Model, d *structured.Dataset, o predictions.Options,
		use func(examples []int, answers []predictions.Prediction, truncated int) error) error

	// over scores each batch and hands its potentials, which are valid until work returns, with an oracle to work, and
	// calls what work returns in the order of the data.
	over(ctx context.Context, m *Model, d *structured.Dataset, threads int,
		work func(o oracles.Maximiser, examples []int, θ *structured.Potentials) (use func() error, err error)) error
}

// home is where the network and the oracles of a model run: onHost or onDevice.
type home interface {
	backend

	// needHost returns an error, bad input, unless this is the host, which alone answers what is asked.
	needHost(asked string) error

	// arrives reports whether the home predicts pieces of data as they arrive.
	arrives() bool

	// share returns on how many threads a rank answers its share of some batches of d, how many batches at once, and
	// what makes a thread's answerer.
	share(ctx context.Context, on *Ranks, m *Model, d *structured.Dataset, batches [][]int,
		o predictions.Options) (threads, atOnce int, answerer func() answerBatches)
}

// onHost computes on the threads of the host.
type onHost struct{}

func (onHost) needHost(string) error { return nil }

func (onHost) arrives() bool { return true }

// batchesAtOnce is how many batches a thread of a rank answers at most before it takes others.
const batchesAtOnce = 8

func (onHost) share(_ context.Context, on *Ranks, m *Model, d *structured.Dataset, batches [][]int,
	o predictions.Options) (threads, atOnce int, answerer func() answerBatches) {
	atOnce = min(batchesAtOnce, max(1, len(batches)/(4*on.Size()*host.Threads(o.Threads))))
	return o.Threads, atOnce, func() answerBatches { return on.byHost(m, d, batches, o) }
}

func (onHost) predict(ctx context.Context, m *Model, d *structured.Dataset, o predictions.Options,
	use func(examples []int, answers []predictions.Prediction, truncated int) error) error {
	type answered struct {
		examples  []int
		answers   []predictions.Prediction
		truncated int
	}
	return host.InOrder(ctx, o.Threads, host.Each(inputs.Batches(d)), m.newPredictor,
		func(p *predictor, examples []int) (answered, error) {
			answers, err := p.predict(d, examples, o)
			return answered{examples, answers, p.truncated}, err
		},
		func(r answered) error { return use(r.examples, r.answers, r.truncated) })
}

func (onHost) over(ctx context.Context, m *Model, d *structured.Dataset, threads int,
	work func(o oracles.Maximiser, examples []int, θ *structured.Potentials) (func() error, error)) error {
	return host.InOrder(ctx, threads, host.Each(inputs.Batches(d)), m.newPredictor,
		func(p *predictor, examples []int) (func() error, error) {
			if err := p.potentials(d, examples); err != nil {
				return nil, err
			}
			return work(p.oracle, examples, &p.θ)
		},
		func(use func() error) error { return use() })
}

// home returns where the network and the oracles run.
func (m *Model) home() home { return cmp.Or[home](m.device, onHost{}) }

// backend returns what computes predictions.
func (m *Model) backend() backend {
	if m.ranks != nil {
		return m.ranks
	}
	return m.home()
}

// Predict labels the examples of d and hands the predictions to yield, in the order of the data. The answers do not
// depend on the number of threads. It stops at the first error of yield.
func (m *Model) Predict(ctx context.Context, d *structured.Dataset, o predictions.Options,
	yield func(i int, p *predictions.Prediction) error) error {
	if !m.lacksInputs(d) {
		if err := m.accepts(d); err != nil {
			return err
		}
	}
	if err := m.allows(o); err != nil {
		return err
	}
	if o.Force && d.Labels == nil {
		return structured.BadInput("%s: no labels to keep", d.Name)
	}
	if o.Decode == predictions.EntityF1 && o.EntityThreshold == 0 {
		f, err := m.expectedF1(ctx, d, o)
		if err != nil {
			return err
		}
		if o.EntityThreshold = f.Threshold; m.onExpectedF1 != nil {
			m.onExpectedF1(f)
		}
	}
	truncated, all := 0, predictions.Bounds{Decoded: o.Decode == predictions.Expansion}
	err := m.backend().predict(ctx, m, d, o, func(examples []int, answers []predictions.Prediction, changed int) error {
		truncated += changed
		for b, i := range examples {
			all.Add(&answers[b])
			if err := yield(i, &answers[b]); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && truncated > 0 && m.onTruncated != nil {
		m.onTruncated(truncated)
	}
	if err == nil && m.onBounds != nil && (all.Unproven > 0 || all.Decoded) {
		m.onBounds(all)
	}
	return err
}

// OnTruncated has report called after every Predict, Report, Draw or Write that succeeded though the oracle changed
// potentials for which it is not exact (oracles.Truncator), with the number of these changes. The outputs may then not
// be the best.
func (m *Model) OnTruncated(report func(times int)) { m.onTruncated = report }

// Truncates reports whether the oracle is exact for some potentials only, and changes others (oracles.Truncator).
func (m *Model) Truncates() bool {
	_, ok := registry.Of(m.Net.Form().Structure).Oracle().(oracles.Truncator)
	return ok
}

// OnBounds has report called after every Predict, Report, Draw or Write that succeeded with outputs that are not proven
// to be the best.
func (m *Model) OnBounds(report func(predictions.Bounds)) { m.onBounds = report }

// OverPotentials computes the potentials of d batch by batch, with the model's constraints applied, and what work makes
// of each batch with an oracle, on several threads (0: all cores). It hands the results to use in the order of the
// data. work must not keep the potentials. On a device, work runs on a single thread of the host. Ranks do not share
// this: each does all of it.
func OverPotentials[R any](ctx context.Context, m *Model, d *structured.Dataset, threads int,
	work func(o oracles.Maximiser, examples []int, θ *structured.Potentials) (R, error), use func(r R) error) error {
	if err := m.complete(d, threads); err != nil {
		return err
	}
	if err := m.accepts(d); err != nil {
		return err
	}
	return m.backend().over(ctx, m, d, threads,
		func(o oracles.Maximiser, examples []int, θ *structured.Potentials) (func() error, error) {
			r, err := work(o, examples, θ)
			return func() error { return use(r) }, err
		})
}

// Potentials computes the potentials of all examples of d, with the model's constraints applied as −∞.
func (m *Model) Potentials(ctx context.Context, d *structured.Dataset, threads int) (*structured.Potentials, error) {
	if err := m.complete(d, threads); err != nil {
		return nil, err
	}
	if err := m.accepts(d); err != nil {
		return nil, err
	}
	all, batch, examples := &structured.Potentials{}, &structured.Batch{}, make([]int, d.Len())
	for i := range examples {
		examples[i] = i
	}
	batch.Reset(d, examples)
	all.Resize(batch, m.Net.Form())
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
