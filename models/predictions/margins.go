package predictions

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
)

// LinkMargins returns the margins of all links of each example: the best score of an output with the link, less that of one without it.
// An output without number j at a place has another number there. So the margin is the max-marginal of j less the largest one of the
// place's other numbers, 0 for no link among them.
func LinkMargins(m *oracles.MaxMarginals) [][]float32 {
	all := make([][]float32, len(m.Widths))
	for b, width := range m.Widths {
		score := m.Of(b)
		links := make([]float32, 0, len(score))
		for ; len(score) > 0; score = score[width:] {
			first, second := math.Inf(-1), math.Inf(-1) // the two largest at this place
			for _, s := range score[:width] {
				switch {
				case s > first:
					first, second = s, first
				case s > second:
					second = s
				}
			}
			for _, s := range score[1:width] {
				other := first
				if s == first {
					other = second
				}
				if math.IsInf(s, -1) {
					links = append(links, float32(s)) // no output has this link
					continue
				}
				links = append(links, float32(s-other))
			}
		}
		all[b] = links
	}
	return all
}
