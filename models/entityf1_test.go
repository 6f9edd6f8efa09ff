package models

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/sys/seeds"
)

// entitySets lists the different sets of entities of the outputs that are possible.
func entitySets(rules *chains.Entities, ys [][]int32, p []float64) (sets [][]chains.Entity) {
	for k, y := range ys {
		set := rules.Of(nil, y)
		if p[k] > 0 && !slices.ContainsFunc(sets, func(other []chains.Entity) bool { return slices.Equal(other, set) }) {
			sets = append(sets, set)
		}
	}
	return sets
}

// The entities that are chosen have the largest ratio of expectations of all sets that some allowed output has, in
// several schemes of tags, of either order and in segments, with constraints and without. A threshold that is given
// chooses them again.
func TestEntitiesOfLargestF1(t *testing.T) {
	random, constrained := seeds.Rand(t), true
	const inSegments = 0
	for _, tags := range [][]string{{"B-X", "I-X", "O"}, {"O", "B-X", "I-X"}, {"I-X", "O", "E-X"}, {"S-X", "O", "B-X"}} {
		for _, order := range []int{1, 1, 2, 2, inSegments} {
			if constrained = !constrained && tags[1] == "B-X"; order == inSegments && tags[0] != "B-X" {
				continue // tags of segments are in this order
			}
			d := toyData(5).Subset([]int{0, 2, 3, 4, 8})
			d.Alphabet = structured.NewAlphabet(tags...)
			m := toyModel(t, d, func(c *config.Config) {
				if c.Order = order; order == inSegments {
					c.Order, c.Structure, c.MaxLength = 1, "segments", 3
				}
			})
			for k := range m.W {
				m.W[k] = 1.5 * float32(random.NormFloat64())
			}
			if constrained {
				m.Constraints, _ = chains.SchemeConstraints(d.Alphabet, "iob2")
				for from := range 3 { // entities do not touch, and one is at the end
					m.Constraints.Transition[3*from+1] = from != 0
				}
				m.Constraints.End = []bool{true, false, false}
			}
			rules := chains.NewEntities(d.Alphabet)
			p, ys := distribution(t, m, d)
			probability := make([]map[chains.Entity]float64, d.Len()) // of each entity
			all, best := 0.0, 0.0
			for i := range p {
				probability[i] = map[chains.Entity]float64{}
				for k, y := range ys[i] {
					for _, e := range rules.Of(nil, y) {
						probability[i][e] += p[i][k]
						all += p[i][k]
					}
				}
			}
			// All combinations of sets: sums of probabilities and numbers of entities.
			type sum struct {
				right float64
				count int
			}
			sums := []sum{{}}
			for i := range p {
				var longer []sum
				for _, set := range entitySets(rules, ys[i], p[i]) {
					right := 0.0
					for _, e := range set {
						right += probability[i][e]
					}
					for _, s := range sums {
						longer = append(longer, sum{s.right + right, s.count + len(set)})
					}
				}
				sums = longer
			}
			for _, s := range sums {
				best = max(best, 2*s.right/(float64(s.count)+all))
			}
			var said ExpectedF1
			m.OnExpectedF1(func(f ExpectedF1) { said = f })
			choose := func(o predictions.Options) (labels [][]int32, f float64) {
				right, count := 0.0, 0
				o.Decode = predictions.EntityF1
				if err := m.Predict(context.Background(), d, o, func(i int, a *predictions.Prediction) error {
					found := rules.Of(nil, a.Labels)
					for _, e := range found {
						right += probability[i][e]
					}
					count += len(found)
					θ, _ := m.Potentials(context.Background(), d, 1)
					if score := θ.Score(i, a.Labels); math.Abs(score-a.Score) > 1e-5 {
						t.Errorf("%v scores %v, said %v", a.Labels, score, a.Score)
					}
					labels = append(labels, slices.Clone(a.Labels))
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				return labels, 2 * right / (float64(count) + all)
			}
			labels, f := choose(predictions.Options{Threads: 2})
			if math.Abs(f-best) > 2e-3 || math.Abs(said.F1-best) > 2e-3 || math.Abs(said.Threshold-max(leastEntity, said.F1/2)) > 1e-9 { // rare entities are left out
				t.Errorf("%v, order %v, constrained %v: chosen %v, said %+v, the largest is %v", tags, order, constrained, f, said, best)
			}
			again, _ := choose(predictions.Options{EntityThreshold: said.Threshold})
			for i := range labels {
				if !slices.Equal(labels[i], again[i]) {
					t.Errorf("%v with the threshold, %v without", again[i], labels[i])
				}
			}
		}
	}
	d := toyData(5) // labels that are no tags
	if err := toyModel(t, d, nil).Predict(context.Background(), d, predictions.Options{Decode: predictions.EntityF1}, nil); !structured.IsBadInput(err) {
		t.Error(err)
	}
}
