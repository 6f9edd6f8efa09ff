package models

import (
	"context"
	"math"

	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// Entities with the largest expected F1. F1 of all sentences together is 2·TP/(P + G), for P predicted and G gold
// entities, TP of them in common. A set S of entities has the expectation of TP Σ_S p(s), with the exact probabilities
// of entities, and G that of all entities. The sets, one of each sentence, that some allowed labeling has, and for
// which the ratio of these expectations
//
//	F(S) = 2 Σ_S p(s) / (|S| + E G)
//
// is largest also maximise Σ_S (p(s) − F*/2), where F* is that largest ratio (Dinkelbach 1967; for F-measures Ye et al.
// 2012): each sentence alone, given the threshold F*/2, by dynamic programming. F* is found by turns: the best sets for
// a threshold, and half their ratio as the next one.

// leastEntity is the least probability of an entity that is considered.
const leastEntity = 1e-3

// ExpectedF1 says how the entities with the largest expected F1 were found.
type ExpectedF1 struct {
	F1        float64 // F*
	Threshold float64 // F*/2
}

// OnExpectedF1 has report called when Predict has found a threshold for entities (predictions.Options.EntityF1).
func (m *Model) OnExpectedF1(report func(ExpectedF1)) { m.onExpectedF1 = report }

// Labels maps those of states to labels.
func (s *secondSums) Labels(chosen []chains.Entity) []int32 {
	y := s.Sums.Labels(chosen)
	for t := range y {
		y[t] = s.states[y[t]]
	}
	return y
}

// choice is a set of entities of one sentence: Σ p, and how many there are.
type choice struct {
	right     float64
	predicted int
}

func (c choice) value(θ float64) float64 { return c.right - θ*float64(c.predicted) }

// choices returns the sets of a sentence that are best at some threshold: every one is best in an interval, and the
// next one where two of them are worth as much is found there, or there is none between.
func (f *spanFinder) choices() []choice {
	at := func(θ float64) (c choice) {
		_, all := f.sums.Best(θ)
		for _, p := range all {
			c.right, c.predicted = c.right+p, c.predicted+1
		}
		return c
	}
	var between func(a, b choice) []choice
	between = func(a, b choice) []choice {
		if a.predicted == b.predicted {
			return nil
		}
		θ := (a.right - b.right) / float64(a.predicted-b.predicted)
		c := at(θ)
		if c.predicted == a.predicted || c.predicted == b.predicted || c.value(θ) <= a.value(θ)+1e-12 {
			return nil
		}
		return append(append(between(a, c), c), between(c, b)...)
	}
	many, few := at(leastEntity), at(0.5) // F* is at most 1
	return append(append([]choice{many}, between(many, few)...), few)
}

// expectedF1 finds the largest ratio of expectations F* for all examples of d.
func (m *Model) expectedF1(ctx context.Context, d *structured.Dataset, o predictions.Options) (ExpectedF1, error) {
	type sentences struct {
		choices [][]choice
		all     float64
	}
	var found sentences
	μ := m.Temper()
	err := OverPotentials(ctx, m, d, o.Threads, func(_ oracles.Maximiser, examples []int, θ *structured.Potentials) (r sentences, err error) {
		f := m.newSpanFinder()
		for b, i := range examples {
			if o.Force {
				θ.Structure.(structured.Restricter).Restrict(θ, b, d.GoldOf(i))
			}
			f.sums.Reset(θ, b, μ)
			r.choices = append(r.choices, f.choices())
			_, p := f.sums.AtLeast(leastEntity, nil, nil)
			for _, x := range p {
				r.all += x
			}
		}
		return r, nil
	}, func(r sentences) error {
		found.choices, found.all = append(found.choices, r.choices...), found.all+r.all // E G
		return nil
	})
	if err != nil {
		return ExpectedF1{}, err
	}
	best := 0.0
	for {
		right, predicted, θ := 0.0, 0, max(leastEntity, best/2)
		for _, of := range found.choices {
			c := of[0]
			for _, other := range of[1:] {
				if other.value(θ) > c.value(θ) {
					c = other
				}
			}
			right, predicted = right+c.right, predicted+c.predicted
		}
		f := 2 * right / (float64(predicted) + found.all)
		if !(f > best) { // F never falls, and stays once it is the largest
			return ExpectedF1{best, max(leastEntity, best/2)}, nil
		}
		best = f
	}
}

// entities replaces the labels of a batch by those that have the entities with the largest Σ (p − θ), and are the best
// ones of these, and sets their scores.
func (p *predictor) entities(μ, θ float64, labels []int32) {
	for b := range p.score {
		if math.IsInf(p.score[b], -1) {
			continue
		}
		p.spans.sums.Reset(&p.θ, b, μ)
		chosen, _ := p.spans.sums.Best(θ)
		if y := p.spans.sums.Labels(chosen); y != nil {
			copy(labels[p.θ.Outputs[b]:p.θ.Outputs[b+1]], y)
			p.score[b] = p.θ.Score(b, y)
		}
	}
}
