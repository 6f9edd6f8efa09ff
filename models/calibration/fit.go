// Package calibration fits the temperature of a model's probabilities to data that it was not trained on (Guo et al. 2017). A temperature T
// replaces p(y) ∝ exp(⟨θ, 1_y⟩) by p(y) ∝ exp(⟨θ, 1_y⟩/T). It leaves the best outputs as they are.
package calibration

import (
	"context"
	"math"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// By says whose likelihood a temperature maximises.
type By int

// What a temperature is fitted by.
const (
	Tokens    By = iota // the parts of gold outputs, each under its marginal probability: labels, labelled arcs, candidates
	Sequences           // whole gold outputs
	Entities            // whether each entity of the best outputs is right, under its probability
)

var byNames = []string{"tokens", "sequences", "entities"}

// String returns "tokens", "sequences" or "entities".
func (b By) String() string { return byNames[b] }

// ParseBy parses a name in the form that String writes.
func ParseBy(name string) (By, error) {
	return structured.ParseName[By]("likelihood", byNames, name)
}

// Result is a fitted temperature, and the mean negative log-likelihood that it was fitted by.
type Result struct {
	Temperature float64
	Before      float64 // at the model's temperature so far
	After       float64 // at the fitted one
	Count       int     // how many tokens, outputs or entities the mean is over
	Skipped     int     // how many gold ones the model cannot predict at all
	Bounded     bool    // the likelihood falls on both sides of Temperature; otherwise that is the end of the range that was searched
}

// The range of temperatures, 2^−octaves to 2^octaves, and how finely it is searched in the end, in octaves.
const (
	octaves = 10
	finest  = 0.002
)

// Fit finds the temperature that minimises the mean negative log-likelihood of the gold outputs of d, as by says. Parts that are not known for
// certain are left out, and so are outputs with such a part where whole outputs or entities are compared.
//
// The likelihood of whole outputs is convex in 1/T; the others need not be. So the search begins on a grid of the whole range, a factor of
// 2 apart, and refines it around the least value, which narrows the range to a quarter each time. Every round computes the potentials once.
// Among equal values the temperature nearest to 1 wins.
func Fit(ctx context.Context, m *models.Model, d *structured.Dataset, by By, threads int) (Result, error) {
	if m.Sums() == nil {
		return Result{}, structured.BadInput("a temperature is fitted to probabilities, which need sums over all outputs; a %s does not have them",
			m.Net.Form().Structure.Name())
	}
	if d.Labels == nil {
		return Result{}, structured.BadInput("%s: no gold outputs to fit probabilities to", d.Name)
	}
	if d.Readings != nil && by == Tokens {
		return Result{}, structured.BadInput("%s: what lines read is known, and not the labels of frames: fit the temperature to whole outputs (sequences)", d.Name)
	}
	s := search{ctx: ctx, model: m, data: d, by: by, threads: threads}
	if by == Entities {
		if s.rules = chains.NewEntities(m.Labels); s.rules == nil {
			return Result{}, structured.BadInput("a temperature cannot be fitted to entities: the model's outputs have no entities")
		}
		if _, chain := m.Net.Form().Structure.(chains.Chain); !chain {
			return Result{}, structured.BadInput("a temperature cannot be fitted to the entities of a %s; it needs a model of --structure chain", m.Net.Form().Structure.Name())
		}
	}
	logs := []float64{math.Log2(m.Temper()), 0} // logarithms of temperatures to base 2
	for k := 1; k <= octaves; k++ {
		logs = append(logs, float64(k), float64(-k))
	}
	all, err := s.measure(logs)
	if err != nil {
		return Result{}, err
	}
	if s.count == 0 && by == Entities {
		return Result{}, structured.BadInput("%s: the model finds no entities there to fit a temperature to", d.Name)
	}
	if s.count == 0 {
		return Result{}, structured.BadInput("%s: no gold outputs that are fully known and that the model can predict", d.Name)
	}
	r := Result{Before: all[0], Count: s.count, Skipped: s.skipped}
	best := point{logs[1], all[1]}
	best.improve(logs[2:], all[2:])
	r.Bounded = math.Abs(best.log) < octaves
	for step := 0.25; step > finest/2; step /= 4 {
		logs = logs[:0]
		for k := 1; k <= 3; k++ {
			logs = append(logs, best.log+step*float64(k), best.log-step*float64(k))
		}
		if all, err = s.measure(logs); err != nil {
			return Result{}, err
		}
		best.improve(logs, all)
	}
	if !r.Bounded {
		best.log = math.Max(-octaves, math.Min(octaves, best.log))
	}
	r.Temperature, r.After = math.Exp2(best.log), best.value
	return r, nil
}

// point is a temperature and the value there.
type point struct{ log, value float64 }

// improve moves to the first of the points with the least value, unless that is no more than rounding.
func (p *point) improve(logs, values []float64) {
	from := p.value
	for k, v := range values {
		if v < p.value && v < from-1e-9*math.Abs(from) {
			*p = point{logs[k], v}
		}
	}
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

// measured is the sum of the negative log-likelihoods of a batch, at each temperature.
type measured struct {
	sums           []float64
	count, skipped int
}

// measure returns the mean negative log-likelihood at each temperature.
func (s *search) measure(logs []float64) ([]float64, error) {
	means := make([]float64, len(logs))
	s.count, s.skipped = 0, 0
	err := models.OverPotentials(s.ctx, s.model, s.data, s.threads, func(o oracles.Maximiser, examples []int, θ *structured.Potentials) (measured, error) {
		return s.batch(o.(oracles.Summer), examples, θ, logs), nil
	}, func(r measured) error {
		for k, sum := range r.sums {
			means[k] += sum
		}
		s.count += r.count
		s.skipped += r.skipped
		return nil
	})
	for k := range means {
		means[k] /= math.Max(1, float64(s.count))
	}
	return means, err
}

// leastProbability stands for smaller ones, which marginals in float32 do not show.
const leastProbability = 1e-30

// batch measures one batch.
func (s *search) batch(o oracles.Summer, examples []int, θ *structured.Potentials, logs []float64) measured {
	if s.by == Entities {
		return s.entities(o, examples, θ, logs)
	}
	if s.data.Readings != nil {
		return s.readings(o, examples, θ, logs)
	}
	r := measured{sums: make([]float64, len(logs))}
	gold := make([][]part, len(examples))
	for b, i := range examples {
		parts, skipped := s.gold(θ, b, i)
		gold[b], r.skipped = parts, r.skipped+skipped
		r.count += len(parts)
	}
	value := make([]float64, len(examples))
	u := &structured.Marginals{}
	if s.by == Sequences {
		u = nil
	}
	for k, log := range logs {
		t := math.Exp2(log)
		o.Exp(θ, t, value, u)
		for b, parts := range gold {
			for _, p := range parts {
				if s.by == Sequences {
					r.sums[k] += math.Max(0, (value[b]-p.score)/t)
				} else {
					r.sums[k] -= math.Log(math.Max(leastProbability, math.Min(1, p.of(u, b))))
				}
			}
		}
	}
	return r
}

// readings measures a batch of examples of which it is known what they read: the likelihood is that of all outputs that read so.
func (s *search) readings(o oracles.Summer, examples []int, θ *structured.Potentials, logs []float64) measured {
	r := measured{sums: make([]float64, len(logs))}
	var gold structured.Potentials
	gold.Copy(θ)
	for b, i := range examples {
		θ.Structure.(structured.Restricter).Restrict(&gold, b, s.data.GoldOf(i))
	}
	all, some := make([]float64, len(examples)), make([]float64, len(examples))
	for k, log := range logs {
		t := math.Exp2(log)
		o.Exp(θ, t, all, nil)
		o.Exp(&gold, t, some, nil)
		for b := range examples {
			possible := !math.IsInf(some[b], -1)
			if possible {
				r.sums[k] += math.Max(0, (all[b]-some[b])/t)
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
	return r
}
