package engine_test

import (
	"fmt"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/choices"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// A full pass pulls back a point of the polytope, however many candidates an example has: with equal scores the roundings of all go in the same direction.
func TestManyCandidatesStayAPoint(t *testing.T) {
	for _, n := range []int{1, 2, 3, 1000, 11000, 60000} {
		for _, c := range []float32{1, 0.3, 3} {
			t.Run(fmt.Sprint(n, "/", c), func(t *testing.T) {
				data := &structured.Dataset{
					Name: "choices", Dim: 1, Offsets: []int{0, n}, Outputs: []int{0, 1}, Labels: []int32{int32(n / 2)},
					Features: make([]float32, n), Weights: []float64{float64(c)},
				}
				o := &engine.Objective{Scorer: &traintest.Linear{Inputs: 1, Structure: choices.Form()}, Data: data, Loss: engine.CRF, Lambda: 1}
				e := engine.NewEngine(o, 1)
				if _, err := e.FullPass(t.Context(), make([]float32, o.Scorer.Dim()), oracles.Smoothing{}, nil); err != nil {
					t.Fatal(err)
				}
				sum := 0.0
				for k, v := range e.Lane(0).V.Parts[0].Of(0) {
					sum += float64(v)
					if k == n/2 {
						v += c
					}
					if v < 0 || v > c {
						t.Fatalf("candidate %d has the probability %g, times the weight %g", k, v, c)
					}
				}
				if sum != 0 {
					t.Errorf("the entries of v sum to %g", sum)
				}
			})
		}
	}
}
