package minibucket

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Sampler estimates log Z by importance sampling. It draws assignments from the last eliminated variable to the first,
// each state from the mixture of what the variable's mini-buckets say of it given the states before, by their weights
// (Liu, Fisher and Ihler 2015). The mean of exp(value)/probability over assignments is Z in expectation; where the
// bound is tight, all are nearly alike.
type Sampler struct {
	bound  *Bound
	levels [][]mixed // by order of elimination
	random *rand.Rand
	states []int // [V]

	drawn       int
	logs        []float64 // value − log probability, of those that are allowed
	sum, square logSum    // of exp(value)/probability, and of its square
	best        []int     // the assignment of the largest value so far, nil if none is allowed
	value       float64
	mixture, of []float64 // scratch
}

// mixed is what a mini-bucket says of its variable.
type mixed struct {
	weight float64
	shift  []float64
	scores []lookup
}

// Sampler begins to estimate. It uses the bound's tables, so that the bound must not pass while it is in use.
func (b *Bound) Sampler(seed uint64) *Sampler {
	s := &Sampler{
		bound: b, random: rand.New(rand.NewPCG(seed, 26)), states: make([]int, len(b.model.States)),
		sum: logSum{top: minusInf}, square: logSum{top: minusInf}, value: minusInf,
	}
	for k := range s.states {
		var level []mixed
		for r := b.first[k]; r < b.first[k+1]; r++ {
			q := &b.buckets[r]
			x := mixed{weight: b.weight[r], shift: b.shift[r]}
			for _, f := range q.factors {
				x.scores = append(x.scores, b.lookup(b.model.Factors[f].Scope, b.model.Factors[f].Table, q.v))
			}
			for _, child := range q.children {
				x.scores = append(x.scores, b.lookup(b.buckets[child].rest, b.tables[child].message, q.v))
			}
			level = append(level, x)
		}
		s.levels = append(s.levels, level)
	}
	return s
}

// Draw draws so many assignments, or fewer if stop says so.
func (s *Sampler) Draw(n int, stop func() bool) {
	for ; n > 0 && !stop(); n-- {
		s.drawn++
		log, possible := s.draw()
		if !possible {
			continue
		}
		value := s.bound.model.Value(s.states)
		if math.IsInf(value, -1) {
			continue
		}
		s.sum.add(value - log)
		s.square.add(2 * (value - log))
		s.logs = append(s.logs, value-log)
		if value > s.value {
			s.value, s.best = value, append(s.best[:0], s.states...)
		}
	}
}

// draw draws an assignment and returns the logarithm of its probability; none where no state is possible given those
// before.
func (s *Sampler) draw() (log float64, possible bool) {
	for k, level := range slices.Backward(s.levels) {
		v := s.bound.buckets[s.bound.first[k]].v
		n := s.bound.model.States[v]
		s.mixture, s.of = slices.Grow(s.mixture[:0], n)[:n], slices.Grow(s.of[:0], n)[:n]
		clear(s.mixture)
		for _, x := range level {
			copy(s.of, x.shift)
			for l := range x.scores {
				at := x.scores[l].at(s.states)
				for state := range s.of {
					s.of[state] += x.scores[l].table[at+state*x.scores[l].step]
				}
			}
			most := slices.Max(s.of)
			if math.IsInf(most, -1) {
				return 0, false
			}
			sum := 0.0
			for state, score := range s.of {
				s.of[state] = math.Exp((score - most) / x.weight)
				sum += s.of[state]
			}
			for state, p := range s.of {
				s.mixture[state] += x.weight * p / sum
			}
		}
		total := 0.0
		for _, p := range s.mixture {
			total += p
		}
		at, state := s.random.Float64()*total, 0
		for state < n-1 && !(at < s.mixture[state]) {
			at -= s.mixture[state]
			state++
		}
		if s.mixture[state] == 0 {
			return 0, false
		}
		s.states[v] = state
		log += math.Log(s.mixture[state] / total)
	}
	return log, true
}

// sure is the standard error, in nats, up to which it is trusted. A larger one means that a few assignments make nearly
// all of the mean.
const sure = 0.25

// Estimate returns the estimate of log Z, the logarithm of the mean, and its error in nats; −∞ and +∞ where no
// assignment that was drawn is allowed. The error is the standard error of the mean to first order. Where that is not
// sure, larger terms may not have been drawn, and the error is at least the standard deviation of their logarithms.
func (s *Sampler) Estimate() (log, deviation float64) {
	allowed, n := float64(len(s.logs)), float64(s.drawn)
	if allowed < 2 {
		return minusInf, math.Inf(1)
	}
	log = s.sum.value() - math.Log(n)
	spread := n*math.Exp(s.square.value()-2*s.sum.value()) - 1
	if deviation = math.Sqrt(max(0, spread) / (n - 1)); deviation <= sure {
		return log, deviation
	}
	mean, second := 0.0, 0.0
	for _, x := range s.logs {
		mean += x / allowed
	}
	for _, x := range s.logs {
		second += (x - mean) * (x - mean) / allowed
	}
	return log, max(deviation, math.Sqrt(second))
}

// Best returns the drawn assignment of the largest value, nil if none is allowed, and the value.
func (s *Sampler) Best() ([]int, float64) { return s.best, s.value }
