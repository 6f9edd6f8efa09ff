package windows

import (
	"math/rand/v2"

	"github.com/dsp-go/dsp/structured"
)

// Small draws the form of potentials of a few small grids, some of them a single row or column, with gold boxes or
// without. Some examples have no cells.
func Small(r *rand.Rand) *structured.Potentials {
	w := Window{Height: 1 + r.IntN(5), Width: 1 + r.IntN(5)}
	switch r.IntN(6) {
	case 0:
		w = Window{Height: 1, Width: 1 + r.IntN(12)}
	case 1:
		w = Window{Height: 1 + r.IntN(12), Width: 1}
	}
	cells, outputs, examples := []int{0}, []int{0}, []int{0}
	var gold [][]int32
	for k := range 1 + r.IntN(3) {
		n, box := w.Height*w.Width, w.Draw(r)
		if r.IntN(8) == 0 {
			n, box = 0, nil
		}
		cells, outputs, examples = append(cells, cells[k]+n), append(outputs, outputs[k]+len(box)), append(examples, k+1)
		gold = append(gold, box)
	}
	θ := new(structured.Potentials)
	θ.Reshape(w.Form(), outputs, func(table string) []int {
		if table == structured.Examples {
			return examples
		}
		return cells
	})
	if r.IntN(4) > 0 {
		θ.Gold = gold
	}
	return θ
}

// Draw draws a box.
func (w Window) Draw(r *rand.Rand) []int32 {
	top, left, bottom, right := r.IntN(w.Height), r.IntN(w.Width), r.IntN(w.Height), r.IntN(w.Width)
	return []int32{int32(min(top, bottom)), int32(min(left, right)), int32(max(top, bottom)), int32(max(left, right))}
}
