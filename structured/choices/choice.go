// Package choices defines the structure of a choice among candidates: which box of an image holds the object, which
// entity a name means. An output is the index of one candidate.
package choices

import (
	"math"
	"math/rand/v2"

	"github.com/dsp-go/dsp/structured"
)

// Choice is the structure of a choice among C candidates, which are the positions of an example. An output is one
// index, 0 to C−1. An example without candidates has one output, which is empty and scores 0; readers refuse such
// examples.
//
// Potentials have one part, "candidate" [C×1].
type Choice struct{}

// Form returns the form of a choice's potentials.
func Form() structured.Form {
	return structured.Form{Structure: Choice{},
		Parts: []structured.Shape{{Name: "candidate", Rows: structured.Positions, Width: 1}}}
}

// SkipsRows implements structured.RowSkipper: an output is one candidate.
func (Choice) SkipsRows(int) bool { return true }

func (Choice) OneEntry() {}

func (Choice) Name() string { return "choice" }

func (Choice) Score(θ *structured.Potentials, b int, y []int32) float64 {
	if len(y) == 0 {
		return 0
	}
	return float64(θ.Parts[0].Of(b)[y[0]])
}

func (Choice) Add(u *structured.Marginals, b int, y []int32, c float32) { add(u.Parts, b, y, c) }

// Raise implements structured.Raiser.
func (Choice) Raise(θ *structured.Potentials, b int, y []int32, c float32) { add(θ.Parts, b, y, c) }

func add(parts []structured.Part, b int, y []int32, c float32) {
	for _, k := range y {
		parts[0].Of(b)[k] += c
	}
}

// Restrict implements structured.Restricter.
func (Choice) Restrict(θ *structured.Potentials, b int, gold structured.Gold) {
	if len(gold.Output) == 0 {
		return
	}
	var single [1]int32
	possible := gold.Possible(0, &single)
	if possible == nil {
		return
	}
	scores := θ.Parts[0].Of(b)
	for k := range scores {
		if len(possible) > 0 && possible[0] == int32(k) {
			possible = possible[1:]
		} else {
			scores[k] = float32(math.Inf(-1))
		}
	}
}

// LeastRisk implements structured.RiskMinimiser for the 0/1 loss: a candidate is worth its probability. The costs of
// Cost say what each candidate costs if the gold one is known, not what it would cost if another were gold, so they are
// not used.
func (Choice) LeastRisk(u *structured.Marginals, θ *structured.Potentials) {
	θ.SetAllowed(0, func(k int) float32 { return u.Parts[0].Values[k] })
}

// Locate implements structured.Locator.
func (Choice) Locate(_ *structured.Potentials, y []int32, visit func(part, entry int, label int32)) {
	for _, k := range y {
		if k >= 0 {
			visit(0, int(k), -1)
		}
	}
}

func (Choice) LogOutputs(d *structured.Dataset, _ structured.Form) float64 {
	sum := 0.0
	for i := range d.Len() {
		sum += math.Log(float64(max(1, d.Length(i))))
	}
	return sum / float64(max(1, d.Len()))
}

func (Choice) TaskLoss() structured.TaskLoss { return Cost{} }

func (Choice) Each(θ *structured.Potentials, b int, visit func(y []int32)) {
	if θ.Outputs[b+1] == θ.Outputs[b] {
		visit(nil)
		return
	}
	var y [1]int32
	for k := range θ.Parts[0].Of(b) {
		y[0] = int32(k)
		visit(y[:])
	}
}

// Small draws the form of potentials of a few examples with at most 40 candidates, some without any.
func Small(r *rand.Rand) *structured.Potentials {
	rows, outputs := []int{0}, []int{0}
	for range 1 + r.IntN(4) {
		c := r.IntN(1 + []int{3, 12, 40}[r.IntN(3)])
		rows, outputs = append(rows, rows[len(rows)-1]+c), append(outputs, outputs[len(outputs)-1]+min(c, 1))
	}
	θ := new(structured.Potentials)
	θ.Reshape(Form(), outputs, func(string) []int { return rows })
	return θ
}
