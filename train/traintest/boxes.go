package traintest

import (
	"math"
	"math/rand/v2"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/choices"
	"github.com/dsp-go/dsp/structured/windows"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// ChoiceProblem draws n choices among 1 to 9 candidates, whose quality is a noisy linear function of their features.
// The best one is gold, and the others cost the more the worse they are.
func ChoiceProblem(n int, loss engine.Loss, s oracles.Smoothing, λ float64) *train.Problem {
	const dim = 5
	r := rand.New(rand.NewPCG(4, uint64(n)))
	d := &structured.Dataset{Name: "choices", Offsets: []int{0}, Outputs: []int{0}, Dim: dim, CostRows: structured.Positions}
	truth := DrawWeights(r, dim, 1)
	for range n {
		best, gold := math.Inf(-1), 0
		for c := range 1 + r.IntN(9) {
			quality := r.NormFloat64()
			for _, w := range truth {
				x := r.NormFloat64()
				d.Features = append(d.Features, float32(x))
				quality += x * float64(w)
			}
			d.Costs = append(d.Costs, float32(1/(1+math.Exp(quality))))
			if quality > best {
				best, gold = quality, c
			}
		}
		d.Offsets, d.Outputs = append(d.Offsets, len(d.Costs)), append(d.Outputs, len(d.Outputs))
		d.Labels = append(d.Labels, int32(gold))
	}
	o := &engine.Objective{Scorer: &Linear{Inputs: dim, Structure: choices.Form()}, Data: d, Loss: loss, Lambda: λ}
	return &train.Problem{Engine: engine.NewEngine(o, 1), Smoothing: s, Seed: 3}
}

// WindowProblem draws n maps of 6×7 cells with a box each. The cells have a constant feature and two noisy ones, which
// tell what is inside the box.
func WindowProblem(n int, s oracles.Smoothing, λ float64) *train.Problem {
	const dim = 3
	r := rand.New(rand.NewPCG(5, uint64(n)))
	w := windows.Window{Height: 6, Width: 7}
	d := &structured.Dataset{Name: "windows", Offsets: []int{0}, Outputs: []int{0}, Dim: dim}
	for range n {
		gold := w.Draw(r)
		d.Labels = append(d.Labels, gold...)
		for cell := range int32(w.Height * w.Width) {
			row, column := cell/int32(w.Width), cell%int32(w.Width)
			inside := -1.
			if windows.Overlap(row, row, gold[0], gold[2])*windows.Overlap(column, column, gold[1], gold[3]) > 0 {
				inside = 1
			}
			d.Features = append(d.Features, 1, float32(inside+r.NormFloat64()), float32(0.5*inside+r.NormFloat64()))
		}
		d.Offsets, d.Outputs = append(d.Offsets, len(d.Features)/dim), append(d.Outputs, len(d.Labels))
	}
	o := &engine.Objective{Scorer: &Linear{Inputs: dim, Structure: w.Form()}, Data: d, Lambda: λ}
	return &train.Problem{Engine: engine.NewEngine(o, 1), Smoothing: s, Seed: 3}
}
