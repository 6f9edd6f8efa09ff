package chains

import (
	"math/rand/v2"

	"github.com/dsp-go/dsp/structured"
)

// Small draws the form of a few chains that are small enough to enumerate: at most 5 labels, and at most 9 positions if
// there are few labels. Some chains are empty.
func Small(r *rand.Rand) *structured.Potentials {
	y := 1 + r.IntN(5)
	longest := []int{0, 9, 9, 6, 5, 4}[y]
	offsets := []int{0}
	for range 1 + r.IntN(3) {
		offsets = append(offsets, offsets[len(offsets)-1]+r.IntN(longest+1))
	}
	θ := new(structured.Potentials)
	Resize(θ, offsets, y, r.IntN(2) == 0)
	return θ
}

// SmallSecond draws the form of a few second-order chains that are small enough to enumerate, with steps of their own.
func SmallSecond(r *rand.Rand) *structured.Potentials {
	y := 1 + r.IntN(4)
	longest := []int{0, 6, 6, 5, 4}[y]
	offsets := []int{0}
	for range 1 + r.IntN(3) {
		offsets = append(offsets, offsets[len(offsets)-1]+r.IntN(longest+1))
	}
	steps := NewSteps(y, func(yield func(y []int32) bool) {
		for range 1 + r.IntN(2*y*y) {
			three := []int32{r.Int32N(int32(y)), r.Int32N(int32(y)), r.Int32N(int32(y))}
			if !yield(three[:2+r.IntN(2)]) {
				return
			}
		}
	})
	θ := new(structured.Potentials)
	θ.Reshape(SecondForm(steps), offsets, func(string) []int { return offsets })
	return θ
}
