// Package tree does inference for dependency trees: the best tree, the K best trees, and sums over all trees with the
// marginals of arcs, for projective trees (Eisner's algorithm) and for all trees (Chu-Liu-Edmonds, the matrix-tree
// theorem).
//
// A sentence of n tokens is given as n×n arc scores: arc[d*n+h] scores head h of dependent d, both from 0, and the
// diagonal arc[d*n+d] scores the root as head of d. A score of −∞ forbids the arc; no score is NaN or +∞. Exactly one
// token has the root as its head. Trees are written as in CoNLL: heads[d] is 0 for the root, else the head's number
// from 1.
//
// Sums over all trees of a batch are those of several sentences of one length at a time, where they are; the answer for
// each is the same.
//
// A sentence without tokens has one tree, the empty one, with value 0. If no tree is allowed, values are −∞.
package tree

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/structured/trees"
)

// Oracle is the oracle of dependency trees with relations (trees.SpanningTree). The relations of different arcs do not
// interact, so the weight of an arc is its own score plus the largest score of its relations, or plus μ·log Σ
// exp(score/μ) over them. The answer for a sentence has the same bits in every batch.
//
// Max on marginals in place of potentials (Marginals.AsPotentials) finds the tree with the largest sum of P(arc) and
// P(arc and relation). For the fewest expected mistakes of the Hamming loss, see SpanningTree.LeastRisk.
type Oracle struct {
	solver treeSolver

	guard oracles.Guard
	arc   []float32 // [n×n] scores including those of the best relations, or the latter alone
	sums
	label []float32 // [R]

	abreast abreast
	kept    []sums // of sentences abreast
	order   []int  // examples

	draws  oracles.Draws
	shares []float32 // [n×n×R] exponentials of the scores of relations
	heads  []int32   // [samples×n]

	lists rankedRelations
}

// sums are the scores of the arcs of a sentence.
type sums struct {
	summed []float64 // [n×n] scores including log-sums over relations
	share  []float32 // [n×n] sum of the exponentials of a row's relations
}

// treeSolver finds trees, whose relations are in the scores of arcs.
type treeSolver interface {
	Max(arc []float32, n int, heads []int32) float64
	Exp(arc []float64, n int, μ float64, marginals []float32) float64
	Sample(arc []float64, n int, μ float64, count int, r *oracles.Draws, heads []int32) bool
	TopK(arc []float32, n, k int, heads []int32, score []float64) int // best first; it returns how many there are
}

// New returns an oracle of projective trees, or of all trees.
func New(nonProjective bool) *Oracle {
	if nonProjective {
		return &Oracle{solver: new(NonProjective)}
	}
	return &Oracle{solver: new(Projective)}
}

// open gives example b to a solver that scores more than arcs, with where its marginals belong.
func (o *Oracle) open(θ *structured.Potentials, b int, u *structured.Marginals) {
	if s, ok := o.solver.(*Siblings); ok {
		s.sibling, s.marginals = θ.Parts[2].Of(b), nil
		if u != nil {
			s.marginals = u.Parts[2].Of(b)
			clear(s.marginals)
		}
	}
}

// sentence holds the potentials of one example.
type sentence struct {
	n, relations int
	arc, label   []float32
}

func sentenceOf(θ *structured.Potentials, b int) sentence {
	return sentence{
		n: (θ.Outputs[b+1] - θ.Outputs[b]) / 2, relations: θ.Parts[1].Width,
		arc: θ.Parts[0].Of(b), label: θ.Parts[1].Of(b),
	}
}

// row returns the scores of the relations of an arc.
func (s *sentence) row(i int) []float32 { return s.label[i*s.relations : (i+1)*s.relations] }

// Max implements oracles.Maximiser. Among relations with equal scores it takes the first.
func (o *Oracle) Max(θ *structured.Potentials, y []int32, value []float64) {
	o.guard.Begin(θ)
	for b := range θ.Len() {
		s, out := sentenceOf(θ, b), y[θ.Outputs[b]:θ.Outputs[b+1]]
		if !o.guard.Valid(θ, b) {
			value[b] = oracles.Refuse(out)
			continue
		}
		o.open(θ, b, nil)
		o.bestRelations(&s)
		heads, relations := out[:s.n], out[s.n:]
		if o.solver.Max(o.arc, s.n, heads) == minusInf {
			clear(out)
			value[b] = minusInf
			continue
		}
		for d, h := range heads {
			relations[d] = best(s.row(trees.Row(s.n, d, h)))
		}
		value[b] = θ.Score(b, out)
	}
}

// bestRelations sets every arc's score, including its best relation.
func (o *Oracle) bestRelations(s *sentence) {
	o.arc = vec.Grow(o.arc, s.n*s.n)
	fastest.largestOfRows(o.arc, s.label, s.relations)
	for i, v := range s.arc {
		o.arc[i] += v
	}
}

// best returns the first relation with the largest score.
func best(row []float32) int32 {
	at := 0
	for r, v := range row {
		if v > row[at] {
			at = r
		}
	}
	return int32(at)
}

// Exp implements oracles.Summer.
func (o *Oracle) Exp(θ *structured.Potentials, μ float64, value []float64, u *structured.Marginals) {
	if u != nil {
		u.Like(θ)
	}
	o.guard.Begin(θ)
	o.order = o.order[:0]
	for b := range θ.Len() {
		if o.guard.Valid(θ, b) {
			o.order = append(o.order, b)
		} else {
			value[b] = oracles.RefuseSums(u, b)
		}
	}
	if _, ok := o.solver.(*NonProjective); ok {
		o.expAbreast(θ, μ, value, u)
	}
	for _, b := range o.order {
		s := sentenceOf(θ, b)
		o.open(θ, b, u)
		arc, label := rowsOf(u, b)
		o.sum(&s, μ, label)
		value[b] = o.solver.Exp(o.summed, s.n, μ, arc)
		o.divide(&s, arc, label)
	}
}

// rowsOf returns the marginals of arcs and of relations, nil if u is.
func rowsOf(u *structured.Marginals, b int) (arc, label []float32) {
	if u == nil {
		return nil, nil
	}
	return u.Parts[0].Of(b), u.Parts[1].Of(b)
}

// sum sets the score of every arc and, unless it is nil, label to the terms of relations.
func (o *Oracle) sum(s *sentence, μ float64, label []float32) {
	if s.relations == 1 {
		o.sumArcs(s)
	} else {
		o.sumRelations(s, μ, label)
	}
}

// divide sets the marginals of relations to shares of those of arcs. label has the terms of sum.
func (o *Oracle) divide(s *sentence, arc, label []float32) {
	if s.relations == 1 {
		copy(label, arc)
		return
	}
	for i, p := range arc {
		row := label[i*s.relations : (i+1)*s.relations]
		if p == 0 {
			clear(row)
			continue
		}
		vec.Scale(p/o.share[i], row)
	}
}

// sumArcs sets every arc's score, for a sentence whose arcs have one relation each.
func (o *Oracle) sumArcs(s *sentence) {
	o.summed = vec.Grow(o.summed, s.n*s.n)
	for i, v := range s.arc {
		o.summed[i] = float64(v) + float64(s.label[i])
	}
}

// sumRelations sets every arc's score, including μ·log Σ exp(score/μ) of its relations. It sets share to Σ exp((score −
// largest)/μ) and, unless nil, label to the terms of that sum.
func (o *Oracle) sumRelations(s *sentence, μ float64, label []float32) {
	o.summed, o.share = vec.Grow(o.summed, s.n*s.n), vec.Grow(o.share, s.n*s.n)
	o.arc = vec.Grow(o.arc, s.n*s.n)
	fastest.largestOfRows(o.arc, s.label, s.relations)
	scale := float32(min(1/μ, math.MaxFloat32))
	if label == nil {
		o.label = vec.Grow(o.label, s.relations)
	}
	for i, v := range s.arc {
		row := s.row(i)
		largest := o.arc[i]
		if v == float32(minusInf) || largest == float32(minusInf) {
			o.summed[i] = minusInf
			continue
		}
		to := o.label
		if label != nil {
			to = label[i*s.relations:]
		}
		to = to[:s.relations]
		sum := fastest.shares(to, row, largest, scale)
		o.share[i] = float32(sum)
		o.summed[i] = float64(v) + float64(largest) + μ*math.Log(sum)
	}
}
