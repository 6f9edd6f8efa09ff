// Package segment does inference for segments (semi-Markov chains, Sarawagi and Cohen 2004): the best segments, the K
// best by lazy enumeration, and sums over all segmentations with their marginals.
//
// With prefix sums of the scores of the tags inside segments, a segment costs O(1): with Y labels and segments of at
// most L positions, a sequence of T positions takes O(T·L·Y + T·Y²), and memory that is linear in T. Scores of whole
// segments, which the potentials may have, are added to those of lengths, position by position. Everything is computed
// in float64, sums as logarithms: scores of long sequences keep their digits, and no temperature is too low. The inner
// loops (kernels) run over labels, in plain Go, for AVX2 and for AVX-512; command halve generates the AVX2 file.
package segment

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/segments"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Oracle is the oracle of segments. The answer for a sequence has the same bits in every batch.
//
// With P_t the sum of the scores of continuing tags up to position t, the recurrence of Max is
//
//	h_s(y) = β_s(y) + begin_s(y) − P_s(y)                 a segment with label y begins at s
//	a_t(y) = max_l h_{t−l+1}(y) + length_t(l, y)          one of l positions ends at t
//	α_t(y) = a_t(y) + P_t(y) + end_t(y)
//	β_s(y) = max_{y'} α_{s−1}(y') + transition(y', y),    β_0(y) = 0.
//
// Exp has sums in place of maxima. length_t(l, y) is the score of the length, plus that of the segment as a whole where
// the potentials have some. A segment cannot contain a continuing tag that is forbidden: its score is left out of P,
// and reach_t(y), how many positions a segment that ends at t may have, begins anew. Where P is so large that
// differences of it would lose digits, P is 0, and length_t has the scores of the tags that continue the segment
// (direct.go).
type Oracle struct {
	k *kernels

	s      segments.Shape
	stride int // numbers in a row: Y rounded up to whole vectors

	base       []float64 // [L×stride] scores of lengths over μ; padded with −∞
	length     []float64 // the same, and what a segment costs in the current sequence
	priced     []float64 // its memory, if that is something
	whole      []float32 // scores of the current sequence's segments as a whole, in the rows of segments.Row, or nil
	joint      []float64 // [L×stride] lengths of a position: the sum of both, and what a direct oracle adds
	transition []float64 // [Y×stride]; where they differ from position to position, those that enter read last
	rate       float64   // 1/μ; 1 for Max

	guard oracles.Guard
	gold  gold

	node, ends []float32 // of the current sequence: [T×tags], and [T×Y] or nil
	own        []float32 // its transitions [T×Y·Y], or nil
	n          int       // T

	direct bool // P is 0 in the current sequence (direct.go)

	h, a, α, reach []float64 // [T×stride]
	β              []float64 // [T×stride]; Max keeps a single row, of a and reach, too
	p, begin, add  []float64 // [stride] P_t, and what step sets
	sum, inside    []float64 // [stride] scratch
	within         []float64 // [T×stride] of a direct oracle: probabilities that a segment continues at a position
	starts         []float64 // [T×stride] probabilities that a segment starts at a position
	ending         []float64 // [stride] likewise that one ends
	keepsEnds      bool      // for Spans:
	allEnds        []float64 // [T×stride] every ending
	lengths, edges []float64 // [L×stride], [Y×stride] marginals of tied parts
	ended          []float64 // [L×stride] those of segments that end at a position

	// Sums over labels by weights.
	weight    []float64 // [Y×stride] E
	top       []float64 // [stride]
	w, rates  []float64 // [stride] scratch
	byWeights []bool    // [T]

	drawn []float64 // of samples

	ranking ranking
}

// New returns an oracle of segments with the fastest kernels of this build and machine.
func New() *Oracle { return &Oracle{k: fastest} }

var minusInf = math.Inf(-1)

// prepare starts a new batch of scores that are multiplied by rate.
func (o *Oracle) prepare(θ *structured.Potentials, rate float64) {
	o.s = segments.ShapeOf(θ.Parts)
	o.stride, o.rate = (o.s.Labels+lanes-1)/lanes*lanes, rate
	o.base = o.widen(o.base, θ.Parts[1].Values, o.s.Longest)
	o.transition = vec.Grow(o.transition, o.s.Labels*o.stride)
	if !o.s.PerPosition {
		o.transition = o.widen(o.transition, θ.Parts[2].Values, o.s.Labels)
	}
	for _, row := range []*[]float64{&o.p, &o.begin, &o.add, &o.sum, &o.inside} {
		*row = vec.Grow(*row, o.stride)
		clear(*row)
	}
	o.guard.Begin(θ)
}

// widen copies rows of Y numbers to padded rows, times the rate.
func (o *Oracle) widen(to []float64, from []float32, rows int) []float64 {
	to = vec.Grow(to, rows*o.stride)
	for i := range rows {
		row := to[i*o.stride : (i+1)*o.stride]
		for j := range row {
			row[j] = minusInf
		}
		for j, x := range from[i*o.s.Labels : (i+1)*o.s.Labels] {
			row[j] = float64(x) * o.rate
		}
	}
	return to
}

// open reads example b. It reports whether its potentials are valid.
func (o *Oracle) open(θ *structured.Potentials, b int) bool {
	o.node, o.ends, o.whole, o.own = θ.Parts[0].Of(b), nil, nil, nil
	if o.s.PerPosition {
		o.own = θ.Parts[2].Of(b)
	}
	if o.s.End > 0 {
		o.ends = θ.Parts[o.s.End].Of(b)
	}
	if o.s.Whole > 0 {
		o.whole = θ.Parts[o.s.Whole].Of(b)
	}
	o.n = θ.Outputs[b+1] - θ.Outputs[b]
	clear(o.p)
	o.direct = o.losesDigits(θ, b)
	o.readGold(θ, b)
	return o.guard.Valid(θ, b)
}

func (o *Oracle) row(table []float64, t int) []float64 {
	return table[t*o.stride : (t+1)*o.stride]
}

// step reads position t: it brings p up to date, sets begin to begin_t − P_t, add to P_t + end_t, and reach to reach_t,
// given reach_{t−1}, which may be in the same place.
func (o *Oracle) step(t int, before, reach []float64) {
	tags, y := o.s.Tags, o.s.Labels
	scores := o.node[t*tags : (t+1)*tags]
	for j := range o.stride {
		if j >= y {
			o.begin[j], reach[j] = minusInf, 0
			continue
		}
		longest := 1.0
		if o.continues(t, j) {
			if !o.direct {
				o.p[j] += float64(scores[2*j+1]) * o.rate
			}
			longest = min(before[j]+1, float64(o.s.Longest))
		}
		reach[j] = longest
		o.begin[j] = float64(scores[2*j])*o.rate - o.p[j]
		if j == o.gold.outside && o.gold.mustCover(t) {
			o.begin[j] = minusInf
		}
		o.add[j] = o.p[j]
		if o.ends != nil {
			o.add[j] += float64(o.ends[t*y+j]) * o.rate
		}
	}
}

// enter makes transition the scores of the steps into position t, where these differ.
func (o *Oracle) enter(t int) {
	if o.own != nil {
		size := o.s.Labels * o.s.Labels
		o.transition = o.widen(o.transition, o.own[t*size:(t+1)*size], o.s.Labels)
	}
}

// stepScore returns the score of the step into position t from a label to another one.
func (o *Oracle) stepScore(t, from, to int) float64 {
	if o.own != nil {
		return float64(o.own[(t*o.s.Labels+from)*o.s.Labels+to]) * o.rate
	}
	return o.transition[from*o.stride+to]
}

// continues reports whether a segment with label y may continue at position t.
func (o *Oracle) continues(t, y int) bool {
	at := 2*y + 1
	return t > 0 && at < o.s.Tags && float64(o.node[t*o.s.Tags+at]) > minusInf
}

// lengthsAt returns length_t, which the next call may change.
func (o *Oracle) lengthsAt(t int) []float64 {
	switch {
	case o.direct:
		return o.directLengths(t)
	case o.whole == nil:
		return o.length
	}
	longest, y := o.longest(t), o.s.Labels
	o.joint = vec.Grow(o.joint, o.s.Longest*o.stride)
	whole := o.whole[segments.Row(t, 1, o.s.Longest)*y:]
	for l := range longest {
		to, from := o.row(o.joint, l), o.row(o.length, l)
		copy(to[y:], from[y:])
		for j, x := range whole[l*y : (l+1)*y] {
			to[j] = from[j] + float64(x)*o.rate
		}
	}
	return o.joint
}

// longest returns how many positions a segment may have that ends at position t, whatever its label.
func (o *Oracle) longest(t int) int { return min(o.s.Longest, t+1) }

func add(to, x, y []float64) {
	for j, x := range x {
		to[j] = x + y[j]
	}
}

func argmax(x []float64) int {
	best := 0
	for j, v := range x {
		if v > x[best] {
			best = j
		}
	}
	return best
}
