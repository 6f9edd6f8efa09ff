package chart_test

import (
	"testing"

	"github.com/dsp-go/dsp/oracles/chain"
	"github.com/dsp-go/dsp/oracles/chart"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// An example without positions has one output, the empty one: its entropy, expectation and divergence are 0, whatever
// stood in the memory of the answers.
func TestEmptyExamples(t *testing.T) {
	p, q := new(structured.Potentials), new(structured.Potentials)
	for k, θ := range []*structured.Potentials{p, q} {
		chains.Resize(θ, []int{0, 0, 2, 2}, 2, false)
		for i := range θ.Parts[0].Values {
			θ.Parts[0].Values[i] = float32(i * (k + 1))
		}
	}
	o := chart.New(chain.Declare)
	for name, ask := range map[string]func(value []float64){
		"entropy":     func(value []float64) { o.Entropy(p, 1, value) },
		"expectation": func(value []float64) { o.Expectation(p, 1, q, value) },
		"divergence":  func(value []float64) { o.Divergence(p, q, 1, value) },
		"log Z":       func(value []float64) { o.Exp(p, 1, value, nil) },
	} {
		value := []float64{7, 7, 7}
		if ask(value); value[0] != 0 || value[1] == 7 || value[2] != 0 {
			t.Errorf("%s: %v, expected 0 for the first and the last of three examples", name, value)
		}
	}
}
