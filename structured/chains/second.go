package chains

import (
	"math"
	"slices"

	"github.com/dsp-go/dsp/structured"
)

// Second is the structure of a sequence of T labels in which three labels in a row interact. Potentials have three
// parts:
//
//	"node" [T×Y]            a score of each label, as for chains
//	"edge" tied [Y×Y]       a score of two labels that follow each other, from the label of the row to that of the column
//	"triple" tied [Triples] a score of three labels in a row, for those that Steps lists; others have 0
//
// Labels follow each other only as Steps allows: other outputs score −∞.
type Second struct{ *Steps }

// Steps says which labels may follow each other, and which threes of labels in a row have a score of their own. Every
// label may be followed by some label, so that there are outputs of every length.
type Steps struct {
	Labels  int     // Y
	Pairs   []int32 // i·Y+j for labels i and j that may follow each other, in order
	First   []int   // [Y+1] the pairs of label i are Pairs[First[i]:First[i+1]]
	Triples []int32 // the third label of each triple; those of a pair in order
	Start   []int   // [pairs+1] the triples of pair p are Triples[Start[p]:Start[p+1]]
}

// MostStepLabels is the largest number of labels whose pairs have numbers.
const MostStepLabels = 46340

// NewSteps returns the steps that outputs of so many labels take: the pairs of labels in a row, and the threes. A label
// that nothing follows may be followed by every label. There are at most MostStepLabels.
func NewSteps(labels int, outputs func(yield func(y []int32) bool)) *Steps {
	pairs, threes := map[int32]bool{}, map[[2]int32]bool{} // the latter: a pair and the third label
	followed := make([]bool, labels)
	for y := range outputs {
		for t := 1; t < len(y); t++ {
			pair := y[t-1]*int32(labels) + y[t]
			pairs[pair], followed[y[t-1]] = true, true
			if t+1 < len(y) {
				threes[[2]int32{pair, y[t+1]}] = true
			}
		}
	}
	for i, is := range followed {
		for j := 0; j < labels && !is; j++ {
			pairs[int32(i*labels+j)] = true
		}
	}
	s := &Steps{Labels: labels, First: []int{0}, Start: []int{0}}
	for pair := range pairs {
		s.Pairs = append(s.Pairs, pair)
	}
	slices.Sort(s.Pairs)
	s.index()
	for _, pair := range s.Pairs {
		for k := range int32(labels) {
			if threes[[2]int32{pair, k}] {
				s.Triples = append(s.Triples, k)
			}
		}
		s.Start = append(s.Start, len(s.Triples))
	}
	return s
}

// index fills First.
func (s *Steps) index() {
	s.First = []int{0}
	for i := range s.Labels {
		end, _ := slices.BinarySearch(s.Pairs, int32((i+1)*s.Labels))
		s.First = append(s.First, end)
	}
}

// Pack returns the steps as numbers, which UnpackSteps reads.
func (s *Steps) Pack() []int32 {
	packed := []int32{int32(s.Labels), int32(len(s.Pairs))}
	packed = append(packed, s.Pairs...)
	for _, at := range s.Start[1:] {
		packed = append(packed, int32(at))
	}
	return append(packed, s.Triples...)
}

// UnpackSteps returns the steps that Pack wrote; numbers that it cannot have written are bad input.
func UnpackSteps(packed []int32) (*Steps, error) {
	bad := structured.BadInput("steps of second-order chains: %d numbers that do not fit each other", len(packed))
	if len(packed) < 2 || packed[0] < 1 || packed[1] < 0 || len(packed) < 2+2*int(packed[1]) {
		return nil, bad
	}
	s, pairs := &Steps{Labels: int(packed[0]), Start: []int{0}}, int(packed[1])
	if s.Labels > min(pairs, MostStepLabels) { // some label would be followed by none
		return nil, bad
	}
	s.Pairs, packed = packed[2:2+pairs], packed[2+pairs:]
	s.Triples = packed[pairs:]
	for _, at := range packed[:pairs] {
		if int(at) < s.Start[len(s.Start)-1] || int(at) > len(s.Triples) {
			return nil, bad
		}
		s.Start = append(s.Start, int(at))
	}
	if s.Start[pairs] != len(s.Triples) || !ascend(s.Pairs, s.Labels*s.Labels) {
		return nil, bad
	}
	for p := range pairs {
		if !ascend(s.Triples[s.Start[p]:s.Start[p+1]], s.Labels) {
			return nil, bad
		}
	}
	s.index()
	for i := range s.Labels {
		if s.First[i] == s.First[i+1] {
			return nil, bad
		}
	}
	return s, nil
}

// ascend reports whether numbers ascend from 0 and stay below a limit.
func ascend(x []int32, limit int) bool {
	last := int32(-1)
	for _, v := range x {
		if v <= last || int(v) >= limit {
			return false
		}
		last = v
	}
	return true
}

// Pair returns the number of a pair, −1 if the second label may not follow the first.
func (s *Steps) Pair(i, j int32) int {
	lo, hi := s.First[i], s.First[i+1]
	if p, ok := slices.BinarySearch(s.Pairs[lo:hi], i*int32(s.Labels)+j); ok {
		return lo + p
	}
	return -1
}

// Triple returns the number of a triple, given that of its first pair; −1 if it has no score.
func (s *Steps) Triple(pair int, k int32) int {
	lo, hi := s.Start[pair], s.Start[pair+1]
	if at, ok := slices.BinarySearch(s.Triples[lo:hi], k); ok {
		return lo + at
	}
	return -1
}

// Breaks returns the first position of an output whose label may not follow the one before, 0 if there is none.
func (s *Steps) Breaks(y []int32) int {
	for t := 1; t < len(y); t++ {
		if s.Pair(y[t-1], y[t]) < 0 {
			return t
		}
	}
	return 0
}

// SecondForm returns the form of the potentials of second-order chains.
func SecondForm(s *Steps) structured.Form {
	return structured.Form{Structure: Second{s}, Parts: []structured.Shape{
		{Name: "node", Rows: structured.Positions, Width: s.Labels},
		{Name: "edge", Rows: structured.Tied, Width: s.Labels * s.Labels},
		{Name: "triple", Rows: structured.Tied, Width: len(s.Triples)},
	}}
}

// triplePart is the number of the part that scores triples; node and edge are those of chains.
const triplePart = 2

func (Second) Name() string { return "second-order chain" }

// Same implements structured.Distinguisher: it compares the steps.
func (s Second) Same(other structured.Structure) bool {
	o, ok := other.(Second)
	return ok && (o.Steps == s.Steps || slices.Equal(o.Pack(), s.Pack()))
}

func (s Second) Score(θ *structured.Potentials, b int, y []int32) float64 {
	view, triples := Of(θ), θ.Parts[triplePart].Values
	sum := view.Score(b, y)
	s.eachTriple(y, func(at int) {
		if at < 0 {
			sum = math.Inf(-1)
		} else {
			sum += float64(triples[at])
		}
	})
	return sum
}

// eachTriple calls visit with the numbers of the triples of an output that have scores, and with −1 for each step that
// is not allowed.
func (s Second) eachTriple(y []int32, visit func(at int)) {
	for t := 1; t < len(y); t++ {
		pair := s.Pair(y[t-1], y[t])
		if pair < 0 {
			visit(-1)
		} else if t+1 < len(y) {
			if at := s.Triple(pair, y[t+1]); at >= 0 {
				visit(at)
			}
		}
	}
}

func (s Second) Add(u *structured.Marginals, b int, y []int32, c float32) {
	view, triples := In(u), u.Parts[triplePart].Of(b)
	view.Add(b, y, c)
	s.eachTriple(y, func(at int) {
		if at >= 0 {
			triples[at] += c
		}
	})
}

// SkipsRows implements structured.RowSkipper: most threes of labels may have no score.
func (Second) SkipsRows(part int) bool { return part == triplePart }

func (Second) Raise(θ *structured.Potentials, b int, y []int32, c float32) {
	Chain{}.Raise(θ, b, y, c)
}

func (Second) Restrict(θ *structured.Potentials, b int, gold structured.Gold) {
	RestrictRows(&θ.Parts[0], b, gold)
}

// LeastRisk implements structured.Structure: the allowed labels with the largest sum of probabilities.
func (Second) LeastRisk(u *structured.Marginals, θ *structured.Potentials) {
	Chain{}.LeastRisk(u, θ)
	θ.SetAllowed(triplePart, func(int) float32 { return 0 })
}

func (s Second) LogOutputs(d *structured.Dataset, _ structured.Form) float64 {
	longest := 0
	for i := range d.Len() {
		longest = max(longest, d.Length(i))
	}
	log := make([]float64, longest+1) // of the number of outputs of each length
	counts, next := make([]float64, s.Labels), make([]float64, s.Labels)
	for j := range counts {
		counts[j] = 1
	}
	scale := 0.0
	for t := 1; t <= longest; t++ {
		total := 0.0
		for _, n := range counts {
			total += n
		}
		scale += math.Log(total)
		log[t] = scale
		clear(next)
		for _, pair := range s.Pairs {
			next[int(pair)%s.Labels] += counts[int(pair)/s.Labels] / total
		}
		counts, next = next, counts
	}
	sum := 0.0
	for i := range d.Len() {
		sum += log[d.Length(i)]
	}
	return sum / float64(max(1, d.Len()))
}

func (Second) TaskLoss() structured.TaskLoss { return Hamming{} }

// Each implements structured.Structure. The first position's label changes fastest.
func (s Second) Each(θ *structured.Potentials, b int, visit func(y []int32)) {
	Chain{}.Each(θ, b, func(y []int32) {
		if s.Breaks(y) == 0 {
			visit(y)
		}
	})
}
