// Package calibration fits the temperature of a model's probabilities to data that it was not trained on (Guo et al.
// 2017). A temperature T replaces p(y) ∝ exp(⟨θ, 1_y⟩) by p(y) ∝ exp(⟨θ, 1_y⟩/T). It leaves the best outputs as they
// are.
package calibration

import (
	"context"
	"math"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/structured"
)

// By says whose likelihood a temperature maximises.
type By int

// What a temperature is fitted by.
const (
	// the parts of gold outputs, each under its marginal probability: labels, labelled arcs, candidates
	Tokens    By = iota
	Sequences    // whole gold outputs
	Entities     // whether each entity of the best outputs is right, under its probability
)

var byNames = []string{"tokens", "sequences", "entities"}

// String returns "tokens", "sequences" or "entities".
func (b By) String() string { return byNames[b] }

// ParseBy parses a name in the form that String writes.
func ParseBy(name string) (By, error) {
	return structured.ParseName[By]("likelihood", byNames, name)
}

// Result is a fitted temperature, and the mean negative log-likelihood that it was fitted by, as Measure has it.
type Result struct {
	Temperature float64
	Before      float64 // at the model's temperature so far
	After       float64 // at the fitted one, and no larger
	Count       int     // how many tokens, outputs or entities the mean is over
	Skipped     int     // how many gold ones the model cannot predict at all
	// the likelihood falls on both sides of Temperature; otherwise that is the end of the range that was searched
	Bounded bool
}

// The range of temperatures, 2^−octaves to 2^octaves, and how finely it is searched in the end, in octaves.
const (
	octaves = 10
	finest  = 0.002
)

// Fit finds the temperature that minimises the mean negative log-likelihood of the gold outputs of d, as by says. Of
// parts, those that are not known for certain are left out, and of entities, examples with such a part; a whole output
// that is known in part is any that agrees.
//
// The likelihood of whole outputs is convex in 1/T; the others need not be. So the search begins on a grid of the whole
// range, a factor of 2 apart, and refines it around the least value, which narrows the range to a quarter each time.
// Among equal values that of the model wins, and then the one nearest to 1.
func Fit(ctx context.Context, m *models.Model, d *structured.Dataset, by By, threads int) (Result, error) {
	s, err := newSearch(ctx, m, d, by, threads)
	if err != nil {
		return Result{}, err
	}
	logs := []float64{0} // logarithms of temperatures to base 2
	for k := 1; k <= octaves; k++ {
		logs = append(logs, float64(k), float64(-k))
	}
	before, _, err := s.measure([]float64{math.Log2(m.Temper())}, true)
	if err != nil {
		return Result{}, err
	}
	if err := s.some(); err != nil {
		return Result{}, err
	}
	r := Result{Before: before[0], Count: s.count, Skipped: s.skipped}
	best, err := s.least(point{0, math.Inf(1)}, logs)
	if err != nil {
		return Result{}, err
	}
	for step := 0.25; step > finest/2; step /= 4 {
		logs = logs[:0]
		for k := 1; k <= 3; k++ {
			for _, log := range []float64{best.log + step*float64(k), best.log - step*float64(k)} {
				if math.Abs(log) <= octaves {
					logs = append(logs, log)
				}
			}
		}
		if best, err = s.least(best, logs); err != nil {
			return Result{}, err
		}
	}
	r.Temperature, r.After, r.Bounded = math.Exp2(best.log), best.value, math.Abs(best.log) < octaves
	if !(best.value < r.Before-rounding*math.Abs(r.Before)) {
		r.Temperature, r.After = m.Temper(), r.Before
	}
	return r, nil
}

// point is a temperature and the value there.
type point struct{ log, value float64 }

// rounding is the part of a value by which another one has to be less to count as less.
const rounding = 1e-9

// least returns the first of the points with the least value, or the one it is given where no other is less by more
// than rounding. Rare parts take long to measure, and most of the temperatures that they are rare at are far from the
// best: so all are bounded from below first, and measured only where the bound is no proof that they are not the best.
func (s *search) least(from point, logs []float64) (point, error) {
	bounds, exact, err := s.measure(logs, false)
	if err != nil {
		return from, err
	}
	best, less := from, from.value
	if !math.IsInf(less, 1) {
		less -= rounding * math.Abs(less)
	}
	take := func(k int, value float64) {
		if bounds[k], exact[k] = value, true; value < best.value && value < less {
			best = point{logs[k], value}
		}
	}
	first := -1 // the most promising one settles most of the others
	for k, known := range exact {
		if known {
			take(k, bounds[k])
		} else if first < 0 || bounds[k] < bounds[first] {
			first = k
		}
	}
	for again := []int{first}; first >= 0 && len(again) > 0; {
		some := make([]float64, len(again))
		for i, k := range again {
			some[i] = logs[k]
		}
		values, _, err := s.measure(some, true)
		if err != nil {
			return from, err
		}
		for i, k := range again {
			take(k, values[i])
		}
		again = again[:0]
		for k, known := range exact {
			if !known && bounds[k] < best.value {
				again = append(again, k)
			}
		}
	}
	for k, value := range bounds { // the first of equal ones
		if exact[k] && value == best.value && best != from {
			return point{logs[k], value}, nil
		}
	}
	return best, nil
}
