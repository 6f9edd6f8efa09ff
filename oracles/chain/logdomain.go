package chain

import (
	"math"

	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// logSums is forward-backward in the log domain: the backward recurrence
//
//	β_{t−1}(i) = μ log Σ_j exp((θ_t(i,j) + θ_t(j) + β_t(j))/μ)
//
// followed by a forward pass through the Markov chain that it defines,
//
//	P(y_t=j | y_{t−1}=i) = exp((θ_t(i,j) + θ_t(j) + β_t(j) − β_{t−1}(i))/μ).
//
// For any μ, only probabilities too small to matter underflow. To save logarithms, β is stored as b + μ log w with w
// between 1 and a large number. Scores are float64, because their rounding errors are divided by μ; their exponentials
// are float32.
//
// Rounding makes the Markov chain another one, but a Markov chain: forward repeats the sums of backward bit by bit, so
// that the probabilities after each label sum to 1 but for the roundings of a single step in float32, however large
// scores are; and those of each position are made to sum to 1 before the next step. So the marginals are those of some
// distribution over the outputs (Oracle.Proper).
type logSums struct {
	score []float64 // [T×stride] θ_t(j) + b_t(j), padded with −∞
	b     []float64 // [T×stride] b_t
	w     []float32 // [T×stride]
	top   float64   // the largest score at the first position
	none  []float32 // [stride] zeros: the edge potentials into the first position
	p     []float32 // [stride] marginals of one position
	next  []float32 // [stride] those of the next
	part  []float32 // [stride] the part of them that comes from a run of labels
	edge  []float32 // [Y×stride] marginals of edges
	total totals    // [Y×Y] their sums over the chain, if it shares them

	weights []float64 // [Y] of the labels that sample draws from
}

// weightLimit is the w above which log w moves to b.
const weightLimit = 1e6

// backward computes the scores and weights of the chain at positions lo to hi-1, and returns its value.
func (s *logSums) backward(c *Oracle, lo, hi int, μ float64) float64 {
	n, y, stride := hi-lo, c.y, c.stride
	s.score, s.b, s.w = vec.Grow(s.score, n*stride), vec.Grow(s.b, n*stride), vec.Grow(s.w, n*stride)
	s.none = vec.Grow(s.none, stride)
	clear(s.none)
	for t := n - 1; t >= 0; t-- {
		node, score, w := c.node(lo+t), s.score[t*stride:][:stride], s.w[t*stride:][:stride]
		for j := y; j < stride; j++ {
			score[j], w[j] = math.Inf(-1), 1
		}
		if t == n-1 {
			for j := range y {
				score[j], w[j] = float64(node[j]), 1
			}
			continue
		}
		edge, apart := c.edgeInto(lo + t + 1)
		for i := range y {
			b, sum := c.k.logSum(edge[i*apart:], s.score[(t+1)*stride:][:stride], s.w[(t+1)*stride:][:stride], 1/μ)
			if sum > weightLimit {
				from := b
				b += μ * math.Log(sum)
				if sum *= math.Exp((from - b) / μ); !(sum > 0.5 && sum < 2) { // about 1 is left, and has what b was rounded by, unless b has no digits for that
					sum = 1
				}
			}
			score[i], s.b[t*stride+i], w[i] = float64(node[i])+b, b, float32(sum)
		}
	}
	sum := 0.0
	s.top, sum = c.k.logSum(s.none, s.score[:stride], s.w[:stride], 1/μ)
	return s.top + μ*math.Log(sum)
}

// minProbability is a probability below which a label's successors are skipped.
const minProbability = 1e-30

// forward adds the marginals of chain b to u, which holds zeros. backward has computed its scores and weights.
func (s *logSums) forward(c *Oracle, b int, μ float64, u *chains.Marginals) {
	y, stride := c.y, c.stride
	lo, hi := c.θ.Offsets[b], c.θ.Offsets[b+1]
	s.p, s.next, s.part, s.edge = vec.Grow(s.p, stride), vec.Grow(s.next, stride), vec.Grow(s.part, stride), vec.Grow(s.edge, y*stride)
	nodes, edges := u.NodeOf(b), u.EdgeOf(b)
	clear(s.p)
	clear(s.edge)
	c.k.logSpread(s.p, s.edge, s.none, s.score[:stride], s.w[:stride], s.top, 1/μ, 1)
	sumToOne(s.p)
	copy(nodes[:y], s.p)
	clear(s.edge)
	s.total.clear(y * y)
	for t := 1; t < hi-lo; t++ {
		edge, apart := c.edgeInto(lo + t)
		clear(s.next)
		for from := 0; from < y; from += run {
			clear(s.part)
			for i, p := range s.p[from:min(y, from+run)] {
				if p < minProbability {
					continue
				}
				i += from
				predecessor := (t-1)*stride + i
				c.k.logSpread(s.part, s.edge[i*stride:], edge[i*apart:], s.score[t*stride:][:stride], s.w[t*stride:][:stride],
					s.b[predecessor], 1/μ, p/s.w[predecessor])
			}
			addTo(s.next, s.part)
		}
		sumToOne(s.next)
		if u.PerPosition {
			s.flush(edges[t*y*y:], y, stride)
		} else if t%stretch == 0 {
			s.flush(nil, y, stride)
		}
		copy(nodes[t*y:(t+1)*y], s.next)
		s.p, s.next = s.next, s.p
	}
	if !u.PerPosition {
		s.flush(nil, y, stride)
		s.total.write(edges)
	}
}

// sumToOne divides probabilities by their sum. Over many positions it would drift away from 1.
func sumToOne(p []float32) { vec.Scale(float32(1/vec.Sum(p)), p) }

// flush adds the marginals of edges to those in u, or of shared ones to their sums.
func (s *logSums) flush(to []float32, y, stride int) {
	for i := range y {
		if row := s.edge[i*stride:][:y]; to != nil {
			addTo(to[i*y:(i+1)*y], row)
		} else {
			s.total.add(i*y, row)
		}
	}
	clear(s.edge)
}
