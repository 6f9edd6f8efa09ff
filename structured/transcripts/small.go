package transcripts

import (
	"math/rand/v2"

	"github.com/dsp-go/dsp/structured"
)

// Small draws the form of a few lines that are small enough to enumerate: at most 4 labels with the blank, and at most
// 8 frames. Some are empty.
func Small(r *rand.Rand) *structured.Potentials {
	width := 1 + r.IntN(4)
	longest := []int{0, 8, 8, 6, 5}[width]
	offsets := []int{0}
	for range 1 + r.IntN(3) {
		offsets = append(offsets, offsets[len(offsets)-1]+r.IntN(longest+1))
	}
	θ := new(structured.Potentials)
	θ.Reshape(Form(width-1), offsets, func(string) []int { return offsets })
	return θ
}
