package models

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/chain"
	"github.com/dsp-go/dsp/oracles/chain/entities"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/oracles/segment"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/segments"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// temperatureKey is the temperature's name in the metadata of model files.
const temperatureKey = "temperature"

// StoreTemperature writes the model file from to the file to, which may be the same, with another temperature and no
// other change, whole or not at all.
func StoreTemperature(from, to string, t float64) error {
	f, err := safetensors.Read(from)
	if err != nil {
		return err
	}
	value, err := safetensors.JSONMetadata(map[string]any{temperatureKey: t})
	if err != nil {
		return err
	}
	maps.Copy(f.Metadata, value)
	return safetensors.Write(to, f)
}

// Temper returns the temperature T of probabilities, p(y) ∝ exp(⟨θ, 1_y⟩/T).
func (m *Model) Temper() float64 { return cmp.Or(m.Temperature, 1) }

// Sums returns the oracle that sums over outputs, for one goroutine, or nil if there is none, and with it no
// probabilities.
func (m *Model) Sums() oracles.Summer {
	if m.Net == nil {
		return nil
	}
	s, _ := registry.Of(m.Net.Form().Structure).Oracle().(oracles.Summer)
	return s
}

// Uncalibrated reports whether the model gives probabilities that nothing has fitted to data: its loss is not the
// likelihood, and it has no temperature yet.
func (m *Model) Uncalibrated() bool {
	return m.Temperature == 0 && m.Config.Loss != "crf" && m.Sums() != nil
}

// allows refuses options that the model's outputs do not have.
func (m *Model) allows(o predictions.Options) error {
	if o.Scheme != "" || o.Into != "" {
		if task := tasks.Of(&m.Config); !task.Labels {
			return structured.BadInput("--into and --scheme are for labels of words; --task %s predicts %s", m.Config.Task,
				task.Outputs)
		}
	}
	if o.Scheme != "" {
		if _, err := chains.NewConverter(m.Labels, o.Scheme); err != nil {
			return structured.BadInput("--scheme: %w", err)
		}
		if o.Marginals && !m.sharesTags() {
			return structured.BadInput("--scheme %s: the probabilities that --marginals adds are those of the model's own tags, which is a %s", o.Scheme, m.Net.Form().Structure.Name())
		}
	}
	if err := m.CheckEntities(o); err != nil {
		return err
	}
	return m.CheckQuestions(o)
}

// CheckEntities refuses a model whose outputs have no entities, as bad input, if o needs them.
func (m *Model) CheckEntities(o predictions.Options) error {
	task, flag := tasks.Of(&m.Config), o.Asker.Name("spans")+" lists"
	if o.Decode == predictions.EntityF1 {
		flag = o.Asker.Name("decode", predictions.EntityF1) + " chooses"
	}
	if !o.Spans && o.Decode != predictions.EntityF1 {
		return nil
	}
	if o.Decode == predictions.EntityF1 {
		if err := m.home().needHost("--decode f1"); err != nil {
			return err
		}
	}
	switch {
	case !task.Labels:
		return structured.BadInput("%s the entities of tagged sequences; --task %s predicts %s", flag, m.Config.Task,
			task.Outputs)
	case !chains.EntityTags(m.Labels):
		return structured.BadInput("%s entities, and the model's labels are not entity tags (such as O, B-x, I-x): %s", flag,
			structured.SomeOf(m.Labels.Names()))
	case m.newSpanFinder() == nil:
		return structured.BadInput("%s entities by their probabilities, which are not computed for a %s; %s has those of labels", flag,
			m.Net.Form().Structure.Name(), o.Asker.Name("marginals"))
	}
	return nil
}

// spanFinder finds entities and their probabilities. It serves one goroutine at a time.
type spanFinder struct {
	rules *chains.Entities
	sums  spanSums
	found []chains.Entity // scratch
	p     []float64
}

// spanSums are the probabilities of the entities of one example.
type spanSums interface {
	// Reset takes example b of θ at a temperature.
	Reset(θ *structured.Potentials, b int, temperature float64)
	// Probability returns that of an entity.
	Probability(e chains.Entity) float64
	// AtLeast appends the entities with at least that probability.
	AtLeast(p float64, to []chains.Entity, probabilities []float64) ([]chains.Entity, []float64)
	// Best returns the entities of an allowed labeling for which Σ (p − θ) is largest, and their probabilities p; none
	// where no labeling is allowed.
	Best(θ float64) ([]chains.Entity, []float64)
	// Labels returns the best labels that have just these entities, in order; nil if none are allowed.
	Labels(chosen []chains.Entity) []int32
}

// newSpanFinder returns a finder, or nil for a model without entities.
func (m *Model) newSpanFinder() *spanFinder {
	rules := chains.NewEntities(m.Labels)
	if rules == nil {
		return nil
	}
	switch m.Net.Form().Structure.(type) {
	case chains.Chain:
		return &spanFinder{rules: rules, sums: chainSums{entities.New(rules, m.Labels.Len())}}
	case chains.Second:
		return &spanFinder{rules: rules, sums: &secondSums{rules: rules, oracle: chain.NewSecond()}}
	case segments.Segments, segments.Counted:
		return &spanFinder{rules: rules, sums: newSegmentSums(rules, m.Labels.Len())}
	}
	return nil
}

// chainSums are those of chains.
type chainSums struct{ *entities.Sums }

func (s chainSums) Reset(θ *structured.Potentials, b int, temperature float64) {
	view := chains.Of(θ)
	s.Sums.Reset(&view, b, temperature)
}

// secondSums are those of second-order chains: of the chains of their states.
type secondSums struct {
	rules  *chains.Entities
	oracle *chain.Second
	states []int32 // the label of each
	*entities.Sums
}

func (s *secondSums) Reset(θ *structured.Potentials, b int, temperature float64) {
	states, labels := s.oracle.Lift(θ, b)
	s.states = labels
	if s.Sums == nil {
		s.Sums = entities.New(s.rules.Over(labels), len(labels))
	}
	s.Sums.Reset(&states, 0, temperature/2)
}

// segmentSums are those of segments.
type segmentSums struct {
	*segment.Spans
	types  []int32         // the type of each label of segments, −1 if it is outside entities
	labels map[int32]int32 // the label of each type
}

func newSegmentSums(rules *chains.Entities, tags int) *segmentSums {
	s := &segmentSums{segment.NewSpans(), make([]int32, segments.Labels(tags)), map[int32]int32{}}
	for y := range s.types {
		s.types[y] = rules.Type(int32(2 * y))
		s.labels[s.types[y]] = int32(y)
	}
	return s
}

func (s *segmentSums) Probability(e chains.Entity) float64 {
	return s.Spans.Probability(segments.Segment{First: e.First, Last: e.Last, Label: s.labels[e.Type]})
}

func (s *segmentSums) AtLeast(p float64, to []chains.Entity, probabilities []float64) ([]chains.Entity, []float64) {
	s.Each(p, func(x segments.Segment, q float64) {
		if typ := s.types[x.Label]; typ >= 0 {
			to, probabilities = append(to, chains.Entity{First: x.First, Last: x.Last, Type: typ}), append(probabilities, q)
		}
	})
	return to, probabilities
}

func (s *segmentSums) Best(θ float64) (chosen []chains.Entity, probabilities []float64) {
	best := s.Spans.Best(func(x segments.Segment) float64 {
		if s.types[x.Label] < 0 {
			return 0
		}
		return s.Spans.Probability(x) - θ
	}, 0)
	for _, x := range best {
		if typ := s.types[x.Label]; typ >= 0 {
			chosen, probabilities = append(chosen, chains.Entity{First: x.First, Last: x.Last, Type: typ}),
				append(probabilities, s.Spans.Probability(x))
		}
	}
	return chosen, probabilities
}

func (s *segmentSums) Labels(chosen []chains.Entity) (tags []int32) {
	entity, inside := map[segments.Segment]bool{}, map[int]bool{}
	for _, e := range chosen {
		entity[segments.Segment{First: e.First, Last: e.Last, Label: s.labels[e.Type]}] = true
		for t := e.First; t <= e.Last; t++ {
			inside[t] = true
		}
	}
	best := s.Spans.Best(func(x segments.Segment) float64 {
		outside := s.types[x.Label] < 0
		for t := x.First; outside && t <= x.Last; t++ {
			outside = !inside[t]
		}
		if !outside && !entity[x] {
			return math.Inf(-1)
		}
		return s.Spans.Score(x)
	}, 1)
	for _, x := range best {
		for t := x.First; t <= x.Last; t++ {
			tags = append(tags, 2*x.Label)
			if t > x.First {
				tags[t]++
			}
		}
	}
	return tags
}

// find sets the spans of the predictions for a batch of examples of d, with these potentials, as o says.
func (f *spanFinder) find(θ *structured.Potentials, d *structured.Dataset, examples []int, temperature float64,
	o predictions.Options, all []predictions.Prediction) {
	width := θ.Parts[0].Width
	for b, i := range examples {
		f.sums.Reset(θ, b, temperature)
		f.found, f.p = f.found[:0], f.p[:0]
		if o.MinProbability > 0 {
			f.found, f.p = f.sums.AtLeast(o.MinProbability, f.found, f.p)
		}
		if o.MinProbability == 0 || o.Compared {
			f.add(all[b].Labels)
		}
		if gold := d.Gold(i); o.Compared &&
			!slices.ContainsFunc(gold, func(g int32) bool { return g < 0 || int(g) >= width }) {
			f.add(gold)
		}
		all[b].Spans = make([]predictions.Span, len(f.found))
		for k, e := range f.found {
			all[b].Spans[k] = predictions.Span{Entity: e, Probability: f.p[k]}
		}
	}
}

// add adds the entities of a labeling that are not there yet.
func (f *spanFinder) add(labels []int32) {
	found := len(f.found)
	for _, e := range f.rules.Of(nil, labels) {
		if !slices.Contains(f.found[:found], e) {
			f.found, f.p = append(f.found, e), append(f.p, f.sums.Probability(e))
		}
	}
}
