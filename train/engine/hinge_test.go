package engine_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// No loss is negative, although the oracle's path, found in float32, may score less than the gold output. Here the gold
// outputs are the best ones in float64 and mistakes cost nothing, so every max ties with gold up to rounding.
func TestHingeIsNotNegative(t *testing.T) {
	data := traintest.Chains(240, 6, 8, 1, 1)
	net := &traintest.Net{Inputs: 6, Labels: 8}
	for i := range data.Offsets { // a few long chains
		data.Offsets[i] = min(i*100, len(data.Labels))
	}
	for len(data.Offsets) > 2 && data.Offsets[len(data.Offsets)-2] == len(data.Labels) {
		data.Offsets = data.Offsets[:len(data.Offsets)-1]
	}
	w := traintest.DrawWeights(rand.New(rand.NewPCG(1, 1)), net.Dim(), 1e-5) // outputs nearly tie
	for j := range w[:6*8] {
		w[j]++
	}
	worker, θ := net.NewWorker(), structured.Potentials{}
	var batch structured.Batch
	for i := range data.Len() {
		batch.Reset(data, []int{i})
		if err := worker.Score(w, &batch, &θ); err != nil {
			t.Fatal(err)
		}
		bestLabels(&θ, data.Labels[data.Offsets[i]:data.Offsets[i+1]])
	}
	lost := 0
	for i := range data.Len() {
		one := data.Subset([]int{i})
		o := &engine.Objective{Scorer: net, Data: one, Task: chains.Hamming{LabelWeights: make([]float32, 8)}}
		e := engine.NewEngine(o, 1)
		f, err := e.Value(t.Context(), w)
		if err != nil {
			t.Fatal(err)
		}
		pass, err := e.FullPass(t.Context(), w, oracles.Smoothing{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if f != 0 || pass.Primal != 0 || pass.Smoothed != 0 {
			t.Errorf("chain %d: the hinge is %g, in a full pass %g, as the limit of smoothing %g", i, f, pass.Primal, pass.Smoothed)
		}
		ln := e.Lane(0)
		value := make([]float64, 1)
		ln.Oracle.Max(&ln.Theta, make([]int32, one.Positions()), value)
		if value[0] < ln.Theta.Score(0, one.Gold(0)) {
			lost++
		}
	}
	if lost == 0 {
		t.Error("no path lost to gold: the test shows nothing")
	}
}

// bestLabels writes the best output of a batch of one chain, found in float64.
func bestLabels(potentials *structured.Potentials, labels []int32) {
	θ := chains.Of(potentials)
	y, n := θ.Y, len(labels)
	score, from := make([]float64, n*y), make([]int32, n*y)
	for t := range n {
		for j := range y {
			at := t*y + j
			score[at] = float64(θ.Node[at])
			if t == 0 {
				continue
			}
			best := math.Inf(-1)
			for i := range y {
				if s := score[at-j-y+i] + float64(θ.EdgeAt(t)[i*y+j]); s > best {
					best, from[at] = s, int32(i)
				}
			}
			score[at] += best
		}
	}
	for t := n - 1; t >= 0; t-- {
		if t == n-1 {
			for j := range y {
				if score[t*y+j] > score[t*y+int(labels[t])] || j == 0 {
					labels[t] = int32(j)
				}
			}
			continue
		}
		labels[t] = from[(t+1)*y+int(labels[t+1])]
	}
}
