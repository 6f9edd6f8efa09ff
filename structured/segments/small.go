package segments

import (
	"math/rand/v2"

	"github.com/dsp-go/dsp/structured"
)

// Small draws the form of a few sequences that are small enough to enumerate: at most 3 labels, segments of at most 4
// positions, with or without scores of last positions and of whole
// segments, and transitions per position. Some sequences are empty.
func Small(r *rand.Rand) *structured.Potentials {
	tags := 1 + r.IntN(6)
	most := []int{0, 7, 7, 6, 5, 4, 4}[tags]
	offsets := []int{0}
	for range 1 + r.IntN(3) {
		offsets = append(offsets, offsets[len(offsets)-1]+r.IntN(most+1))
	}
	θ := new(structured.Potentials)
	longest := 1 + r.IntN(4)
	with := Optional{r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(2) == 0}
	θ.Reshape(Form(tags, longest, with), offsets, rowsOf(offsets, longest))
	return θ
}

// rowsOf returns the function from tables to the offsets of their rows, given those of the positions.
func rowsOf(positions []int, longest int) func(table string) []int {
	return func(table string) []int {
		switch table {
		case Rows:
			return Offsets(positions, longest)
		case structured.Examples:
			all := make([]int, len(positions))
			for b := range all {
				all[b] = b
			}
			return all
		}
		return positions
	}
}
