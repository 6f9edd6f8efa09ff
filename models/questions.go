package models

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// CheckQuestions refuses options that ask what the model's outputs cannot answer, as bad input.
func (m *Model) CheckQuestions(o predictions.Options) error {
	if err := m.checkTranscripts(o); err != nil {
		return err
	}
	if m.Net == nil || o.Samples == 0 && !o.Entropy {
		return nil
	}
	structure := m.Net.Form().Structure
	oracle := registry.Of(structure).Oracle()
	if o.Samples > 0 {
		if _, err := oracles.Samplers(oracle, o.Asker.Name("samples"), structure.Name()); err != nil {
			return err
		}
	}
	if o.Entropy {
		if _, err := oracles.ExactSums(oracle, o.Asker.Name("entropy"), structure.Name()); err != nil {
			return err
		}
	}
	return nil
}

// placeOf returns a number for example i of d that does not depend on how the data are cut into pieces: where it begins
// in its file, if that is known.
func placeOf(d *structured.Dataset, i int) uint64 {
	switch at := d.Offsets[i]; {
	case d.Lines != nil && d.Files == nil:
		return uint64(d.Lines[i])
	case d.Ranges != nil && at < d.Offsets[i+1] && d.Ranges[at][0] >= 0:
		return uint64(d.Ranges[at][0])
	}
	return uint64(i)
}

// drawn draws samples for a batch of examples of d.
func (p *predictor) drawn(d *structured.Dataset, examples []int, μ float64, o predictions.Options) *oracles.Samples {
	p.seeds = vec.Grow(p.seeds, len(examples))
	for b, i := range examples {
		place := placeOf(d, i)
		if p.places != nil {
			place = p.places[i]
		}
		p.seeds[b] = rand.NewPCG(o.Seed, place).Uint64()
	}
	p.oracle.(oracles.Sampler).Sample(&p.θ, μ*cmp.Or(o.SampleTemperature, 1), o.Samples, p.seeds, &p.samples)
	return &p.samples
}

// Likelihood says how probable gold outputs are.
type Likelihood struct {
	NLL        float64 // mean over examples of −log p(gold) in nats, at the model's temperature
	Per        float64 // the sum of these, per Unit of the examples
	Unit       string  // position, or symbol of a transcript
	Examples   int     // that the means are over
	Impossible int     // examples whose gold output the model cannot have: they are left out
}

// Object returns l as an object for JSON: nll, nll_per_position or nll_per_symbol, examples, impossible.
func (l Likelihood) Object() map[string]any {
	return map[string]any{"nll": l.NLL, "nll_per_" + l.Unit: l.Per, "examples": l.Examples, "impossible": l.Impossible}
}

// NLL returns how probable the gold outputs of d are. Where they are known in part, they are all outputs that agree
// with what is known.
func (m *Model) NLL(ctx context.Context, d *structured.Dataset, threads int) (Likelihood, error) {
	structure := m.Net.Form().Structure
	if _, err := oracles.ExactSums(registry.Of(structure).Oracle(), "--nll", structure.Name()); err != nil {
		return Likelihood{}, err
	}
	type sums struct {
		nll                         float64
		examples, units, impossible int
	}
	var all sums
	μ := m.Temper()
	err := OverPotentials(ctx, m, d, threads,
		func(o oracles.Maximiser, examples []int, θ *structured.Potentials) (sums, error) {
			var s sums
			value, gold, err := m.LogSums(o.(oracles.Summer), d, examples, θ, μ)
			if err != nil {
				return s, err
			}
			for b, i := range examples {
				if math.IsInf(gold[b], -1) {
					s.impossible++
					continue
				}
				s.nll += max(0, (value[b]-gold[b])/μ)
				s.examples++
				if m.transcribes() {
					s.units += len(d.Readings[i])
				} else {
					s.units += d.Length(i)
				}
			}
			return s, nil
		}, func(s sums) error {
			all = sums{all.nll + s.nll, all.examples + s.examples, all.units + s.units, all.impossible + s.impossible}
			return nil
		})
	l := Likelihood{Unit: "position", Examples: all.examples, Impossible: all.impossible}
	if m.transcribes() {
		l.Unit = "symbol"
	}
	if all.examples > 0 {
		l.NLL, l.Per = all.nll/float64(all.examples), all.nll/float64(max(1, all.units))
	}
	return l, err
}

// LogSums returns of each of a batch of examples of d, with potentials θ, μ·log Σ exp(⟨θ,1_y⟩/μ) over all outputs y,
// and over the gold ones alone: those that agree with all that is known. The latter is −∞ where the model cannot have
// any. −log p(gold) is their difference over μ.
func (m *Model) LogSums(o oracles.Summer, d *structured.Dataset, examples []int, θ *structured.Potentials,
	μ float64) (all, gold []float64, err error) {
	all, gold = make([]float64, len(examples)), make([]float64, len(examples))
	o.Exp(θ, μ, all, nil)
	var agreeing structured.Potentials // of what is known in part, or of transcripts
	known := make([]bool, len(examples))
	restricter, restricts := θ.Structure.(structured.Restricter)
	for b, i := range examples {
		switch known[b] = d.Readings == nil && !d.Partial(i); {
		case !known[b] && !restricts:
			return nil, nil, structured.BadInput("%s: the gold output is known in part, and the potentials of a %s cannot keep part of an output", d.Where(i), θ.Structure.Name())
		case !known[b]:
			if agreeing.Structure == nil {
				agreeing.Copy(θ)
			}
			restricter.Restrict(&agreeing, b, d.GoldOf(i))
		case m.knows(θ, b, d.Gold(i)):
			gold[b] = θ.Score(b, d.Gold(i))
		default:
			gold[b] = math.Inf(-1)
		}
	}
	if agreeing.Structure != nil {
		sums := make([]float64, len(examples))
		o.Exp(&agreeing, μ, sums, nil)
		for b := range examples {
			if !known[b] {
				gold[b] = sums[b]
			}
		}
	}
	return all, gold, nil
}

// knows reports whether the model has all labels of a gold output of example b.
func (m *Model) knows(θ *structured.Potentials, b int, y []int32) bool {
	var one structured.Potentials
	θ.View(b, &one)
	knows := true
	structured.Locate(&one, y, func(_, _ int, label int32) { knows = knows && int(label) < m.Labels.Len() })
	return knows
}

// Divergence compares the distributions of outputs of two models, p and q: means over examples, in nats.
type Divergence struct {
	Entropy      float64 `json:"entropy"`       // of p
	CrossEntropy float64 `json:"cross_entropy"` // −Σ p log q
	KL           float64 `json:"kl"`            // Σ p log(p/q), their difference
	Examples     int     `json:"examples"`      // that the means are over
	Impossible   int     `json:"impossible"`    // examples in which q forbids what p does not: they are left out
}

// pair is a predictor of each of two models.
type pair struct {
	p, q   *predictor
	θp, θq structured.Potentials // in the common form
}

// SameSpace returns the common form of the potentials of two models, or says why they have none, as bad input.
func (m *Model) SameSpace(other *Model) (structured.Form, error) {
	form, err := structured.Common(m.Net.Form(), other.Net.Form())
	switch {
	case m.transcribes() || other.transcribes():
		return form, structured.BadInput("the divergence of strings is not known, only that of the labels of frames")
	case err != nil:
		return form, structured.BadInput("their outputs cannot be compared: %w", err)
	case !slices.Equal(m.Labels.Names(), other.Labels.Names()):
		return form, structured.BadInput("the models do not number the same labels alike: %s, and %s",
			structured.SomeOf(m.Labels.Names()), structured.SomeOf(other.Labels.Names()))
	}
	return form, nil
}

// Divergence compares the distributions of m with those of another model. e are the same examples as d, as that model
// reads them.
func (m *Model) Divergence(ctx context.Context, d *structured.Dataset, other *Model, e *structured.Dataset,
	threads int) (Divergence, error) {
	form, err := m.SameSpace(other)
	if err != nil {
		return Divergence{}, err
	}
	if _, err := oracles.ExactSums(registry.Of(form.Structure).Oracle(), "it", form.Structure.Name()); err != nil {
		return Divergence{}, err
	}
	if err := cmp.Or(m.home().needHost("it"), other.home().needHost("it")); err != nil {
		return Divergence{}, err
	}
	if err := errors.Join(m.complete(d, threads), other.complete(e, threads)); err != nil {
		return Divergence{}, err
	}
	if err := errors.Join(m.accepts(d), other.accepts(e)); err != nil {
		return Divergence{}, err
	}
	if !slices.Equal(d.Offsets, e.Offsets) {
		return Divergence{}, structured.BadInput("%s: the two models read other examples in it", d.Name)
	}
	var all Divergence
	err = host.InOrder(ctx, threads, host.Each(inputs.Batches(d)),
		func() *pair { return &pair{p: m.newPredictor(), q: other.newPredictor()} },
		func(t *pair, examples []int) (Divergence, error) { return t.compare(d, e, examples, form) },
		func(s Divergence) error {
			all = Divergence{all.Entropy + s.Entropy, all.CrossEntropy + s.CrossEntropy, all.KL + s.KL,
				all.Examples + s.Examples, all.Impossible + s.Impossible}
			return nil
		})
	if n := float64(max(1, all.Examples)); err == nil {
		all.Entropy, all.CrossEntropy, all.KL = all.Entropy/n, all.CrossEntropy/n, all.KL/n
	}
	return all, err
}

// compare returns sums over some examples.
func (t *pair) compare(d, e *structured.Dataset, examples []int, form structured.Form) (s Divergence, err error) {
	if err := errors.Join(t.p.potentials(d, examples), t.q.potentials(e, examples)); err != nil {
		return s, err
	}
	n := len(examples)
	p, q := t.p, t.q
	p.θ.Untie(&p.batch, form, &t.θp)
	q.θ.Untie(&q.batch, form, &t.θq)
	p.logZ, q.logZ = vec.Grow(p.logZ, n), vec.Grow(q.logZ, n)
	μp, μq := p.model.Temper(), q.model.Temper()
	p.oracle.(oracles.Summer).Exp(&t.θp, μp, p.logZ, &p.u)
	q.oracle.(oracles.Summer).Exp(&t.θq, μq, q.logZ, nil)
	for b := range n {
		entropy := oracles.GibbsEntropy(&p.u, &t.θp, b, μp, p.logZ[b])
		cross := oracles.CrossEntropy(&p.u, b, &t.θq, b, μq, q.logZ[b])
		if math.IsInf(p.logZ[b], 0) || math.IsInf(cross, 0) || math.IsNaN(cross) {
			s.Impossible++
			continue
		}
		s.Entropy, s.CrossEntropy, s.KL, s.Examples = s.Entropy+entropy, s.CrossEntropy+cross, s.KL+max(0, cross-entropy),
			s.Examples+1
	}
	return s, nil
}
