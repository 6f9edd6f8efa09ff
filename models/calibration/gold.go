package calibration

import (
	"math"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/choices"
	"github.com/dsp-go/dsp/structured/trees"
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
		if !s.knows(θ.Structure, y) {
			return nil, 1
		}
		score := θ.Score(b, y)
		if math.IsInf(score, -1) {
			return nil, 1
		}
		return []part{{score: score}}, 0
	}
	add := func(p part) {
		if math.IsInf(float64(θ.Parts[p.part].Of(b)[p.at]), -1) {
			skipped++
			return
		}
		parts = append(parts, p)
	}
	switch θ.Structure.(type) {
	case trees.SpanningTree:
		n := len(y) / 2
		for t, head := range y[:n] {
			switch relation := y[n+t]; {
			case head < 0 || relation < 0:
			case int(relation) >= width:
				skipped++
			default:
				add(part{part: 1, at: trees.Row(n, t, head)*width + int(relation)})
			}
		}
	case choices.Choice:
		for _, k := range y {
			if k >= 0 {
				add(part{at: int(k)})
			}
		}
	default: // labels
		for t, l := range y {
			switch {
			case l < 0:
			case int(l) >= width:
				skipped++
			default:
				add(part{at: t*width + int(l)})
			}
		}
	}
	return parts, skipped
}

// knows reports whether the model has all names in a gold output.
func (s *search) knows(of structured.Structure, y []int32) bool {
	switch of.(type) {
	case trees.SpanningTree:
		y = y[len(y)/2:]
	case choices.Choice:
		return true
	}
	for _, l := range y {
		if int(l) >= s.model.Labels.Len() {
			return false
		}
	}
	return true
}
