package chain

import (
	"math"

	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/machine/vec"
)

// logSums is forward-backward in the log domain: the backward recurrence
//
//	β_{t−1}(i) = μ log Σ_j exp((θ_t(i,j) + θ_t(j) + β_t(j))/μ)
//
// followed by a forward pass through the Markov chain that it defines,
//
//	P(y_t=j | y_{t−1}=i) = exp((θ_t(i,j) + θ_t(j) + β_t(j) − β_{t−1}(i))/μ).
//
// For any μ, only probabilities too small to matter underflow. To save logarithms, β is stored as b + μ log w with w between 1
// and a large number. Scores are float64, because their rounding errors are divided by μ; their exponentials are float32.
type logSums struct {
	score []float64 // [T×stride] θ_t(j) + b_t(j), padded with −∞
	w     []float32 // [T×stride]
	none  []float32 // [stride] zeros: the edge potentials into the first position
	p     []float32 // [stride] marginals of one position
	next  []float32 // [stride] those of the next
	part  []float32 // [stride] the part of them that comes from a run of labels
	edge  []float32 // [Y×stride] marginals of edges

	weights []float64 // [Y] of the labels that sample draws from
}

// weightLimit is the w above which log w moves to b.
const weightLimit = 1e6

// backward computes the scores and weights of the chain at positions lo to hi-1, and returns its value.
func (s *logSums) backward(c *Oracle, lo, hi int, μ float64) float64 {
	n, y, stride := hi-lo, c.y, c.stride
	s.score, s.w = vec.Grow(s.score, n*stride), vec.Grow(s.w, n*stride)
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
				b, sum = b+μ*math.Log(sum), 1
			}
			score[i], w[i] = float64(node[i])+b, float32(sum)
		}
	}
	m, sum := c.k.logSum(s.none, s.score[:stride], s.w[:stride], 1/μ)
	return m + μ*math.Log(sum)
}

// minProbability is a probability below which a label's successors are skipped.
const minProbability = 1e-30

// forward adds the marginals of chain b to u, which holds zeros. backward has computed its scores and weights.
func (s *logSums) forward(c *Oracle, b int, μ, value float64, u *chains.Marginals) {
	y, stride := c.y, c.stride
	lo, hi := c.θ.Offsets[b], c.θ.Offsets[b+1]
	s.p, s.next, s.part, s.edge = vec.Grow(s.p, stride), vec.Grow(s.next, stride), vec.Grow(s.part, stride), vec.Grow(s.edge, y*stride)
	nodes, edges := u.NodeOf(b), u.EdgeOf(b)
	clear(s.p)
	clear(s.edge)
	c.k.logSpread(s.p, s.edge, s.none, s.score[:stride], s.w[:stride], value, 1/μ, 1)
	copy(nodes[:y], s.p)
	clear(s.edge)
	for t := 1; t < hi-lo; t++ {
		edge, apart := c.edgeInto(lo + t)
		node := c.node(lo + t - 1)
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
					s.score[predecessor]-float64(node[i]), 1/μ, p/s.w[predecessor])
			}
			addTo(s.next, s.part)
		}
		if u.PerPosition {
			s.flush(edges[t*y*y:], y, stride)
		} else if t%stretch == 0 {
			s.flush(edges, y, stride)
		}
		copy(nodes[t*y:(t+1)*y], s.next)
		s.p, s.next = s.next, s.p
	}
	if !u.PerPosition {
		s.flush(edges, y, stride)
	}
}

// flush adds the marginals of edges to those in u.
func (s *logSums) flush(to []float32, y, stride int) {
	for i := range y {
		addTo(to[i*y:(i+1)*y], s.edge[i*stride:])
	}
	clear(s.edge)
}
