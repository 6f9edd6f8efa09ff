package models

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dsp-go/dsp/cuda/accelerator"
	"github.com/dsp-go/dsp/cuda/cudaoracles"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/train/engine"
)

// onDevice is a CUDA device that runs a model, with predictors for the data sets that it answered about last.
type onDevice struct {
	*device.Device
	tf32       bool
	predictors []predictorOf // the one that answered last is the last one
}

// mostPredictors is how many predictors are kept: a training asks about its training, development and test data in
// turn. Each holds its data in the device's memory.
const mostPredictors = 4

// predictorOf is a predictor with what it depends on.
type predictorOf struct {
	data  *structured.Dataset
	nbest int
	*accelerator.Predictor
}

// Use runs Predict, Evaluate, Report and Potentials on a CUDA device until stop is called. name is cpu, cuda or cuda:N,
// as for --device. A device that is not there is bad input.
func (m *Model) Use(name string) (stop func(), err error) {
	switch kind, ordinal, err := config.ParseDevice(name); {
	case err != nil:
		return nil, err
	case kind == config.AutoDevice:
		return nil, structured.BadInput("--device auto is for training; use --device cpu or cuda")
	case kind == config.CUDA:
		if err := config.CheckCUDA(ordinal); err != nil {
			return nil, structured.BadInput("--device %s: %w; use --device cpu", name, err)
		}
	}
	d, err := config.OpenDevice(name)
	if d == nil || err != nil {
		return func() {}, err
	}
	m.RunOn(d, false)
	return func() {
		m.RunOnHost()
		_ = d.Close() // errors were reported where they occurred
	}, nil
}

// RunOn runs Predict, Evaluate, Report and Potentials of m, and of copies made from now on, on an open device. tf32
// multiplies matrices in TF32.
func (m *Model) RunOn(d *device.Device, tf32 bool) {
	m.device = &onDevice{Device: d, tf32: tf32}
}

// RunOnHost ends what RunOn began. It goes before the device is closed.
func (m *Model) RunOnHost() {
	if on, ok := m.device.(*onDevice); ok {
		on.keep(0)
	}
	m.device = nil
}

// keep closes all predictors but the last ones, so many.
func (on *onDevice) keep(most int) {
	for len(on.predictors) > most {
		on.predictors[0].Close()
		on.predictors = slices.Delete(on.predictors, 0, 1)
	}
}

func (on *onDevice) predictor(m *Model, d *structured.Dataset, nbest int) (*accelerator.Predictor, error) {
	k := slices.IndexFunc(on.predictors, func(p predictorOf) bool { return p.data == d && p.nbest == nbest })
	if k >= 0 {
		p := on.predictors[k]
		on.predictors = append(slices.Delete(on.predictors, k, k+1), p)
		return p.Predictor, nil
	}
	on.keep(mostPredictors - 1)
	p, err := accelerator.NewPredictor(on.Device, m.Net, m.Constraints, d, nbest, on.tf32)
	if _, bad := errors.AsType[*device.UnsupportedError](err); bad {
		err = fmt.Errorf("%w; use --device cpu", err)
	}
	if err == nil {
		on.predictors = append(on.predictors, predictorOf{d, nbest, p})
	}
	return p, err
}

func (*onDevice) needHost(asked string) error {
	return structured.BadInput("%s is for the CPU; use --device cpu", asked)
}

func (*onDevice) arrives() bool { return false }

// share has one part for each rank, because there is a predictor for each part.
func (on *onDevice) share(ctx context.Context, ranks *Ranks, m *Model, d *structured.Dataset, batches [][]int,
	o predictions.Options) (threads, atOnce int, answerer func() answerBatches) {
	atOnce = max(1, (len(batches)+ranks.Size()-1)/ranks.Size())
	return 1, atOnce, func() answerBatches { return ranks.byDevice(ctx, on, m, d, batches, o) }
}

// run computes what is wanted on all of d, batch by batch.
func (on *onDevice) run(ctx context.Context, m *Model, d *structured.Dataset, wanted accelerator.Wanted,
	use func(examples []int, a *accelerator.Predicted) error) error {
	p, err := on.predictor(m, d, wanted.NBest)
	if err != nil {
		return err
	}
	p.SetWeights(m.W)
	err = p.Over(ctx, wanted, use)
	if bad, ok := errors.AsType[*engine.NonFiniteError](err); ok {
		return fmt.Errorf("%s: the model's potentials are %s", bad.Where, structured.NotValid)
	}
	return err
}

func (on *onDevice) predict(ctx context.Context, m *Model, d *structured.Dataset, o predictions.Options,
	use func(examples []int, answers []predictions.Prediction, truncated int) error) error {
	if on.answersOnHost(m, o) {
		return on.answerOnHost(ctx, m, d, o, use)
	}
	wanted := accelerator.Wanted{Temperature: m.Temper(), Potentials: o.Spans, LogZ: o.Probability || o.NBest > 0,
		Marginals: o.Marginals || o.Confidence, NBest: o.NBest}
	spans, form := m.newSpanFinder(), m.Net.Form()
	trees := accelerator.PredictsTrees(form, m.Constraints)
	return on.run(ctx, m, d, wanted, func(examples []int, p *accelerator.Predicted) error {
		a := answers{offsets: p.Offsets, labels: slices.Clone(p.Labels), score: p.Score, logZ: p.LogZ, marginals: p.Marginals,
			rows: p.Offsets, width: form.Parts[0].Width, temperature: m.Temper()}
		if trees {
			if err := noOutput(d, examples, p.Score, form.Structure); err != nil {
				return err
			}
			if a.rows = p.Rows; o.Relations {
				a.relations = &p.Relations
			}
		}
		if o.NBest > 0 {
			a.best = &p.Best
		}
		all, err := a.predictions(d, examples, o, form.Structure)
		if err != nil {
			return err
		}
		if o.Spans {
			spans.find(&p.Potentials, d, examples, m.Temper(), o, all)
		}
		return use(examples, all, 0)
	})
}

// answersOnHost reports whether the host answers from the potentials that the device computes. The kernels know the
// best outputs, the probabilities and the K best of sequences of labels, and the best trees and their probabilities.
func (on *onDevice) answersOnHost(m *Model, o predictions.Options) bool {
	if accelerator.PredictsTrees(m.Net.Form(), m.Constraints) &&
		(o.NBest > 0 || o.Spans || o.Decode == predictions.EntityF1) {
		return true
	}
	return m.tagsOf(o) != nil || !accelerator.Predicts(m.Net.Form(), m.Constraints) || m.transcribes() ||
		o.Force || o.Decode == predictions.Expansion || o.Decode == predictions.LeastRisk || o.Entropy || o.Samples > 0 ||
		o.NBest > cudaoracles.MaxBest
}

// answerExamples is how many examples a thread of the host answers at once.
const answerExamples = 32

// answerOnHost is predict with the host's oracles, on several threads, from the device's potentials.
func (on *onDevice) answerOnHost(ctx context.Context, m *Model, d *structured.Dataset, o predictions.Options,
	use func(examples []int, answers []predictions.Prediction, truncated int) error) error {
	type answered struct {
		examples  []int
		answers   []predictions.Prediction
		truncated int
	}
	var idle []*predictor // of earlier batches
	return on.run(ctx, m, d, accelerator.Wanted{Potentials: true}, func(examples []int, a *accelerator.Predicted) error {
		var busy []*predictor
		err := host.InOrder(ctx, o.Threads, host.Each(slices.Collect(slices.Chunk(examples, answerExamples))),
			func() *predictor {
				p := m.newPredictor()
				if n := len(idle); n > 0 {
					p, idle = idle[n-1], idle[:n-1]
				}
				busy = append(busy, p)
				return p
			},
			func(p *predictor, some []int) (answered, error) {
				first := some[0] - examples[0] // the examples of the data are in order
				a.Some(first, first+len(some), &p.θ)
				answers, err := p.answer(d, some, o)
				return answered{some, answers, p.truncated}, err
			},
			func(r answered) error { return use(r.examples, r.answers, r.truncated) })
		idle = append(idle, busy...)
		return err
	})
}

func (on *onDevice) over(ctx context.Context, m *Model, d *structured.Dataset, _ int,
	work func(o oracles.Maximiser, examples []int, θ *structured.Potentials) (func() error, error)) error {
	o := m.newPredictor().oracle
	return on.run(ctx, m, d, accelerator.Wanted{Potentials: true}, func(examples []int, p *accelerator.Predicted) error {
		use, err := work(o, examples, &p.Potentials)
		if err != nil {
			return err
		}
		return use()
	})
}
