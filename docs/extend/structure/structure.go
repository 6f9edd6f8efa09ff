package main

import (
	"math"
	"math/rand/v2"

	"github.com/dsp-go/dsp/structured"
)

// selection is the structure of a choice of at most Most of the items of an example, which are its positions. An output
// has a number for each item: 1 if it is chosen, else 0. Potentials have one part, "item" [T×2]: row t scores leaving
// item t out, and choosing it.
type selection struct{ Most int }

func (s selection) form() structured.Form {
	return structured.Form{Structure: s, Parts: []structured.Shape{{Name: "item", Rows: structured.Positions, Width: 2}}}
}

func (selection) Name() string { return "selection" }

func (selection) Score(θ *structured.Potentials, b int, y []int32) float64 {
	item, sum := θ.Parts[0].Of(b), 0.0
	for t, l := range y {
		sum += float64(item[2*t+int(l)])
	}
	return sum
}

func (selection) Add(u *structured.Marginals, b int, y []int32, c float32) {
	add(u.Parts[0].Of(b), y, c)
}

// Raise implements structured.Raiser, which goes with sums.
func (selection) Raise(θ *structured.Potentials, b int, y []int32, c float32) {
	add(θ.Parts[0].Of(b), y, c)
}

func add(item []float32, y []int32, c float32) {
	for t, l := range y {
		item[2*t+int(l)] += c
	}
}

// LeastRisk implements structured.RiskMinimiser, which goes with sums: an item is worth the probability that it is
// right.
func (selection) LeastRisk(u *structured.Marginals, θ *structured.Potentials) {
	θ.SetAllowed(0, func(k int) float32 { return u.Parts[0].Values[k] })
}

// LogOutputs implements structured.Structure: log Σ_k C(T, k) for k up to Most, on average.
func (s selection) LogOutputs(d *structured.Dataset, _ structured.Form) float64 {
	sum := 0.0
	for i := range d.Len() {
		outputs, choose := 0.0, 1.0
		for k := range min(s.Most, d.Length(i)) + 1 {
			outputs += choose
			choose *= float64(d.Length(i)-k) / float64(k+1)
		}
		sum += math.Log(outputs)
	}
	return sum / float64(max(1, d.Len()))
}

func (selection) TaskLoss() structured.TaskLoss { return mistakes{} }

func (s selection) Each(θ *structured.Potentials, b int, visit func(y []int32)) {
	y := make([]int32, θ.Outputs[b+1]-θ.Outputs[b])
	var from func(t, left int)
	from = func(t, left int) {
		if t == len(y) {
			visit(y)
			return
		}
		for y[t] = range int32(min(left, 1)) + 1 {
			from(t+1, left-int(y[t]))
		}
		y[t] = 0
	}
	from(0, s.Most)
}

// CheckData implements structured.DataChecker: no gold output has more than Most items.
func (s selection) CheckData(d *structured.Dataset) error {
	for i := range d.Len() {
		chosen := 0
		for _, l := range d.Gold(i) {
			chosen += int(l)
		}
		if d.Labels != nil && chosen > s.Most {
			return structured.BadInput("%s: %d items are chosen, expected at most %d", d.Where(i), chosen, s.Most)
		}
	}
	return nil
}

// small draws the form of a few examples that can be enumerated, for the contract suite.
func small(r *rand.Rand) *structured.Potentials {
	offsets := []int{0}
	for range 1 + r.IntN(3) {
		offsets = append(offsets, offsets[len(offsets)-1]+r.IntN(8))
	}
	θ := new(structured.Potentials)
	θ.Reshape(selection{Most: r.IntN(5)}.form(), offsets, func(string) []int { return offsets })
	return θ
}

// mistakes is the task loss: the number of items that are chosen wrongly, or left out wrongly. It is linear in the
// indicator of an output, so that an oracle on potentials with it added is a loss-augmented oracle.
type mistakes struct{}

func (mistakes) Augment(θ *structured.Potentials, b int, gold structured.Gold) {
	item := θ.Parts[0].Of(b)
	for t, g := range gold.Output {
		item[2*t+1-int(g)]++
	}
}

func (mistakes) Dot(v *structured.Marginals, b int, gold structured.Gold) float64 {
	item, sum := v.Parts[0].Of(b), 0.0
	for t, g := range gold.Output {
		sum += float64(item[2*t+1-int(g)])
	}
	return sum
}

func (mistakes) Loss(y []int32, gold structured.Gold) float64 {
	wrong := 0.0
	for t, g := range gold.Output {
		if y[t] != g {
			wrong++
		}
	}
	return wrong
}
