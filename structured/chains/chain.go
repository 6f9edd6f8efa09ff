// Package chains defines sequences of labels: their potentials, task loss, constraints, tag schemes and metrics.
package chains

import (
	"math"

	"github.com/dsp-go/dsp/structured"
)

// Chain is the structure of a sequence of T labels in which neighbours interact. Its potentials have two parts, in this
// order: "node" [T×Y], and "edge", either tied [Y×Y] or per position [T×Y×Y]. Row t of the latter scores the step from
// position t−1 to t, from the label of its row to that of its column. The edge row at the start of a chain is not read,
// and is zero in marginals.
type Chain struct{}

// Form returns the form of a chain's potentials with Y labels and edges that are tied or per position.
func Form(labels int, perPosition bool) structured.Form {
	edge := structured.Shape{Name: "edge", Rows: structured.Tied, Width: labels * labels}
	if perPosition {
		edge.Rows = structured.Steps
	}
	return structured.Form{Structure: Chain{}, Parts: []structured.Shape{
		{Name: "node", Rows: structured.Positions, Width: labels}, edge,
	}}
}

// Resize gives θ the form of a batch of chains; chain b owns positions offsets[b] to offsets[b+1]-1. It reuses the
// memory of θ, leaves the values undefined, and shares offsets.
func Resize(θ *structured.Potentials, offsets []int, labels int, perPosition bool) {
	θ.Reshape(Form(labels, perPosition), offsets, func(string) []int { return offsets })
}

func (Chain) Name() string { return "chain" }

func (Chain) Score(θ *structured.Potentials, b int, labels []int32) float64 {
	view := Of(θ)
	return view.Score(b, labels)
}

func (Chain) Add(u *structured.Marginals, b int, labels []int32, c float32) {
	view := In(u)
	view.Add(b, labels, c)
}

func (Chain) Raise(θ *structured.Potentials, b int, labels []int32, c float32) {
	node := θ.Parts[0].Of(b)
	for t, l := range labels {
		node[t*θ.Parts[0].Width+int(l)] += c
	}
}

// EntryPart implements structured.Entrywise: a position has one label.
func (Chain) EntryPart() int { return 0 }

func (Chain) Restrict(θ *structured.Potentials, b int, gold structured.Gold) {
	RestrictRows(&θ.Parts[0], b, gold)
}

// RestrictRows forbids the labels that contradict the gold output of example b, given the part that scores a label of
// each position.
func RestrictRows(node *structured.Part, b int, gold structured.Gold) {
	minusInf, single, rows := float32(math.Inf(-1)), [1]int32{}, node.Of(b)
	for t := range gold.Output {
		row := rows[t*node.Width : (t+1)*node.Width]
		allowed := gold.Possible(t, &single)
		if allowed == nil {
			continue
		}
		for k := range row {
			if len(allowed) > 0 && allowed[0] == int32(k) {
				allowed = allowed[1:]
			} else {
				row[k] = minusInf
			}
		}
	}
}

// LeastRisk implements structured.Structure: at each position the most probable label that is not forbidden.
func (Chain) LeastRisk(u *structured.Marginals, θ *structured.Potentials) {
	θ.SetAllowed(0, func(k int) float32 { return u.Parts[0].Values[k] })
	θ.SetAllowed(1, func(int) float32 { return 0 })
}

func (Chain) LogOutputs(d *structured.Dataset, form structured.Form) float64 {
	return float64(d.Positions()) / float64(d.Len()) * math.Log(float64(form.Parts[0].Width))
}

func (Chain) TaskLoss() structured.TaskLoss { return Hamming{} }

// Each implements structured.Structure. The first position's label changes fastest.
func (Chain) Each(θ *structured.Potentials, b int, visit func(labels []int32)) {
	y := θ.Parts[0].Width
	labels := make([]int32, θ.Outputs[b+1]-θ.Outputs[b])
	var from func(t int)
	from = func(t int) {
		if t < 0 {
			visit(labels)
			return
		}
		for l := range y {
			labels[t] = int32(l)
			from(t - 1)
		}
	}
	from(len(labels) - 1)
}
