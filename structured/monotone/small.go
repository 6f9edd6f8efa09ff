package monotone

import (
	"math/rand/v2"

	"github.com/dsp-go/dsp/structured"
)

// Small draws the form of potentials of a few examples that are small enough to enumerate: at most 5 source and 5
// target items, some with none of either.
func (a Alignment) Small(r *rand.Rand) *structured.Potentials {
	var sources, targets []int
	for range 1 + r.IntN(3) {
		n, m := r.IntN(6), r.IntN(6)
		if n == 0 || m == 0 {
			n, m = 0, 0
		}
		sources, targets = append(sources, n), append(targets, m)
	}
	θ := new(structured.Potentials)
	a.Resize(θ, sources, targets)
	return θ
}

// Resize gives θ the form of a batch of alignments, with the numbers of source and of target items of each example, and
// reuses its memory. The values are undefined.
func (a Alignment) Resize(θ *structured.Potentials, sources, targets []int) {
	outputs, rows, items := []int{0}, []int{0}, []int{0}
	for b, n := range sources {
		outputs, rows, items = append(outputs, outputs[b]+Numbers(n, targets[b])), append(rows, rows[b]+n*targets[b]),
			append(items, items[b]+n)
	}
	θ.Reshape(a.Form(), outputs, func(table string) []int {
		if table == structured.Pairs {
			return rows
		}
		return items
	})
}
