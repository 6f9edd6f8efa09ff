package models

import (
	"fmt"
	"math"
	"slices"

	"github.com/dsp-go/dsp/models/data/features"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/cut"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/constituents"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/structured/trees"
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
func (a *Answerer) Predict(d *structured.Dataset, o predictions.Options,
	yield func(i int, p *predictions.Prediction) error) error {
	return a.PredictAt(nil, d, o, yield)
}

// PredictAt is Predict with samples that depend on their seed and on the places [n] of the examples, in place of where
// they begin.
func (a *Answerer) PredictAt(places []uint64, d *structured.Dataset, o predictions.Options,
	yield func(i int, p *predictions.Prediction) error) error {
	a.predictor.places = places
	largest := largestOf(d) // before it is standardised
	if err := a.makeInputs(d); err != nil {
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

// makeInputs makes the inputs of d, unless its reader made them.
func (a *Answerer) makeInputs(d *structured.Dataset) error {
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
func (a *Answerer) predict(d *structured.Dataset, o predictions.Options,
	yield func(i int, p *predictions.Prediction) error) error {
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

// predictor owns the scratch memory of one goroutine.
type predictor struct {
	model  *Model
	task   tasks.Task
	worker nets.Worker
	oracle oracles.Maximiser
	batch  structured.Batch
	θ      structured.Potentials
	score  []float64
	logZ   []float64
	u      structured.Marginals
	best   oracles.KBest
	risk   structured.Potentials
	max    oracles.MaxMarginals
	moves  *cut.Expansion // made when first needed
	spans  *spanFinder    // or nil, for labels that are not entity tags

	steps   structured.Potentials // of a chain with a potential for each step
	stepped structured.Marginals

	places  []uint64 // of the examples of the data, which choose their samples; nil: placeOf
	seeds   []uint64
	samples oracles.Samples

	truncated int // potentials that the oracle changed to find the best outputs of the latest batch
}

func (m *Model) newPredictor() *predictor {
	return &predictor{model: m, task: tasks.Of(&m.Config), places: m.places, worker: m.Net.NewWorker(),
		oracle: registry.Of(m.Net.Form().Structure).Oracle(), spans: m.newSpanFinder()}
}

// potentials scores the examples, with the model's constraints applied.
func (p *predictor) potentials(d *structured.Dataset, examples []int) error {
	if p.task.MostWords > 0 && len(d.ColumnNames) > 0 { // arrays of features have no words
		if err := p.task.CheckWords(d, examples, p.model.MaxWords); err != nil {
			return err
		}
	}
	p.batch.Reset(d, examples)
	if err := p.worker.Score(p.model.W, &p.batch, &p.θ); err != nil {
		return err
	}
	if !p.θ.Finite() {
		return fmt.Errorf("%s: the model's potentials are %w here or in the %d sequences that follow",
			d.Where(examples[0]), errNotValid, len(examples)-1)
	}
	p.model.Constraints.Apply(&p.θ)
	return nil
}

// predict returns the predictions for the examples, in their order.
func (p *predictor) predict(d *structured.Dataset, examples []int,
	o predictions.Options) ([]predictions.Prediction, error) {
	if err := p.potentials(d, examples); err != nil {
		return nil, err
	}
	return p.answer(d, examples, o)
}

// answer is predict from the potentials of the examples, with the model's constraints applied.
func (p *predictor) answer(d *structured.Dataset, examples []int,
	o predictions.Options) ([]predictions.Prediction, error) {
	if p.model.transcribes() {
		return p.transcribe(d, examples, o), nil
	}
	if o.Force {
		restricter, ok := p.θ.Structure.(structured.Restricter)
		if !ok {
			return nil, structured.BadInput("the potentials of a %s cannot keep part of an output", p.θ.Structure.Name())
		}
		for b, i := range examples {
			restricter.Restrict(&p.θ, b, d.GoldOf(i))
		}
	}
	can, err := p.able(o)
	if err != nil {
		return nil, err
	}
	n, labels := len(examples), make([]int32, p.θ.OutputSize())
	p.score, p.logZ = vec.Grow(p.score, n), vec.Grow(p.logZ, n)
	if err := p.maximise(d, examples, o, can, labels); err != nil {
		return nil, err
	}
	upper := p.bounds(labels)
	if o.Decode == predictions.Expansion {
		upper = p.expanded(labels, upper)
	}
	a := answers{
		upper: upper, offsets: p.θ.Outputs, labels: labels, score: p.score, logZ: p.logZ,
		width: p.θ.Parts[0].Width, temperature: p.model.Temper(),
	}
	p.probabilities(&a, o, can)
	if of := p.model.tagsOf(o); of != nil {
		a.tags = p.tags(of, can.sums, a.temperature)
	}
	switch o.Decode {
	case predictions.LeastRisk:
		p.leastRisk(labels, can.risk)
	case predictions.EntityF1:
		p.entities(a.temperature, o.EntityThreshold, labels)
	}
	if o.NBest > 0 {
		can.ranks.TopK(&p.θ, o.NBest, &p.best)
		a.best = &p.best
	}
	if o.Samples > 0 {
		a.samples = p.drawn(d, examples, a.temperature, o)
	}
	all, err := a.predictions(d, examples, o, p.model.Net.Form().Structure)
	if err == nil && o.Spans {
		p.spans.find(&p.θ, d, examples, a.temperature, o, all)
	}
	return all, err
}

// maximise finds the best outputs with their scores, and margins if they are asked for.
func (p *predictor) maximise(d *structured.Dataset, examples []int, o predictions.Options, can abilities,
	labels []int32) error {
	if can.truncates != nil {
		if o.Exact {
			if err := can.truncates.Check(&p.θ); err != nil {
				return structured.BadInput("%s: %w; without %s such scores are lowered until they do", d.Name, err,
					o.Asker.Name("truncate", false))
			}
		}
		can.truncates.ResetTruncated()
	}
	if can.margins != nil {
		can.margins.MaxMarginals(&p.θ, labels, p.score, &p.max)
	} else {
		p.oracle.Max(&p.θ, labels, p.score)
	}
	if p.truncated = 0; can.truncates != nil {
		p.truncated = can.truncates.Truncated()
	}
	if p.model.Constraints == nil && !o.Force {
		return noOutput(d, examples, p.score, p.θ.Structure)
	}
	return nil
}

// probabilities computes what answers say of the distribution of outputs or, without sums, margins.
func (p *predictor) probabilities(a *answers, o predictions.Options, can abilities) {
	if can.margins != nil {
		a.margins = predictions.LinkMargins(&p.max)
		if _, graph := p.θ.Structure.(graphs.Pairwise); graph {
			a.margins = predictions.LabelMargins(&p.max)
		}
	}
	switch {
	case can.sums == nil:
		for b := range p.logZ {
			p.logZ[b] = math.NaN()
		}
	case o.Marginals || o.Confidence || o.Decode == predictions.LeastRisk || o.Entropy:
		can.sums.Exp(&p.θ, a.temperature, p.logZ, &p.u)
		if o.Entropy {
			a.entropy = make([]float64, len(p.logZ))
			for b := range a.entropy {
				a.entropy[b] = oracles.GibbsEntropy(&p.u, &p.θ, b, a.temperature, p.logZ[b])
			}
		}
		a.marginals, a.rows = p.u.Parts[0].Values, p.u.Parts[0].Offsets
		_, constituents := p.θ.Structure.(constituents.Tree) // whose labels are not those of words
		if (o.Relations || constituents) && len(p.u.Parts) > 1 {
			a.relations = &p.u.Parts[1]
		}
	case o.Probability || o.NBest > 0:
		can.sums.Exp(&p.θ, a.temperature, p.logZ, nil)
	}
}

// answers are the results of the oracles on a batch.
type answers struct {
	offsets     []int
	labels      []int32   // [N], kept by the predictions
	score, logZ []float64 // logZ times the temperature
	temperature float64
	upper       []*float64 // bounds of the best scores, nil where an answer is exact; nil if all are
	marginals   []float32  // of the first part, if asked for: example b owns rows rows[b] to rows[b+1]-1
	rows        []int
	width       int              // of a row
	relations   *structured.Part // marginals of the second part, or nil
	best        *oracles.KBest   // or nil
	margins     [][]float32      // of each example, or nil
	tags        [][]float32      // probabilities of tags in another scheme, of each example, or nil
	entropy     []float64        // or nil
	samples     *oracles.Samples // or nil
}

// predictions returns the answers, outputs of the structure s, example by example.
func (a *answers) predictions(d *structured.Dataset, examples []int, o predictions.Options,
	s structured.Structure) ([]predictions.Prediction, error) {
	all := make([]predictions.Prediction, len(examples))
	for b, i := range examples {
		if math.IsInf(a.score[b], -1) {
			forced := ""
			if o.Force {
				forced = " and the labels that are given"
				if t, ok := s.(trees.SpanningTree); ok && t.NonProjective {
					forced = " and the heads that are given: its trees have one root and no cycles"
				} else if ok {
					forced = " and the heads that are given: its trees have one root, no cycles and no crossing arcs (those of a model of --tree nonprojective may cross)"
				}
			}
			return nil, structured.BadInput("%s: no output of %d positions keeps the model's constraints%s", d.Where(i),
				d.Length(i), forced)
		}
		lo, hi := a.offsets[b], a.offsets[b+1]
		p := &all[b]
		p.Labels, p.Score = a.labels[lo:hi], a.score[b]
		if a.upper != nil {
			p.Bound = a.upper[b]
		}
		if o.Probability || o.NBest > 0 {
			p.Probability = a.probability(p.Score, b)
			p.NBest = a.nbest(b)
		}
		if a.entropy != nil {
			p.Entropy = a.entropy[b]
		}
		if a.samples != nil {
			for k := range a.samples.Count[b] {
				p.Samples = append(p.Samples, slices.Clone(a.samples.Output(k, lo, hi)))
			}
		}
		if o.Marginals || o.Confidence {
			if a.margins != nil {
				p.Margins = a.margins[b]
			} else {
				p.Marginals = append([]float32(nil), a.marginals[a.rows[b]*a.width:a.rows[b+1]*a.width]...)
			}
			if a.tags != nil {
				p.Tags = a.tags[b]
			}
			if a.relations != nil {
				p.Relations = slices.Clone(a.relations.Of(b))
			}
		}
	}
	return all, nil
}

// nbest copies the list of chain b.
func (a *answers) nbest(b int) []predictions.Output {
	if a.best == nil {
		return nil
	}
	lo, hi := a.offsets[b], a.offsets[b+1]
	list := make([]predictions.Output, a.best.Count[b])
	for k := range list {
		score := a.best.Score[b*a.best.K+k]
		list[k] = predictions.Output{Labels: append([]int32(nil), a.best.Output(k, lo, hi)...), Score: score,
			Probability: a.probability(score, b)}
	}
	return list
}

// probability returns the probability of an output of example b with that score, capped at 1 against rounding.
func (a *answers) probability(score float64, b int) float64 {
	return math.Exp(min(0, (score-a.logZ[b])/a.temperature))
}
