package models

import (
	"context"
	"math"

	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Counts says how often each of a linear model's weights w_j takes part in the gold outputs of data, and how often it
// does in expectation over the outputs of the model: Σ_i (J_iᵀ1_{y_i})_j and Σ_i (J_iᵀu_i)_j, with marginals u_i at the
// model's temperature. An input with a value counts by its value, and an example by its weight. Their difference is n
// times the gradient of the mean of −log p(gold), which is zero where training with the loss crf and no regulariser
// ends.
type Counts struct {
	Observed   []float64 // [weights]
	Expected   []float64 // [weights]
	Examples   int       // that the sums are over
	Impossible int       // examples whose gold output the model cannot have: they are left out
}

// Largest returns the largest difference of an observed and an expected count.
func (c *Counts) Largest() float64 {
	largest := 0.0
	for j, observed := range c.Observed {
		largest = max(largest, math.Abs(observed-c.Expected[j]))
	}
	return largest
}

// counted are the marginals of some examples.
type counted struct {
	examples       []int
	gold, u        structured.Marginals
	seen, excluded int
}

// Counts counts in d. It refuses models that are not linear, or do not sum over outputs exactly, as bad input.
func (m *Model) Counts(ctx context.Context, d *structured.Dataset, threads int) (*Counts, error) {
	const asked = "--expected-counts"
	structure := m.Net.Form().Structure
	if _, err := oracles.ExactSums(registry.Of(structure).Oracle(), asked, structure.Name()); err != nil {
		return nil, err
	}
	linear := nets.NewPreciseWorker(m.Net)
	if linear == nil {
		return nil, structured.BadInput("%s counts what the weights of a linear model belong to; net %s is not linear in its inputs",
			asked, m.Net.Name())
	}
	if err := m.home().needHost(asked); err != nil {
		return nil, err
	}
	if d.Labels == nil {
		return nil, structured.BadInput("%s: no labels to count with", d.Name)
	}
	if err := m.complete(d, threads); err != nil {
		return nil, err
	}
	if err := m.accepts(d); err != nil {
		return nil, err
	}
	c := &Counts{Observed: make([]float64, m.Net.Dim()), Expected: make([]float64, m.Net.Dim())}
	var batch structured.Batch
	var θ structured.Potentials
	err := host.InOrder(ctx, threads, host.Each(inputs.Batches(d)), m.newPredictor,
		func(p *predictor, examples []int) (*counted, error) { return p.count(d, examples) },
		func(r *counted) error {
			c.Examples, c.Impossible = c.Examples+r.seen, c.Impossible+r.excluded
			batch.Reset(d, r.examples)
			if err := linear.ScorePrecisely(m.W, 0, &batch, &θ); err != nil {
				return err
			}
			if err := linear.PullbackPrecisely(&r.gold, c.Observed); err != nil {
				return err
			}
			return linear.PullbackPrecisely(&r.u, c.Expected)
		})
	return c, err
}

// count returns the marginals of examples, and those of their gold outputs: 1_y, or the marginals given what is known.
// Examples whose gold output is impossible have zeros.
func (p *predictor) count(d *structured.Dataset, examples []int) (*counted, error) {
	// of its own: the marginals share its offsets, and are read while the next batch is scored
	p.batch = structured.Batch{}
	if err := p.potentials(d, examples); err != nil {
		return nil, err
	}
	r := &counted{examples: examples}
	value, possible, partial := make([]float64, len(examples)), make([]bool, len(examples)), false
	μ := p.model.Temper()
	p.oracle.(oracles.Summer).Exp(&p.θ, μ, value, &r.u)
	r.gold.Like(&p.θ)
	r.gold.Clear()
	for b, i := range examples {
		switch {
		case d.Partial(i):
			restricter, restricts := p.θ.Structure.(structured.Restricter)
			if !restricts {
				return nil, structured.BadInput("%s: the gold output is known in part, and the potentials of a %s cannot keep part of an output", d.Where(i), p.θ.Structure.Name())
			}
			restricter.Restrict(&p.θ, b, d.GoldOf(i))
			partial = true
		case p.model.knows(&p.θ, b, d.Gold(i)) && !math.IsInf(p.θ.Score(b, d.Gold(i)), -1):
			r.gold.Add(b, d.Gold(i), 1)
			possible[b] = true
		}
	}
	if partial {
		var given structured.Marginals
		p.oracle.(oracles.Summer).Exp(&p.θ, μ, value, &given)
		for b, i := range examples {
			if d.Partial(i) && !math.IsInf(value[b], -1) {
				r.gold.Set(b, &given, b)
				possible[b] = true
			}
		}
	}
	for b, i := range examples {
		weight := float32(0)
		if possible[b] {
			r.seen++
			weight = float32(d.Weight(i))
		} else {
			r.excluded++
		}
		r.u.Scale(b, weight)
		r.gold.Scale(b, weight)
	}
	return r, nil
}
