package selftest

import (
	"math/rand/v2"

	"github.com/dsp-go/dsp/structured"
)

// drawCharacters draws words of up to 7 of the given number of different characters.
func drawCharacters(r *rand.Rand, d *structured.Dataset, different int) *structured.Segments {
	names := structured.NewAlphabet()
	for k := range different {
		names.Add(string(rune('!' + k)))
	}
	s := &structured.Segments{Offsets: []int{0}, Ids: []int32{}, Vocab: names}
	for range d.Positions() {
		for range r.IntN(8) {
			s.Ids = append(s.Ids, r.Int32N(int32(different)))
		}
		s.Offsets = append(s.Offsets, len(s.Ids))
	}
	return s
}
