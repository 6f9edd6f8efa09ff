package models

import (
	"context"
	"slices"

	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/train/ranks"
)

// Several ranks share what a model predicts. All run the same verb with the same model. Text that is answered as it
// arrives rank 0 alone reads. Other data every rank reads, but for inputs that are made of text (attributes, the rows
// of an encoder): each makes those of the examples that it answers. All have all answers, so what comes after them is
// the same everywhere; rank 0 alone writes.

// Ranks are several ranks that share what models predict. Each computes on its host, or on its device.
type Ranks struct {
	ranks.Group
	lacking map[*structured.Dataset]bool // data whose inputs are not made yet
	parts   map[part]*structured.Dataset // that this rank's device has
}

// part are some examples of a data set, first to last−1.
type part struct {
	of          *structured.Dataset
	first, last int
}

// NewRanks returns the ranks of a group; nil for a group of one.
func NewRanks(g ranks.Group) *Ranks {
	if g.Size() == 1 {
		return nil
	}
	return &Ranks{Group: g, lacking: map[*structured.Dataset]bool{}, parts: map[part]*structured.Dataset{}}
}

// ShareWith has m share what it predicts with other ranks, all of which call its methods alike; nil ends that. It goes
// before data are read.
func (m *Model) ShareWith(r *Ranks) { m.ranks = r }

// Ranks returns the ranks that share what m predicts; nil if there is one.
func (m *Model) Ranks() *Ranks { return m.ranks }

// group returns the processes that share what is predicted.
func (on *Ranks) group() ranks.Group {
	if on == nil {
		return ranks.Alone{}
	}
	return on.Group
}

// Size returns how many processes share what is predicted.
func (on *Ranks) Size() int { return on.group().Size() }

// leads reports whether this process writes what m predicts.
func (m *Model) leads() bool { return m.ranks.group().Rank() == 0 }

// InOrder is ranks.InOrder for processes that share what is predicted.
func InOrder[S, I, R any](ctx context.Context, on *Ranks, threads int, next func() (I, bool, error), scratch func() S,
	work func(s S, item I) (R, error), use func(r R) error) error {
	return ranks.InOrder(ctx, on.group(), threads, next, scratch, work, use)
}

// ofFirst returns what rank 0 has.
func ofFirst[T any](ctx context.Context, on *Ranks, mine T) (T, error) {
	return ranks.Broadcast(ctx, on.group(), mine)
}

// Alone returns m as a model whose work this process does not share.
func (m *Model) Alone() *Model {
	if m.ranks == nil {
		return m
	}
	alone := *m
	alone.ranks = nil
	return &alone
}

// leavesInputs reports whether the inputs of data that s reads are left to those who predict the examples: if they are
// made of text.
func (m *Model) leavesInputs(s *source) bool {
	in := &m.Inputs
	// which fill columns that are shown
	return m.ranks != nil && s.streams() &&
		(in.Template != nil || in.Vocab != nil || in.WordRows != nil || in.Encoder != nil || in.Own != nil) &&
		len(m.taggers) == 0
}

// leaveInputs has s leave out the inputs that an Answerer makes.
func (s *source) leaveInputs() {
	s.inputs, s.tag = inputs.Inputs{Dictionary: s.inputs.Dictionary, Edges: s.inputs.Edges}, nil
}

// supplyInputs makes the inputs of data that were left out.
func (m *Model) supplyInputs(d *structured.Dataset, threads int) error {
	if err := m.MakeInputs(d, threads); err != nil {
		return m.adviseTagger(err, d)
	}
	if err := m.standardise(d); err != nil {
		return err
	}
	return m.accepts(d)
}

// complete makes the inputs of all of d, if they were left out, for what ranks do not share.
func (m *Model) complete(d *structured.Dataset, threads int) error {
	if !m.lacksInputs(d) {
		return nil
	}
	delete(m.ranks.lacking, d)
	return m.supplyInputs(d, threads)
}

// lacksInputs reports whether the inputs of d are not made yet.
func (m *Model) lacksInputs(d *structured.Dataset) bool { return m.ranks != nil && m.ranks.lacking[d] }

// shared are the answers for some examples, as ranks tell each other.
type shared struct {
	First, Last int // examples First to Last−1
	Codec       predictionCodec
	Truncated   int
	Known       int // attributes that the model knows
}

// add adds the answers for the next examples.
func (s *shared) add(answers []predictions.Prediction, truncated int) {
	for k := range answers {
		s.Codec.prediction(&answers[k])
	}
	s.Last += len(answers)
	s.Truncated += truncated
}

// answers returns the examples and their answers.
func (s *shared) answers() (examples []int, all []predictions.Prediction) {
	all = make([]predictions.Prediction, s.Last-s.First)
	s.Codec.reads = true
	for k := range all {
		s.Codec.prediction(&all[k])
		examples = append(examples, s.First+k)
	}
	return examples, all
}

func (on *Ranks) predict(ctx context.Context, m *Model, d *structured.Dataset, o predictions.Options,
	use func(examples []int, answers []predictions.Prediction, truncated int) error) error {
	threads := o.Threads
	o, err := ofFirst(ctx, on, o) // what rank 0 writes may need more than what others look at
	if err != nil {
		return err
	}
	o.Threads = threads
	batches := inputs.Batches(d)
	threads, atOnce, answerer := m.home().share(ctx, on, m, d, batches, o)
	var items [][2]int // the batches of each
	for lo := 0; lo < len(batches); lo += atOnce {
		items = append(items, [2]int{lo, min(lo+atOnce, len(batches))})
	}
	known := 0
	err = InOrder(ctx, on, threads, host.Each(items), answerer,
		func(answer answerBatches, of [2]int) (shared, error) { return answer(of[0], of[1]) },
		func(s shared) error {
			known += s.Known
			examples, answers := s.answers()
			return use(examples, answers, s.Truncated)
		})
	if err == nil && on.lacking[d] && d.Positions() > 0 && m.knowsNone(known) {
		err = strange(d.Name)
	}
	return err
}

// answerBatches answers batches lo to hi−1 of some data on one thread.
type answerBatches func(lo, hi int) (shared, error)

func (on *Ranks) byHost(m *Model, d *structured.Dataset, batches [][]int, o predictions.Options) answerBatches {
	p, a := m.newPredictor(), (*Answerer)(nil)
	if on.lacking[d] {
		a = m.NewAnswerer()
		p = a.predictor
	}
	return func(lo, hi int) (shared, error) {
		s := shared{First: batches[lo][0], Last: batches[lo][0]}
		of, some := d, batches[lo:hi]
		if a != nil {
			examples := slices.Concat(some...)
			of = d.Subset(examples)
			if err := a.makeInputs(of); err != nil {
				return s, m.adviseTagger(err, of)
			}
			some, s.Known = inputs.Batches(of), knownAttributes(of) // these are the same batches
			p.places = placesOf(d, examples)
		}
		for _, examples := range some {
			answers, err := p.predict(of, examples, o)
			if err != nil {
				return s, err
			}
			s.add(answers, p.truncated)
		}
		return s, nil
	}
}

// byDevice is byHost on a device.
func (on *Ranks) byDevice(ctx context.Context, by *onDevice, m *Model, d *structured.Dataset, batches [][]int,
	o predictions.Options) answerBatches {
	return func(lo, hi int) (shared, error) {
		examples := slices.Concat(batches[lo:hi]...)
		s := shared{First: examples[0], Last: examples[0]}
		at := part{d, examples[0], examples[len(examples)-1] + 1}
		of := on.parts[at]
		if of == nil {
			of = d.Subset(examples)
			if on.lacking[d] {
				if err := m.supplyInputs(of, o.Threads); err != nil {
					return s, err
				}
			}
			on.parts[at] = of
		}
		s.Known = knownAttributes(of)
		own := *m
		own.places = placesOf(d, examples)
		return s, by.predict(ctx, &own, of, o, func(_ []int, answers []predictions.Prediction, truncated int) error {
			s.add(answers, truncated)
			return nil
		})
	}
}

// placesOf returns the places of some examples of d, whatever their numbers are elsewhere.
func placesOf(d *structured.Dataset, examples []int) []uint64 {
	all := make([]uint64, len(examples))
	for k, i := range examples {
		all[k] = placeOf(d, i)
	}
	return all
}

func (on *Ranks) over(ctx context.Context, m *Model, d *structured.Dataset, threads int,
	work func(o oracles.Maximiser, examples []int, θ *structured.Potentials) (func() error, error)) error {
	return m.Alone().backend().over(ctx, m, d, threads, work)
}
