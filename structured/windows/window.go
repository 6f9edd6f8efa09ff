// Package windows defines the structure of a box in a map of scores: the cells that a network scores around an object,
// and how well the box's size fits it.
package windows

import (
	"math"

	"github.com/dsp-go/dsp/structured"
)

// Window is the structure of a box of cells in a grid of Height×Width cells, which are the positions of an example, row
// by row. An output is (top, left, bottom, right): the first and last row and column, counted from 0, all inclusive. An
// example without cells has one output, which is empty and scores 0; readers refuse such examples.
//
// Potentials have three parts:
//
//	"cell" [H·W×1]          the score of every cell inside the box is added up
//	"size" tied [H+W]       a term per height 1…H, then one per width 1…W
//	"loss" [1×1] "example"  multiplies ℓ(y, y*) = 1 − IoU with the gold box, see IoULoss; 0 when predicting
//
// A box has H·W + H + W + 1 coordinates, and the last one is ℓ. No sum over cells gives it, so Score and Add compute it
// from the gold output that potentials and marginals carry. It is 0 where that is missing.
//
// −∞ in a cell forbids boxes that contain it, in a size boxes of that size, and in the loss all boxes with ℓ > 0.
type Window struct {
	Height, Width int
	Limit         int // how many sets of boxes a search for the best one may examine per example; 0 means no limit
}

// Form returns the form of the potentials.
func (w Window) Form() structured.Form {
	return structured.Form{Structure: w, Parts: []structured.Shape{
		{Name: "cell", Rows: structured.Positions, Width: 1},
		{Name: "size", Rows: structured.Tied, Width: w.Height + w.Width},
		{Name: "loss", Rows: structured.Examples, Width: 1},
	}}
}

func (Window) Name() string { return "window" }

// ReadsGold implements structured.GoldReader.
func (Window) ReadsGold() {}

func (w Window) Score(θ *structured.Potentials, b int, y []int32) float64 {
	if len(y) == 0 {
		return 0
	}
	cells, s := θ.Parts[0].Of(b), 0.0
	for row := y[0]; row <= y[2]; row++ {
		for _, x := range w.row(cells, row, y) {
			s += float64(x)
		}
	}
	size := θ.Parts[1].Of(b)
	s += float64(size[y[2]-y[0]]) + float64(size[w.Height+int(y[3]-y[1])])
	if l := Loss(y, GoldOf(θ.Gold, b)); l > 0 {
		s += float64(θ.Parts[2].Of(b)[0]) * float64(l)
	}
	return s
}

// row returns the cells of a row that are inside a box.
func (w Window) row(cells []float32, row int32, y []int32) []float32 {
	at := int(row) * w.Width
	return cells[at+int(y[1]) : at+int(y[3])+1]
}

func (w Window) Add(u *structured.Marginals, b int, y []int32, c float32) {
	if len(y) == 0 {
		return
	}
	cells := u.Parts[0].Of(b)
	for row := y[0]; row <= y[2]; row++ {
		inside := w.row(cells, row, y)
		for i := range inside {
			inside[i] += c
		}
	}
	size := u.Parts[1].Of(b)
	size[y[2]-y[0]] += c
	size[w.Height+int(y[3]-y[1])] += c
	u.Parts[2].Of(b)[0] += c * Loss(y, GoldOf(u.Gold, b))
}

// LogOutputs implements structured.Structure. There are H(H+1)/2 · W(W+1)/2 boxes.
func (w Window) LogOutputs(d *structured.Dataset, _ structured.Form) float64 {
	h, v := float64(w.Height), float64(w.Width)
	each, some := math.Log(h*(h+1)/2)+math.Log(v*(v+1)/2), 0
	for i := range d.Len() {
		if d.Length(i) > 0 {
			some++
		}
	}
	return each * float64(some) / float64(max(1, d.Len()))
}

func (Window) TaskLoss() structured.TaskLoss { return IoULoss{} }

// Each implements structured.Structure. Boxes come in the order of their four numbers.
func (w Window) Each(θ *structured.Potentials, b int, visit func(y []int32)) {
	if θ.Outputs[b+1] == θ.Outputs[b] {
		visit(nil)
		return
	}
	var y [4]int32
	for y[0] = 0; int(y[0]) < w.Height; y[0]++ {
		for y[1] = 0; int(y[1]) < w.Width; y[1]++ {
			for y[2] = y[0]; int(y[2]) < w.Height; y[2]++ {
				for y[3] = y[1]; int(y[3]) < w.Width; y[3]++ {
					visit(y[:])
				}
			}
		}
	}
}
