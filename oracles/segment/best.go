package segment

import (
	"math"
	"slices"

	"github.com/dsp-go/dsp/structured/segments"
)

// Best returns the segments of an output of Reset's example that is allowed (no potential of it is −∞), for which Σ
// value(s) over its segments, plus weight times the scores of the transitions between them, is largest: by dynamic
// programming over positions and the labels of the segments that end there. A segment of value −∞ is in none. It
// returns nil if there is no such output.
func (p *Spans) Best(value func(s segments.Segment) float64, weight float64) []segments.Segment {
	shape, transitions := segments.ShapeOf(p.view.Parts), p.view.Parts[2].Of(0)
	n, labels := len(p.view.Parts[0].Of(0))/shape.Tags, shape.Labels
	// the best beginning of an output whose last segment ends at a position, with a label
	closed, by := make([]float64, n*labels), make([]segments.Segment, n*labels)
	// the best one that a segment may follow which begins at a position, and the label at its end
	before, from := make([]float64, n*labels), make([]int, n*labels)
	for t := range n {
		for y := range labels {
			at := t*labels + y
			if before[at], closed[at] = math.Inf(-1), math.Inf(-1); t == 0 {
				before[at] = 0
			}
			for x := range labels {
				if t == 0 {
					break
				}
				step := float64(transitions[shape.Step(int32(x), segments.Segment{First: t, Label: int32(y)})])
				if v := closed[at-y-labels+x] + weight*step; !math.IsInf(step, -1) && v > before[at] {
					before[at], from[at] = v, x
				}
			}
		}
		for y := range labels {
			at := t*labels + y
			for first := t; first >= 0 && t-first < shape.LongestOf(y); first-- {
				s := segments.Segment{First: first, Last: t, Label: int32(y)}
				if first < t && math.IsInf(p.tag(first+1, 2*y+1), -1) { // nor can a longer one
					break
				}
				if math.IsInf(before[first*labels+y], -1) || math.IsInf(p.Score(s), -1) {
					continue
				}
				if v := before[first*labels+y] + value(s); v > closed[at] {
					closed[at], by[at] = v, s
				}
			}
		}
	}
	if n == 0 {
		return nil
	}
	last := closed[(n-1)*labels:]
	y := slices.Index(last, slices.Max(last))
	if math.IsInf(last[y], -1) {
		return nil
	}
	var best []segments.Segment
	for t := n - 1; t >= 0; {
		s := by[t*labels+y]
		best = append(best, s)
		y, t = from[s.First*labels+y], s.First-1
	}
	slices.Reverse(best)
	return best
}

func (p *Spans) tag(t, tag int) float64 {
	return float64(p.view.Parts[0].Of(0)[t*p.view.Parts[0].Width+tag])
}

// Score returns the sum of the potentials of a segment, without those of transitions.
func (p *Spans) Score(s segments.Segment) float64 {
	shape, y := segments.ShapeOf(p.view.Parts), int(s.Label)
	score := p.tag(s.First, 2*y) + float64(p.view.Parts[1].Of(0)[(s.Last-s.First)*shape.Labels+y])
	for t := s.First + 1; t <= s.Last; t++ {
		score += p.tag(t, 2*y+1)
	}
	if shape.End > 0 {
		score += float64(p.view.Parts[shape.End].Of(0)[s.Last*shape.Labels+y])
	}
	if shape.Whole > 0 {
		score += float64(p.view.Parts[shape.Whole].Of(0)[segments.Row(s.Last, s.Last-s.First+1, shape.Longest)*shape.Labels+
			y])
	}
	return score
}
