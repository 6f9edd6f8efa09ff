package models

import (
	"github.com/dsp-go/dsp/models/data/features"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
)

// Answerer predicts many small data sets, one after the other, and keeps its scratch memory and caches between them. It
// computes on the CPU and serves one goroutine at a time; a model may have many.
type Answerer struct {
	words     inputs.Inputs                     // words and characters that are numbered
	extractor *features.Extractor               // of attributes of positions, or nil
	taggers   []*Answerer                       // of the models whose labels fill columns first
	own       func(d *structured.Dataset) error // makes the task's own inputs, or nil
	predictor *predictor
	truncated int // potentials that the oracle changed, of all data so far
}

// NewAnswerer returns an Answerer for m.
func (m *Model) NewAnswerer() *Answerer {
	a := &Answerer{words: m.Inputs, predictor: m.newPredictor()}
	a.words.Template, a.words.Own = nil, nil
	for _, t := range m.taggers {
		a.taggers = append(a.taggers, t.model.NewAnswerer())
	}
	if m.Own != nil {
		a.own = m.Own.Extractor()
	}
	if m.Template != nil {
		a.extractor = m.Template.Bind(m.Dictionary)
	}
	return a
}

// Truncated returns how many potentials the oracle has changed so far, for which it is not exact (oracles.Truncator).
func (a *Answerer) Truncated() int { return a.truncated }

// Predict makes the inputs of d, which has the columns or numbers of the model's training data, labels its examples,
// and hands the predictions to yield in the order of the data. The predictions are those of Model.Predict. It stops at
// the first error of yield. Options that name threads have no effect. Where it is to keep what is known of outputs, d
// has that as its files do. Inputs that are so large that there are no valid potentials are bad input, which names the
// largest.
func (a *Answerer) Predict(d *structured.Dataset, o predictions.Options, yield func(i int, p *predictions.Prediction) error) error {
	return a.PredictAt(nil, d, o, yield)
}

// PredictAt is Predict with samples that depend on their seed and on the places [n] of the examples, in place of where
// they begin.
func (a *Answerer) PredictAt(places []uint64, d *structured.Dataset, o predictions.Options, yield func(i int, p *predictions.Prediction) error) error {
	a.predictor.places = places
	largest := largestOf(d) // before it is standardised
	if err := a.prepare(d); err != nil {
		return err
	}
	if err := a.predictor.model.checkData(d); err != nil {
		return err
	}
	if m := a.predictor.model; o.Force {
		if err := keepKnown(tasks.Of(&m.Config), d, m.Labels); err != nil {
			return err
		}
	}
	return largest.explain(a.predict(d, o, yield))
}

// prepare makes the inputs of d, unless its reader made them.
func (a *Answerer) prepare(d *structured.Dataset) error {
	for k, t := range a.predictor.model.taggers {
		err := t.fill(d, func(of *structured.Dataset, yield func(int, *predictions.Prediction) error) error {
			return a.taggers[k].Predict(of, predictions.Options{}, yield)
		})
		if err != nil {
			return err
		}
	}
	if err := a.words.Apply(d, 1); err != nil {
		return err
	}
	if a.extractor != nil && d.Attributes == nil {
		if err := a.extractor.Extract(d); err != nil {
			return err
		}
	}
	if a.own != nil {
		if err := a.own(d); err != nil {
			return err
		}
	}
	if err := a.predictor.model.standardise(d); err != nil {
		return err
	}
	return a.predictor.model.accepts(d)
}

// predict labels the examples of d, which has its inputs.
func (a *Answerer) predict(d *structured.Dataset, o predictions.Options, yield func(i int, p *predictions.Prediction) error) error {
	if o.Decode == predictions.EntityF1 && o.EntityThreshold == 0 {
		return structured.BadInput("%s: text that is read piece by piece needs a %s; eval --decode f1 finds one",
			o.Asker.Name("decode", o.Decode), o.Asker.Name("threshold"))
	}
	for _, examples := range inputs.Batches(d) {
		answers, err := a.predictor.predict(d, examples, o)
		if err != nil {
			return err
		}
		a.truncated += a.predictor.truncated
		for k, i := range examples {
			if err := yield(i, &answers[k]); err != nil {
				return err
			}
		}
	}
	return nil
}
