package predictions

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/cut"
	"github.com/dsp-go/dsp/oracles/matching"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/matchings"
)

// A margin is the best score of a matching with the link, less that of one without, by enumeration.
func TestLinkMargins(t *testing.T) {
	finite := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		s := matchings.Matching{Complete: seed%2 == 1}
		θ := s.Small(r)
		for k := range θ.Parts {
			for i := range θ.Parts[k].Values {
				θ.Parts[k].Values[i] = float32(r.IntN(9) - 4) // ties
			}
		}
		var m oracles.MaxMarginals
		y, value := make([]int32, θ.OutputSize()), make([]float64, θ.Len())
		matching.New().MaxMarginals(θ, y, value, &m)
		all := LinkMargins(&m)
		for b := range θ.Len() {
			n := θ.Outputs[b+1] - θ.Outputs[b]
			_, targets := matchings.Sizes(n, len(θ.Parts[0].Of(b)))
			if len(all[b]) != n*targets {
				t.Fatalf("seed %d: %d margins of %d by %d items", seed, len(all[b]), n, targets)
			}
			for k, got := range all[b] {
				with, without := math.Inf(-1), math.Inf(-1)
				s.Each(θ, b, func(y []int32) {
					if score := s.Score(θ, b, y); int(y[k/targets]) == k%targets+1 {
						with = max(with, score)
					} else {
						without = max(without, score)
					}
				})
				want := with - without
				if math.IsInf(with, -1) {
					want = with
				}
				if !math.IsInf(want, 0) {
					finite++
				}
				if float64(got) != want {
					t.Fatalf("seed %d, link %d-%d: margin %v, expected %v", seed, k/targets, k%targets, got, want)
				}
				if chosen := int(y[θ.Outputs[b]+k/targets]) == k%targets+1; chosen && got < 0 || !chosen && got > 0 {
					t.Errorf("seed %d: link %d-%d of the best matching %v has margin %v", seed, k/targets, k%targets, chosen, got)
				}
			}
		}
	}
	if finite < 500 {
		t.Errorf("only %d margins are finite", finite)
	}
}

// The margin of a label is the best score of a labeling with it, less that of one without it, by enumeration.
func TestLabelMargins(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 4))
		s := graphs.Pairwise{Edges: graphs.Edges(seed % 3), By: graphs.Cut}
		θ := s.Small(r)
		for k := range θ.Parts {
			for i := range θ.Parts[k].Values {
				θ.Parts[k].Values[i] = float32(r.IntN(9) - 4) // ties
			}
		}
		s.Prepare(θ)
		var m oracles.MaxMarginals
		y, value := make([]int32, θ.OutputSize()), make([]float64, θ.Len())
		cut.New().MaxMarginals(θ, y, value, &m)
		for b, margins := range LabelMargins(&m) {
			n := θ.Outputs[b+1] - θ.Outputs[b]
			if len(margins) != 2*n {
				t.Fatalf("seed %d: %d margins of %d variables", seed, len(margins), n)
			}
			for k, got := range margins {
				with, without := math.Inf(-1), math.Inf(-1)
				s.Each(θ, b, func(y []int32) {
					if score := s.Score(θ, b, y); int(y[k/2]) == k%2 {
						with = max(with, score)
					} else {
						without = max(without, score)
					}
				})
				if want := with - without; math.Abs(float64(got)-want) > 1e-5 {
					t.Fatalf("seed %d, variable %d, label %d: margin %v, expected %v", seed, k/2, k%2, got, want)
				}
			}
		}
	}
}
