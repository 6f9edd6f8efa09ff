package segments

import (
	"math/rand/v2"

	"github.com/dsp-go/dsp/structured"
)

// Small draws the form of a few sequences that are small enough to enumerate: at most 3 labels, segments of at most 4 positions, with or
// without scores of last positions. Some sequences are empty.
func Small(r *rand.Rand) *structured.Potentials {
	tags := 1 + r.IntN(6)
	most := []int{0, 7, 7, 6, 5, 4, 4}[tags]
	offsets := []int{0}
	for range 1 + r.IntN(3) {
		offsets = append(offsets, offsets[len(offsets)-1]+r.IntN(most+1))
	}
	θ := new(structured.Potentials)
	θ.Reshape(Form(tags, 1+r.IntN(4), r.IntN(2) == 0), offsets, func(string) []int { return offsets })
	return θ
}
