package entities

import (
	"math"

	"github.com/dsp-go/dsp/structured/chains"
)

// Probability returns the probability that e is an entity of the labeling: that exactly these positions are one, of
// this type. It is the sum over all labelings that have e. It is 0 if no labeling is allowed.
func (s *Sums) Probability(e chains.Entity) float64 {
	s.begin(e.First, e.Type)
	for t := e.First + 1; t <= e.Last; t++ {
		s.extend(t, e.Type)
	}
	return s.share(e.Last, e.Type, s.close)
}

// LogProbability returns the logarithm of Probability, however small that is.
func (s *Sums) LogProbability(e chains.Entity) float64 {
	s.begin(e.First, e.Type)
	for t := e.First + 1; t <= e.Last; t++ {
		s.extend(t, e.Type)
	}
	return s.logShare(e.Last, e.Type, s.close)
}

// LogDoubt returns the logarithm of the probability that e is no entity of the labeling, however small that is. It adds
// up the labelings by the position where they leave e, and subtracts nothing.
func (s *Sums) LogDoubt(e chains.Entity) float64 {
	if math.IsInf(s.value, -1) {
		return 0
	}
	sum := math.Inf(-1)
	for j := range int32(s.y) { // at the first position no entity of the type opens
		β := s.row(s.β, e.First)[j]
		if s.rules.Type(j) != e.Type {
			sum = logAdd(sum, s.row(s.α, e.First)[j]+β)
		} else if e.First > 0 {
			for _, i := range s.into[j] {
				sum = logAdd(sum, s.row(s.α, e.First-1)[i]+s.edge(e.First, i, j)+s.node(e.First, j)+β)
			}
		}
	}
	s.begin(e.First, e.Type)
	for t := e.First; t < e.Last; t++ { // one that opened there closes too early
		for k, l := range s.of[e.Type] {
			sum = logAdd(sum, s.v[k]+s.row(s.close, t)[l])
		}
		s.extend(t+1, e.Type)
	}
	if next := e.Last + 1; next < s.n { // or goes on
		for k, from := range s.of[e.Type] {
			for _, to := range s.out[from] {
				sum = logAdd(sum, s.v[k]+s.edge(next, from, to)+s.node(next, to)+s.row(s.β, next)[to])
			}
		}
	}
	return math.Min(0, sum-s.value)
}

// AtLeast appends all entities with a probability of at least p > 0, by first and last position and type. They may
// overlap.
//
// The probability that an entity of type x starts at a position and has not ended before another falls as that other
// one moves on, and bounds the probability of all longer entities; the search stops where it is below p.
func (s *Sums) AtLeast(p float64, to []chains.Entity, probabilities []float64) ([]chains.Entity, []float64) {
	for first := range s.n {
		begun := len(to)
		for x := range int32(len(s.of)) {
			s.begin(first, x)
			for last := first; ; {
				if !(s.share(last, x, s.β) >= p) {
					break
				}
				if q := s.share(last, x, s.close); q >= p {
					to, probabilities = append(to, chains.Entity{First: first, Last: last, Type: x}), append(probabilities, q)
				}
				if last++; last == s.n {
					break
				}
				s.extend(last, x)
			}
		}
		sortByLast(to[begun:], probabilities[begun:])
	}
	return to, probabilities
}

// sortByLast sorts entities with the same first position by their last, and keeps the order of types: an insertion sort
// of a few.
func sortByLast(entities []chains.Entity, probabilities []float64) {
	for k := 1; k < len(entities); k++ {
		for i := k; i > 0 && entities[i].Last < entities[i-1].Last; i-- {
			entities[i], entities[i-1] = entities[i-1], entities[i]
			probabilities[i], probabilities[i-1] = probabilities[i-1], probabilities[i]
		}
	}
}

// begin sets v to the sums over what comes before an entity of type x that opens at first.
func (s *Sums) begin(first int, x int32) {
	for k, l := range s.of[x] {
		s.v[k] = s.row(s.open, first)[l]
	}
}

// extend continues the entity to position t.
func (s *Sums) extend(t int, x int32) {
	labels := s.of[x]
	for k, to := range labels {
		sum := math.Inf(-1)
		for i, from := range labels {
			if s.rules.Continue(from, to) {
				sum = logAdd(sum, s.v[i]+s.edge(t, from, to))
			}
		}
		s.next[k] = sum + s.node(t, to)
	}
	copy(s.v, s.next[:len(labels)])
}

// share returns the probability of the labelings in v, given sums over what comes after last.
func (s *Sums) share(last int, x int32, after []float64) float64 {
	return math.Exp(s.logShare(last, x, after))
}

func (s *Sums) logShare(last int, x int32, after []float64) float64 {
	if math.IsInf(s.value, -1) {
		return math.Inf(-1)
	}
	sum := math.Inf(-1)
	for k, l := range s.of[x] {
		sum = logAdd(sum, s.v[k]+s.row(after, last)[l])
	}
	return math.Min(0, sum-s.value)
}

// logAdd returns log(exp a + exp b).
func logAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

// logSum returns log Σ exp.
func logSum(xs []float64) float64 {
	sum := math.Inf(-1)
	for _, x := range xs {
		sum = logAdd(sum, x)
	}
	return sum
}
