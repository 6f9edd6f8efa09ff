// Package segments defines semi-Markov chains (Sarawagi and Cohen 2004): sequences that are divided into segments, each
// with a label and a length. An output is written as tags, one number for each position, as the columns of a file have
// them.
package segments

import (
	"math"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// Segments is the structure of a sequence of T positions that is divided into segments with labels 0 to Y−1, none
// longer than L positions.
//
// An output is T tags: tag 2y begins a segment with label y, and tag 2y+1 continues it. With an odd number of tags,
// 2Y−1, segments with the last label have one position: such as O, for positions outside every entity.
//
// Potentials have three to five parts:
//
//	"node" [T×tags]         a score of each tag, as for chains
//	"length" tied [L×Y]     a score of each length 1…L, for each label
//	"transition" tied [Y×Y] a score of two segments that follow each other, from the label of the row to that of the
//	                        column; or [T×Y·Y], one for the position where the later one begins (row 0 has no effect)
//	"end" [T×Y]             a score of the last position of a segment with each label; it may be missing
//	"segment" [Row(T, 1)×Y] a score of each segment as a whole, with each label, in the rows of Row; it may be missing
//
// The scores of the tags inside a segment add up, so that the best segments take O(T·L·Y + T·Y²).
type Segments struct{}

// Rows is the table of the part "segment": for each position of an example, and each length of the segments that end
// there, from the shortest to the longest one.
const Rows = "segment"

// Row returns the row of the segment of so many positions that ends at position t, in an example with segments of at
// most longest positions. That of length 1 at position T, beyond the end, is the number of rows of an example of T
// positions.
func Row(t, length, longest int) int {
	if t < longest {
		return t*(t+1)/2 + length - 1
	}
	return longest*(longest+1)/2 + (t-longest)*longest + length - 1
}

// The parts of the potentials that there always are.
const (
	node = iota
	length
	transition
)

// Labels returns Y, the number of labels of so many tags.
func Labels(tags int) int { return (tags + 1) / 2 }

// Optional says which of the parts that may be missing there are, and whether transitions differ from position to
// position.
type Optional struct{ Ends, Whole, PerPosition bool }

// Form returns the form of the potentials for a number of tags and segments of at most longest positions.
func Form(tags, longest int, with Optional) structured.Form {
	y := Labels(tags)
	parts := []structured.Shape{
		{Name: "node", Rows: structured.Positions, Width: tags},
		{Name: "length", Rows: structured.Tied, Width: longest * y},
		{Name: "transition", Rows: structured.Tied, Width: y * y},
	}
	if with.PerPosition {
		parts[transition].Rows = structured.Positions
	}
	if with.Ends {
		parts = append(parts, structured.Shape{Name: "end", Rows: structured.Positions, Width: y})
	}
	if with.Whole {
		parts = append(parts, structured.Shape{Name: "segment", Rows: Rows, Width: y})
	}
	return structured.Form{Structure: Segments{}, Parts: parts}
}

// Shape is the shape of potentials or marginals of segments.
type Shape struct {
	Tags, Labels, Longest int
	End, Whole            int // numbers of the parts "end" and "segment", 0 where they are missing
	PerPosition           bool
}

// ShapeOf returns the shape of the parts of potentials or marginals.
func ShapeOf(parts []structured.Part) Shape {
	s := Shape{Tags: parts[node].Width, PerPosition: parts[transition].Rows == structured.Positions}
	for k := transition + 1; k < len(parts); k++ {
		switch parts[k].Rows {
		case structured.Positions:
			s.End = k
		case Rows:
			s.Whole = k
		}
	}
	s.Labels = Labels(s.Tags)
	s.Longest = parts[length].Width / s.Labels
	return s
}

// Segment is a segment of an output: positions First to Last.
type Segment struct {
	First, Last int
	Label       int32
}

// Each calls visit with the segments of an output, in order. A tag that continues no segment of its label begins one.
func Each(tags []int32, visit func(s Segment)) {
	for first := 0; first < len(tags); {
		last := first
		for last+1 < len(tags) && tags[last+1] == tags[first]|1 {
			last++
		}
		visit(Segment{first, last, tags[first] / 2})
		first = last + 1
	}
}

// Longest returns how many positions the longest gold segment of d has.
func Longest(d *structured.Dataset) int {
	longest := 0
	for i := range d.Len() {
		Each(d.Gold(i), func(s Segment) { longest = max(longest, s.Last-s.First+1) })
	}
	return longest
}

// Valid reports whether tags are an output: known tags that continue only segments of their label, in segments that are
// not too long.
func (s Shape) Valid(tags []int32) bool {
	length := 0
	for t, tag := range tags {
		switch {
		case tag < 0 || int(tag) >= s.Tags:
			return false
		case tag%2 == 0:
			length = 1
		default:
			if length++; t == 0 || tags[t-1]|1 != tag || length > s.Longest {
				return false
			}
		}
	}
	return true
}

// LongestOf returns the most positions of a segment with a label.
func (s Shape) LongestOf(label int) int {
	if 2*label+1 >= s.Tags {
		return 1
	}
	return s.Longest
}

// entry returns where a segment has its score in an example's part "segment".
func (s Shape) entry(g Segment) int {
	return Row(g.Last, g.Last-g.First+1, s.Longest)*s.Labels + int(g.Label)
}

// Step returns where a segment after one with another label has its score in an example's part "transition".
func (s Shape) Step(before int32, g Segment) int {
	row := 0
	if s.PerPosition {
		row = g.First
	}
	return (row*s.Labels+int(before))*s.Labels + int(g.Label)
}

// Offsets returns the offsets of the rows of the part "segment", given those of the positions.
func Offsets(positions []int, longest int) []int {
	rows := make([]int, len(positions))
	for b := range rows[1:] {
		rows[b+1] = rows[b] + Row(positions[b+1]-positions[b], 1, longest)
	}
	return rows
}

func (Segments) Name() string { return "segmentation" }

// Score implements structured.Structure. Tags that are no output score −∞.
func (Segments) Score(θ *structured.Potentials, b int, tags []int32) float64 {
	s := ShapeOf(θ.Parts)
	if !s.Valid(tags) {
		return math.Inf(-1)
	}
	nodes, lengths, transitions, sum := θ.Parts[node].Of(b), θ.Parts[length].Values, θ.Parts[transition].Of(b), 0.0
	for t, tag := range tags {
		sum += float64(nodes[t*s.Tags+int(tag)])
	}
	before := int32(-1)
	Each(tags, func(g Segment) {
		sum += float64(lengths[(g.Last-g.First)*s.Labels+int(g.Label)])
		if before >= 0 {
			sum += float64(transitions[s.Step(before, g)])
		}
		if s.End > 0 {
			sum += float64(θ.Parts[s.End].Of(b)[g.Last*s.Labels+int(g.Label)])
		}
		if s.Whole > 0 {
			sum += float64(θ.Parts[s.Whole].Of(b)[s.entry(g)])
		}
		before = g.Label
	})
	return sum
}

func (Segments) Add(u *structured.Marginals, b int, tags []int32, c float32) {
	s := ShapeOf(u.Parts)
	nodes, lengths, transitions := u.Parts[node].Of(b), u.Parts[length].Of(b), u.Parts[transition].Of(b)
	for t, tag := range tags {
		nodes[t*s.Tags+int(tag)] += c
	}
	before := int32(-1)
	Each(tags, func(g Segment) {
		lengths[(g.Last-g.First)*s.Labels+int(g.Label)] += c
		if before >= 0 {
			transitions[s.Step(before, g)] += c
		}
		if s.End > 0 {
			u.Parts[s.End].Of(b)[g.Last*s.Labels+int(g.Label)] += c
		}
		if s.Whole > 0 {
			u.Parts[s.Whole].Of(b)[s.entry(g)] += c
		}
		before = g.Label
	})
}

// SkipsRows implements structured.RowSkipper: every position has a tag, but outputs differ in how many segments they
// have.
func (Segments) SkipsRows(part int) bool { return part != node }

func (Segments) Raise(θ *structured.Potentials, b int, tags []int32, c float32) {
	chains.Chain{}.Raise(θ, b, tags, c)
}

func (Segments) Restrict(θ *structured.Potentials, b int, gold structured.Gold) {
	chains.RestrictRows(&θ.Parts[node], b, gold)
}

// LeastRisk implements structured.Structure: the segments whose tags have the largest sum of probabilities.
func (Segments) LeastRisk(u *structured.Marginals, θ *structured.Potentials) {
	θ.SetAllowed(node, func(k int) float32 { return u.Parts[node].Values[k] })
	for k := length; k < len(θ.Parts); k++ {
		θ.SetAllowed(k, func(int) float32 { return 0 })
	}
}

func (Segments) LogOutputs(d *structured.Dataset, form structured.Form) float64 {
	s := Shape{Tags: form.Parts[node].Width}
	s.Labels = Labels(s.Tags)
	s.Longest = form.Parts[length].Width / s.Labels
	longer := s.Labels - s.Tags%2 // labels whose segments may have several positions
	longest := 0
	for i := range d.Len() {
		longest = max(longest, d.Length(i))
	}
	// log[t] is the logarithm of the number of outputs of t positions: the last segment has one position, or more.
	log := make([]float64, longest+1)
	for t := 1; t <= longest; t++ {
		ratio := float64(s.Labels)
		for l := 2; l <= min(t, s.Longest); l++ {
			ratio += float64(longer) * math.Exp(log[t-l]-log[t-1])
		}
		log[t] = log[t-1] + math.Log(ratio)
	}
	sum := 0.0
	for i := range d.Len() {
		sum += log[d.Length(i)]
	}
	return sum / float64(max(1, d.Len()))
}

// TaskLoss implements structured.Structure: the number of wrong tags.
func (Segments) TaskLoss() structured.TaskLoss { return chains.Hamming{} }

func (Segments) Each(θ *structured.Potentials, b int, visit func(tags []int32)) {
	s := ShapeOf(θ.Parts)
	tags := make([]int32, θ.Outputs[b+1]-θ.Outputs[b])
	var from func(t int)
	from = func(t int) {
		if t == len(tags) {
			visit(tags)
			return
		}
		for y := range s.Labels {
			for l := 1; l <= min(s.LongestOf(y), len(tags)-t); l++ {
				tags[t] = int32(2 * y)
				for k := 1; k < l; k++ {
					tags[t+k] = int32(2*y + 1)
				}
				from(t + l)
			}
		}
	}
	from(0)
}
