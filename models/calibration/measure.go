package calibration

import (
	"context"
	"math"
	"slices"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// Measured is a mean negative log-likelihood.
type Measured struct {
	NLL     float64 // in nats
	Count   int     // how many tokens, outputs or entities the mean is over
	Skipped int     // how many gold ones the model cannot predict at all
}

// Measure returns the mean negative log-likelihood of the gold outputs of d at the model's temperature, as by says. It
// needs what Fit needs.
func Measure(ctx context.Context, m *models.Model, d *structured.Dataset, by By, threads int) (Measured, error) {
	s, err := newSearch(ctx, m, d, by, threads)
	if err != nil {
		return Measured{}, err
	}
	values, _, err := s.measure([]float64{math.Log2(m.Temper())}, true)
	if err != nil {
		return Measured{}, err
	}
	return Measured{values[0], s.count, s.skipped}, s.some()
}

// search measures temperatures on data.
type search struct {
	ctx            context.Context
	model          *models.Model
	data           *structured.Dataset
	by             By
	rules          *chains.Entities // with Entities
	threads        int
	count, skipped int
}

// Has reports whether a model and data have that likelihood.
func Has(m *models.Model, d *structured.Dataset, by By) bool {
	_, err := newSearch(context.Background(), m, d, by, 1)
	return err == nil
}

// newSearch refuses models and data that have no such likelihood, as bad input.
func newSearch(ctx context.Context, m *models.Model, d *structured.Dataset, by By, threads int) (*search, error) {
	if m.Sums() == nil {
		return nil, structured.BadInput("a temperature is fitted to probabilities, which need sums over all outputs; "+
			"a %s does not have them",
			m.Net.Form().Structure.Name())
	}
	if d.Labels == nil {
		return nil, structured.BadInput("%s: no gold outputs to fit probabilities to", d.Name)
	}
	if d.Readings != nil && by == Tokens {
		return nil, structured.BadInput("%s: what lines read is known, and not the labels of frames: fit the temperature "+
			"to whole outputs (sequences)", d.Name)
	}
	s := &search{ctx: ctx, model: m, data: d, by: by, threads: threads}
	if by == Entities {
		if s.rules = chains.NewEntities(m.Labels); s.rules == nil {
			return nil, structured.BadInput("a temperature cannot be fitted to entities: the model's outputs have no entities")
		}
		if _, chain := m.Net.Form().Structure.(chains.Chain); !chain {
			return nil, structured.BadInput("a temperature cannot be fitted to the entities of a %s; it needs a "+
				"model of --structure chain", m.Net.Form().Structure.Name())
		}
	}
	return s, nil
}

// some refuses data that have shown nothing to measure, as bad input.
func (s *search) some() error {
	switch {
	case s.count > 0:
		return nil
	case s.by == Entities:
		return structured.BadInput("%s: the model finds no entities there to fit a temperature to", s.data.Name)
	}
	return structured.BadInput("%s: no gold outputs that are fully known and that the model can predict", s.data.Name)
}

// measured is the sum of the negative log-likelihoods of a batch, at each temperature.
type measured struct {
	sums           []float64
	bound          []bool // the sum is a lower bound: it has rare parts
	count, skipped int
}

func newMeasured(temperatures int) measured {
	return measured{sums: make([]float64, temperatures), bound: make([]bool, temperatures)}
}

// measure returns the mean negative log-likelihood at each temperature, given by its logarithm to base 2. Without rare,
// it may be a lower bound, and exact says where it is not.
func (s *search) measure(logs []float64, rare bool) (means []float64, exact []bool, err error) {
	means, exact = make([]float64, len(logs)), slices.Repeat([]bool{true}, len(logs))
	s.count, s.skipped = 0, 0
	err = models.OverPotentials(s.ctx, s.model, s.data,
		s.threads, func(o oracles.Maximiser, examples []int, θ *structured.Potentials) (measured, error) {
			return s.batch(o.(oracles.Summer), examples, θ, logs, rare)
		}, func(r measured) error {
			for k, sum := range r.sums {
				means[k] += sum
				exact[k] = exact[k] && !r.bound[k]
			}
			s.count += r.count
			s.skipped += r.skipped
			return nil
		})
	for k := range means {
		means[k] /= math.Max(1, float64(s.count))
	}
	return means, exact, err
}

// batch measures one batch.
func (s *search) batch(o oracles.Summer, examples []int, θ *structured.Potentials, logs []float64,
	rare bool) (measured, error) {
	switch s.by {
	case Entities:
		return s.entities(o, examples, θ, logs), nil
	case Sequences:
		return s.sequences(o, examples, θ, logs)
	}
	return s.parts(o, examples, θ, logs, rare), nil
}

// sequences measures whole outputs, as models.Model.NLL does.
func (s *search) sequences(o oracles.Summer, examples []int, θ *structured.Potentials,
	logs []float64) (measured, error) {
	r := newMeasured(len(logs))
	for k, log := range logs {
		t := math.Exp2(log)
		all, gold, err := s.model.LogSums(o, s.data, examples, θ, t)
		if err != nil {
			return r, err
		}
		for b := range examples {
			possible := !math.IsInf(gold[b], -1)
			if possible {
				r.sums[k] += max(0, (all[b]-gold[b])/t)
			}
			switch {
			case k > 0:
			case possible:
				r.count++
			default:
				r.skipped++
			}
		}
	}
	return r, nil
}
