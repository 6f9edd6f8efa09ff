package segments

import (
	"math/rand/v2"

	"github.com/dsp-go/dsp/structured"
)

// Counted is Segments with one more part of the potentials, for a task loss that counts segments instead of tags:
//
//	"loss" [1×1] "example"   multiplies the number of segments that are wrong, see Wrong; 0 when predicting
//
// No sum over tags, lengths and transitions gives that number, so Score and Add compute it from the gold output that
// potentials and marginals carry. It is 0 where that is missing or not fully known.
type Counted struct{ Segments }

// CountedForm is Form with the part of the loss.
func CountedForm(tags, longest int, with Optional) structured.Form {
	form := Form(tags, longest, with)
	form.Structure = Counted{}
	form.Parts = append(form.Parts, structured.Shape{Name: "loss", Rows: structured.Examples, Width: 1})
	return form
}

func (Counted) Name() string { return "counted segmentation" }

// ReadsGold implements structured.GoldReader.
func (Counted) ReadsGold() {}

func (c Counted) Score(θ *structured.Potentials, b int, tags []int32) float64 {
	s := c.Segments.Score(θ, b, tags)
	if wrong := Wrong(tags, GoldOf(θ.Gold, b), θ.Parts[node].Width); wrong > 0 {
		s += float64(lossOf(θ.Parts, b)[0]) * float64(wrong)
	}
	return s
}

func (c Counted) Add(u *structured.Marginals, b int, tags []int32, x float32) {
	c.Segments.Add(u, b, tags, x)
	lossOf(u.Parts, b)[0] += x * float32(Wrong(tags, GoldOf(u.Gold, b), u.Parts[node].Width))
}

func lossOf(parts []structured.Part, b int) []float32 { return parts[len(parts)-1].Of(b) }

// GoldOf returns the gold output of example b, or nil if it is missing or not fully known.
func GoldOf(gold [][]int32, b int) []int32 {
	if b >= len(gold) {
		return nil
	}
	for _, tag := range gold[b] {
		if tag < 0 {
			return nil
		}
	}
	return gold[b]
}

// Outside returns the label of segments that do not count: the last one, if it has only one tag, such as O; else −1.
func Outside(tags int) int32 {
	if tags%2 == 0 {
		return -1
	}
	return int32(Labels(tags)) - 1
}

// Wrong returns the number of segments of an output that are none of the gold one, and of those of the gold one that it
// lacks. Segments outside do not count. It is 0 if there is no gold output.
func Wrong(y, gold []int32, tags int) int {
	if len(gold) == 0 {
		return 0
	}
	outside, wrong := Outside(tags), 0
	// the gold segment that begins at a position, if its last position is not 0 less than the first
	ends := make([]Segment, len(gold))
	for t := range ends {
		ends[t].Last = -1
	}
	Each(gold, func(s Segment) {
		if s.Label != outside {
			ends[s.First] = s
			wrong++
		}
	})
	Each(y, func(s Segment) {
		switch {
		case s.Label == outside:
		case ends[s.First] == s:
			wrong--
		default:
			wrong++
		}
	})
	return wrong
}

// Count is the task loss of Counted that Wrong counts. Tags is the number of tags. Gold outputs must be fully known.
type Count struct{ Tags int }

func (Count) Augment(θ *structured.Potentials, b int, _ structured.Gold) { lossOf(θ.Parts, b)[0]++ }

func (Count) Dot(v *structured.Marginals, b int, _ structured.Gold) float64 {
	return float64(lossOf(v.Parts, b)[0])
}

func (c Count) Loss(y []int32, gold structured.Gold) float64 {
	return float64(Wrong(y, gold.Output, c.Tags))
}

// SmallCounted is Small with gold outputs of most examples.
func SmallCounted(r *rand.Rand) *structured.Potentials {
	θ := Small(r)
	s := ShapeOf(θ.Parts)
	offsets := θ.Outputs
	form := CountedForm(s.Tags, s.Longest, Optional{s.End > 0, s.Whole > 0, s.PerPosition})
	θ.Reshape(form, offsets, rowsOf(offsets, s.Longest))
	for b := range θ.Len() {
		var gold []int32
		for n := offsets[b+1] - offsets[b]; len(gold) < n; {
			y := r.IntN(s.Labels)
			for k := range 1 + r.IntN(min(s.LongestOf(y), n-len(gold))) {
				gold = append(gold, int32(2*y+min(k, 1)))
			}
		}
		if r.IntN(4) == 0 {
			gold = nil
		}
		θ.Gold = append(θ.Gold, gold)
	}
	return θ
}
