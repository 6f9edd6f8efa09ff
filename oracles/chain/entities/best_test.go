package entities

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// Of all labelings that are allowed, none has entities with a larger Σ (p − θ), however many labels and steps are
// forbidden; and the labels are the best ones that have just these.
func TestBestByEnumeration(t *testing.T) {
	r := rand.New(rand.NewPCG(39, 6))
	chosen := 0
	for round := range 300 {
		a := alphabets[round%len(alphabets)]
		labels := structured.NewAlphabet(a.labels...)
		rules, θ := chains.NewEntities(labels), draw(r, labels.Len(), []float64{1, 3}[r.IntN(2)])
		for range r.IntN(3) { // more forbidden steps
			edges := θ.Parts[1].Values
			if len(edges) > 0 {
				edges[r.IntN(len(edges))] = float32(math.Inf(-1))
			}
		}
		view, s := chains.Of(θ), New(rules, labels.Len())
		for b := range θ.Len() {
			p := brute(θ, b, 1, rules)
			s.Reset(&view, b, 1)
			for _, threshold := range []float64{0.01, 0.2, 0.5} {
				found, probabilities := s.Best(threshold)
				got := 0.0
				for k, e := range found {
					if got += probabilities[k] - threshold; math.Abs(probabilities[k]-p[e]) > 1e-9 {
						t.Fatalf("%+v has %v, expected %v", e, probabilities[k], p[e])
					}
				}
				chosen += len(found)
				want, best := math.Inf(-1), math.Inf(-1)
				chains.Chain{}.Each(θ, b, func(y []int32) {
					if math.IsInf(θ.Score(b, y), -1) {
						return
					}
					value, has := 0.0, rules.Of(nil, y)
					for _, e := range has {
						value += p[e] - threshold
					}
					want = max(want, value)
					if slices.Equal(has, found) {
						best = max(best, θ.Score(b, y))
					}
				})
				if math.IsInf(want, -1) {
					continue
				}
				if math.Abs(got-want) > 1e-9 {
					t.Fatalf("%v, at %v: %v are worth %v, others %v", a.labels, threshold, found, got, want)
				}
				if y := s.Labels(found); !slices.Equal(rules.Of(nil, y), found) || math.Abs(θ.Score(b, y)-best) > 1e-6 {
					t.Fatalf("%v: labels %v for %v", a.labels, y, found)
				}
			}
		}
	}
	if chosen < 300 {
		t.Errorf("only %d entities", chosen)
	}
}
