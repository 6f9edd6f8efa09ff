package constituents

import (
	"math/rand/v2"

	"github.com/dsp-go/dsp/structured"
)

// Small draws the form of a few sentences that are small enough to enumerate: at most 5 words and 3 labels. Some
// sentences are empty.
func Small(r *rand.Rand) *structured.Potentials {
	labels := 1 + r.IntN(3)
	most := []int{0, 5, 4, 3}[labels]
	offsets := []int{0}
	for range 1 + r.IntN(3) {
		n := r.IntN(most + 1)
		offsets = append(offsets, offsets[len(offsets)-1]+n*n)
	}
	θ := new(structured.Potentials)
	θ.Reshape(Form(labels), offsets, func(string) []int { return offsets })
	return θ
}
