package tree

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/derivations"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/structured/trees"
)

// NewSiblings returns an oracle of projective trees whose neighbouring dependents score together (trees.SpanningTree
// with Siblings).
func NewSiblings() *Oracle { return &Oracle{solver: new(Siblings)} }

// Siblings does inference over projective trees with scores of siblings, in float64 (McDonald and Pereira 2006; Eisner
// 1996). With ⊕ for max or log Σ exp, and heads h before dependents d, as for arcs to the right; those to the left
// mirror it:
//
//	sibling(i, j) = ⊕_{i≤r<j} right(i, r) + left(j, r+1)                  no word between i and j has a head outside; both are complete there
//	arc(h, d)     = score of h → d + (left(d, h+1) + none(h, d)  ⊕  ⊕_{h<s<d} arc(h, s) + sibling(s, d) + after(h, s, d))
//	right(h, e)   = ⊕_{h<d≤e} arc(h, d) + right(d, e),                    right(h, h) = 0
//	total         = ⊕_r left(r, 0) + right(r, n−1) + score of the root's arc to r
//
// Tables are [n×n]; each sum runs over contiguous numbers of all its operands, some of which are stored twice for that.
type Siblings struct {
	sibling   []float32 // scores of the open sentence, in the rows of trees.SiblingRow
	marginals []float32 // theirs, or nil

	n       int
	arc     []float64 // scores over μ, laid out as potentials are
	rate    float64
	first   []int     // [n×n] row of none of each dependent and head
	firstOf int       // n of first
	arcs    []float64 // by head and dependent
	side    []float64 // right(h, e) if h ≤ e, else left(h, e), by h
	sideTo  []float64 // the same by e
	joint   []float64 // sibling(i, j) by i for i < j, and by j in its place mirrored
	total   float64

	// Probabilities of the entries.
	pArcs, pSide, pJoint []float64
	terms                []float64

	ranking derivations.Ranking
}

// prepare takes scores of arcs, times the rate.
func (s *Siblings) prepare(n int, rate float64, score func(k int) float64) {
	s.n, s.rate = n, rate
	for _, table := range []*[]float64{&s.arc, &s.arcs, &s.side, &s.sideTo, &s.joint} {
		*table = vec.Grow(*table, n*n)
	}
	for k := range s.arc {
		s.arc[k] = score(k) * rate
	}
	if s.firstOf != n {
		s.first, s.firstOf = vec.Grow(s.first, n*n), n
		for d := range n {
			for h := range n {
				if h != d {
					s.first[d*n+h] = trees.SiblingRow(n, d, h)
				}
			}
		}
	}
}

// reduce is ⊕.
type reduce func(x []float64) float64

func largestOf(x []float64) float64 {
	top := minusInf
	for _, v := range x {
		if v > top {
			top = v
		}
	}
	return top
}

func logSumOf(x []float64) float64 {
	if len(x) == 1 {
		return x[0]
	}
	top := largestOf(x)
	if top == minusInf {
		return top
	}
	sum := 0.0
	for _, v := range x {
		if v -= top; v > -700 {
			sum += math.Exp(v)
		}
	}
	return top + math.Log(sum)
}

// inside fills the tables from narrow spans to wide ones.
func (s *Siblings) inside(plus reduce) {
	n := s.n
	s.terms = vec.Grow(s.terms, n+1)
	for i := range n {
		s.side[i*n+i], s.sideTo[i*n+i] = 0, 0
	}
	for w := 1; w < n; w++ {
		for i := range n - w {
			j := i + w
			s.joint[i*n+j] = plus(s.jointTerms(i, j))
			s.joint[j*n+i] = s.joint[i*n+j]
		}
		for i := range n - w {
			j := i + w
			s.arcs[i*n+j] = s.arc[j*n+i] + plus(s.arcTerms(i, j))
			s.arcs[j*n+i] = s.arc[i*n+j] + plus(s.arcTerms(j, i))
			s.side[i*n+j] = plus(s.sideTerms(i, j))
			s.side[j*n+i] = plus(s.sideTerms(j, i))
			s.sideTo[j*n+i], s.sideTo[i*n+j] = s.side[i*n+j], s.side[j*n+i]
		}
	}
	s.total = plus(s.rootTerms())
}

// jointTerms returns what sibling(i, j) is made of, for i < j and the places i ≤ r < j where it divides.
func (s *Siblings) jointTerms(i, j int) []float64 {
	terms, right, left := s.terms[:j-i], s.side[i*s.n+i:], s.side[j*s.n+i+1:]
	for k := range terms {
		terms[k] = right[k] + left[k]
	}
	return terms
}

// arcTerms returns what arc(h, d) is made of: for none, and for each word between, in their order.
func (s *Siblings) arcTerms(h, d int) []float64 {
	n, lo, hi := s.n, min(h, d), max(h, d)
	scores := s.sibling[s.first[d*n+h]:][:hi-lo]
	terms := s.terms[:hi-lo]
	inner := lo + 1 // where the dependent's side towards the head ends
	if d < h {
		inner = hi - 1
	}
	terms[0] = s.side[d*n+inner] + float64(scores[0])*s.rate
	arcs, joint := s.arcs[h*n+lo:], s.joint[d*n+lo:]
	for k := 1; k < len(terms); k++ {
		terms[k] = arcs[k] + joint[k] + float64(scores[k])*s.rate
	}
	return terms
}

// sideTerms returns what right(h, e) or left(h, e) is made of, for each word between h, without it, and e, in their
// order.
func (s *Siblings) sideTerms(h, e int) []float64 {
	n := s.n
	from := min(h+1, e) // the first of these words
	terms := s.terms[:max(h-e, e-h)]
	arcs, rest := s.arcs[h*n+from:], s.sideTo[e*n+from:]
	for k := range terms {
		terms[k] = arcs[k] + rest[k]
	}
	return terms
}

// rootTerms returns what the total is made of, for each word that depends on the root.
func (s *Siblings) rootTerms() []float64 {
	n := s.n
	terms := s.terms[:n]
	for r := range terms {
		terms[r] = s.side[r*n] + s.side[r*n+n-1] + s.arc[r*n+r]
	}
	return terms
}

// Max finds the best tree and returns its score. If no tree is allowed, heads are 0.
func (s *Siblings) Max(arc []float32, n int, heads []int32) float64 {
	clear(heads[:n])
	if n == 0 {
		return 0
	}
	s.prepare(n, 1, func(k int) float64 { return float64(arc[k]) })
	s.inside(largestOf)
	if s.total == minusInf {
		return minusInf
	}
	s.derive(func(terms []float64, _ float64) int {
		best := 0
		for k, v := range terms {
			if v > terms[best] {
				best = k
			}
		}
		return best
	}, heads)
	return s.total
}

// derive writes a tree, whose parts are chosen among the terms of each entry.
func (s *Siblings) derive(choose func(terms []float64, value float64) int, heads []int32) {
	var from func(e place)
	from = func(e place) {
		if e.isLeaf() {
			return
		}
		term := choose(s.termsOf(e), s.valueOf(e))
		e.set(term, heads)
		a, b := s.partsOf(e, term)
		from(a)
		from(b)
	}
	from(place{kind: ofRoot})
}

// sums fills the tables with sums at temperature μ, and reports whether there is a tree.
func (s *Siblings) sums(arc []float64, n int, μ float64) bool {
	s.prepare(n, 1/μ, func(k int) float64 { return arc[k] })
	s.inside(logSumOf)
	return s.total > minusInf
}

// Exp returns μ·log Σ exp(score/μ) over all trees. It writes the probability of every arc at temperature μ to marginals
// (n×n, laid out like arc; nil skips them), and those of siblings where these belong.
func (s *Siblings) Exp(arc []float64, n int, μ float64, marginals []float32) float64 {
	if marginals != nil {
		clear(marginals[:n*n])
	}
	if n == 0 {
		return 0
	}
	if s.sums(arc, n, μ) && marginals != nil {
		s.outside(marginals)
	}
	return μ * s.total
}

// Sample draws trees with probabilities proportional to exp(score/μ), from the top of the tables down.
func (s *Siblings) Sample(arc []float64, n int, μ float64, count int, r *oracles.Draws, heads []int32) bool {
	if !s.sums(arc, n, μ) {
		return false
	}
	choose := func(terms []float64, value float64) int {
		if len(terms) == 1 {
			return 0
		}
		for k, v := range terms {
			terms[k] = math.Exp(v - value)
		}
		return max(0, oracles.Pick(terms, r.Uniform()*sumOf(terms)))
	}
	for k := range count {
		s.derive(choose, heads[k*n:(k+1)*n])
	}
	return true
}

func sumOf(x []float64) float64 {
	total := 0.0
	for _, v := range x {
		total += v
	}
	return total
}

// share multiplies the shares of terms in their sum by p, in place.
func share(terms []float64, p float64) []float64 {
	if len(terms) == 1 {
		terms[0] = p
		return terms
	}
	top, total := largestOf(terms), 0.0
	for k, v := range terms {
		terms[k] = 0
		if v > minusInf {
			terms[k] = math.Exp(v - top)
		}
		total += terms[k]
	}
	for k := range terms {
		terms[k] *= p / total
	}
	return terms
}

// outside writes marginals: the probability of an entry goes to its terms by their shares, from wide spans to narrow
// ones.
func (s *Siblings) outside(marginals []float32) {
	n := s.n
	for _, table := range []*[]float64{&s.pArcs, &s.pSide, &s.pJoint} {
		*table = vec.Grow(*table, n*n)
		clear(*table)
	}
	for r, q := range share(s.rootTerms(), 1) {
		marginals[r*n+r] = float32(q)
		s.pSide[r*n] += q
		s.pSide[r*n+n-1] += q
	}
	for w := n - 1; w > 0; w-- {
		for i := range n - w {
			j := i + w
			s.spreadSide(i, j)
			s.spreadSide(j, i)
			s.spreadArc(i, j, marginals)
			s.spreadArc(j, i, marginals)
		}
		for i := range n - w {
			j := i + w
			if p := s.pJoint[i*n+j]; p > 0 {
				for k, q := range share(s.jointTerms(i, j), p) {
					s.pSide[i*n+i+k] += q
					s.pSide[j*n+i+k+1] += q
				}
			}
		}
	}
}

func (s *Siblings) spreadSide(h, e int) {
	n := s.n
	p := s.pSide[h*n+e]
	if !(p > 0) {
		return
	}
	from := min(h+1, e)
	for k, q := range share(s.sideTerms(h, e), p) {
		s.pArcs[h*n+from+k] += q
		s.pSide[(from+k)*n+e] += q
	}
}

func (s *Siblings) spreadArc(h, d int, marginals []float32) {
	n, lo := s.n, min(h, d)
	p := s.pArcs[h*n+d]
	marginals[d*n+h] = float32(p)
	if !(p > 0) {
		return
	}
	shares := share(s.arcTerms(h, d), p)
	if s.marginals != nil {
		to := s.marginals[s.first[d*n+h]:]
		for k, q := range shares {
			to[k] = float32(q)
		}
	}
	inner := h + 1
	if d < h {
		inner = h - 1
	}
	s.pSide[d*n+inner] += shares[0]
	for k := 1; k < len(shares); k++ {
		s.pArcs[h*n+lo+k] += shares[k]
		s.pJoint[min(d, lo+k)*n+max(d, lo+k)] += shares[k]
	}
}
