package models

import (
	"context"
	"math"
	"slices"

	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// Entities with the largest expected F1. F1 of all sentences together is 2·TP/(P + G), for P predicted and G gold entities, TP of them in common. A set S
// of entities has the expectation of TP Σ_S p(s), with the exact probabilities of entities, and G that of all entities. The sets, one of each sentence,
// that some allowed labeling has, and for which the ratio of these expectations
//
//	F(S) = 2 Σ_S p(s) / (|S| + E G)
//
// is largest also maximise Σ_S (p(s) − F*/2), where F* is that largest ratio (Dinkelbach 1967; for F-measures Ye et al. 2012): each sentence alone, given the
// threshold F*/2, by dynamic programming. F* is found by turns: the best sets for a threshold, and half their ratio as the next one.

// leastEntity is the least probability of an entity that is considered.
const leastEntity = 1e-3

// ExpectedF1 says how the entities with the largest expected F1 were found.
type ExpectedF1 struct {
	F1        float64 // F*
	Threshold float64 // F*/2
}

// OnExpectedF1 has report called when Predict has found a threshold for entities (predictions.Options.EntityF1).
func (m *Model) OnExpectedF1(report func(ExpectedF1)) { m.onExpectedF1 = report }

// entityChooser finds the entities, and their probabilities, of an allowed labeling for which Σ (p − θ) is largest, and the best labels that have just these.
type entityChooser interface {
	Best(θ float64) ([]chains.Entity, []float64)
	Labels(chosen []chains.Entity) []int32
}

// Labels maps those of states to labels.
func (s *secondSums) Labels(chosen []chains.Entity) []int32 {
	y := s.Sums.Labels(chosen)
	for t := range y {
		y[t] = s.states[y[t]]
	}
	return y
}

// choose returns the spans of a sentence that spanSums were reset to for which Σ (p − θ) is largest. For segments these are any that do not overlap.
func (f *spanFinder) choose(θ float64) []predictions.Span {
	chooser, exact := f.sums.(entityChooser)
	var found []chains.Entity
	var p []float64
	if exact {
		found, p = chooser.Best(θ)
	} else {
		found, p = f.sums.AtLeast(max(θ, leastEntity), nil, nil)
	}
	spans := make([]predictions.Span, len(found))
	for k, e := range found {
		spans[k] = predictions.Span{Entity: e, Probability: p[k]}
	}
	if !exact {
		spans = chooseEntities(spans, θ)
	}
	return spans
}

// choice is a set of entities of one sentence: Σ p, and how many there are.
type choice struct {
	right     float64
	predicted int
}

func (c choice) value(θ float64) float64 { return c.right - θ*float64(c.predicted) }

// choices returns the sets of a sentence that are best at some threshold: every one is best in an interval, and the next one where two of them are worth as
// much is found there, or there is none between.
func (f *spanFinder) choices() []choice {
	at := func(θ float64) (c choice) {
		for _, s := range f.choose(θ) {
			c.right, c.predicted = c.right+s.Probability, c.predicted+1
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

// chooseEntities returns the spans of a set that do not overlap and have the largest Σ (p − θ), in order. The spans are ordered by their first positions.
func chooseEntities(spans []predictions.Span, θ float64) (chosen []predictions.Span) {
	n := 0
	for _, s := range spans {
		n = max(n, s.Last+1)
	}
	best, taken := make([]float64, n+1), make([]int, n) // from each position on
	at := len(spans) - 1
	for t := n - 1; t >= 0; t-- {
		best[t], taken[t] = best[t+1], -1
		for ; at >= 0 && spans[at].First == t; at-- {
			if v := spans[at].Probability - θ + best[spans[at].Last+1]; v > best[t] {
				best[t], taken[t] = v, at
			}
		}
	}
	for t := 0; t < n; {
		if k := taken[t]; k >= 0 {
			chosen = append(chosen, spans[k])
			t = spans[k].Last + 1
		} else {
			t++
		}
	}
	return chosen
}

// entities replaces the labels of a batch by those that have the entities with the largest Σ (p − θ), and are the best ones of these, and sets their
// scores.
func (p *predictor) entities(μ, θ float64, labels []int32) {
	chooser, exact := p.spans.sums.(entityChooser)
	if !exact {
		p.segmentEntities(μ, θ, labels)
		return
	}
	for b := range p.score {
		if math.IsInf(p.score[b], -1) {
			continue
		}
		p.spans.sums.Reset(&p.θ, b, μ)
		chosen, _ := chooser.Best(θ)
		if y := chooser.Labels(chosen); y != nil {
			copy(labels[p.θ.Outputs[b]:p.θ.Outputs[b+1]], y)
			p.score[b] = p.θ.Score(b, y)
		}
	}
}

// segmentEntities is entities for segments. Where no output that is allowed has just the chosen ones, the least probable ones are given up.
func (p *predictor) segmentEntities(μ, θ float64, labels []int32) {
	chosen := make([][]predictions.Span, len(p.score))
	for b := range chosen {
		if math.IsInf(p.score[b], -1) {
			continue
		}
		p.spans.sums.Reset(&p.θ, b, μ)
		chosen[b] = p.spans.choose(θ)
	}
	y, score := make([]int32, len(labels)), make([]float64, len(p.score))
	for open := true; open; {
		open = false
		p.risk.Copy(&p.θ)
		for b, spans := range chosen {
			p.θ.Structure.(structured.Restricter).Restrict(&p.risk, b, p.spans.labelings(spans, p.θ.Outputs[b+1]-p.θ.Outputs[b]))
		}
		p.oracle.Max(&p.risk, y, score)
		for b, spans := range chosen {
			lo, hi := p.θ.Outputs[b], p.θ.Outputs[b+1]
			if math.IsInf(p.score[b], -1) || !math.IsInf(score[b], -1) && sameEntities(p.spans.rules.Of(nil, y[lo:hi]), spans) {
				continue
			}
			if len(spans) == 0 { // not even none at all
				copy(y[lo:hi], labels[lo:hi])
				score[b] = p.score[b]
				continue
			}
			least := 0
			for k, s := range spans {
				if s.Probability < spans[least].Probability {
					least = k
				}
			}
			chosen[b], open = slices.Delete(spans, least, least+1), true
		}
	}
	copy(labels, y)
	copy(p.score, score)
}

func sameEntities(a []chains.Entity, b []predictions.Span) bool {
	return slices.EqualFunc(a, b, func(a chains.Entity, b predictions.Span) bool { return a == b.Entity })
}

// labelings returns labelings of n positions, as a set of labels for each of them, nearly all of which have just these entities.
func (f *spanFinder) labelings(spans []predictions.Span, n int) structured.Gold {
	gold := structured.Gold{Output: make([]int32, n), Sets: [][]int32{f.where(-1, tagPlace{})}}
	for t := range gold.Output {
		gold.Output[t] = -1
	}
	touch := func(k int) bool { // entities k−1 and k
		return k > 0 && k < len(spans) && spans[k-1].Type == spans[k].Type && spans[k-1].Last+1 == spans[k].First
	}
	for k, s := range spans {
		begins := len(f.where(s.Type, tagPlace{begins: true})) > 0 // or else an entity that touches this one must end
		for t := s.First; t <= s.Last; t++ {
			gold.Sets = append(gold.Sets, f.where(s.Type, tagPlace{continues: t > s.First, continued: t < s.Last,
				begins: begins && t == s.First && touch(k), ends: !begins && t == s.Last && touch(k+1)}))
			gold.Output[t] = int32(-len(gold.Sets))
		}
	}
	return gold
}

// tagPlace says what a label must be in an entity: one that continues another of its type, that another continues, that continues none, or that none continues.
type tagPlace struct{ continues, continued, begins, ends bool }

// where returns the labels of a type that are right for a place.
func (f *spanFinder) where(of int32, at tagPlace) (labels []int32) {
	for l := range f.labels {
		if f.rules.Type(l) != of {
			continue
		}
		after, before := false, false // some label of the type
		for k := range f.labels {
			if f.rules.Type(k) == of {
				after, before = after || f.rules.Continue(k, l), before || f.rules.Continue(l, k)
			}
		}
		if (after || !at.continues) && (before || !at.continued) && (!after || !at.begins) && (!before || !at.ends) {
			labels = append(labels, l)
		}
	}
	return labels
}
