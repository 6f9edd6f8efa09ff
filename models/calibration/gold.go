package calibration

import (
	"math"

	"github.com/dsp-go/dsp/structured"
)

// part is what a likelihood is of: a number of a gold output, or a whole gold output with its score.
type part struct {
	part, at int // its marginal: an entry of an example's values of a part of the potentials
	score    float64
}

// of returns the probability of p in example b.
func (p part) of(u *structured.Marginals, b int) float64 { return float64(u.Parts[p.part].Of(b)[p.at]) }

// gold returns what is known of the gold output of example i, number b of the batch, and how much of that the model cannot predict: labels
// that it does not know, and outputs that its constraints forbid.
func (s *search) gold(θ *structured.Potentials, b, i int) (parts []part, skipped int) {
	y, width := s.data.Gold(i), s.model.Labels.Len()
	if s.by == Sequences {
		if s.data.Partial(i) || len(y) == 0 {
			return nil, 0
		}
		if !s.knows(θ, y) {
			return nil, 1
		}
		score := θ.Score(b, y)
		if math.IsInf(score, -1) {
			return nil, 1
		}
		return []part{{score: score}}, 0
	}
	structured.Locate(θ, y, func(of, at int, label int32) {
		if int(label) >= width || math.IsInf(float64(θ.Parts[of].Of(b)[at]), -1) {
			skipped++
			return
		}
		parts = append(parts, part{part: of, at: at})
	})
	return parts, skipped
}

// knows reports whether the model has all names in a gold output.
func (s *search) knows(θ *structured.Potentials, y []int32) bool {
	all := true
	structured.Locate(θ, y, func(_, _ int, label int32) { all = all && int(label) < s.model.Labels.Len() })
	return all
}
