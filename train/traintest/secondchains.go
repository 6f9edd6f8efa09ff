package traintest

import (
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// SecondChainProblem is about n NoisyChains of three labels as second-order chains, with the steps that they take.
func SecondChainProblem(n int, loss engine.Loss, s oracles.Smoothing, λ float64) *train.Problem {
	const labels, dim = 3, 4
	d := NoisyChains(9, n, dim, labels)
	steps := chains.NewSteps(labels, func(yield func(y []int32) bool) {
		for i := range d.Len() {
			if !yield(d.Gold(i)) {
				return
			}
		}
	})
	o := &engine.Objective{Scorer: &Linear{Inputs: dim, Structure: chains.SecondForm(steps)}, Data: d, Loss: loss, Lambda: λ}
	return &train.Problem{Engine: engine.NewEngine(o, 1), Smoothing: s, Seed: 3}
}
