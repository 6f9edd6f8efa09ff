package predictions

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
)

// LinkMargins returns the margins of all links of each example: those of numbers from 1 on, as 0 stands for no link.
func LinkMargins(m *oracles.MaxMarginals) [][]float32 { return marginsFrom(m, 1) }

// LabelMargins returns the margins of all labels at all positions of each example.
func LabelMargins(m *oracles.MaxMarginals) [][]float32 { return marginsFrom(m, 0) }

// marginsFrom returns, for each place of each example, the margins of the numbers from first on: the best score of an
// output with the number there, less that of one without it. An output without number j at a place has another number
// there. So the margin is the max-marginal of j less the largest one of the place's other numbers. It is −∞ for a
// number that no output has, and +∞ for one that all outputs have.
func marginsFrom(m *oracles.MaxMarginals, first int) [][]float32 {
	all := make([][]float32, len(m.Widths))
	for b, width := range m.Widths {
		score := m.Of(b)
		margins := make([]float32, 0, len(score))
		for ; len(score) > 0; score = score[width:] {
			most, second := math.Inf(-1), math.Inf(-1) // the two largest at this place
			for _, s := range score[:width] {
				switch {
				case s > most:
					most, second = s, most
				case s > second:
					second = s
				}
			}
			for _, s := range score[first:width] {
				other := most
				if s == most {
					other = second
				}
				if math.IsInf(s, -1) {
					margins = append(margins, float32(s))
					continue
				}
				margins = append(margins, float32(s-other))
			}
		}
		all[b] = margins
	}
	return all
}
