package oracles

import (
	"math"

	"github.com/dsp-go/dsp/structured"
)

// logSums is forward-backward in the log domain, in float64: the backward recurrence
//
//	β_{t−1}(i) = μ log Σ_j exp((θ_t(i,j) + θ_t(j) + β_t(j))/μ)
//
// and then forward through the Markov chain that it defines,
//
//	P(y_t=j | y_{t−1}=i) = exp((θ_t(i,j) + θ_t(j) + β_t(j) − β_{t−1}(i))/μ).
//
// Whatever μ, nothing here underflows but probabilities that do not matter.
type logSums struct {
	score []float64 // [T×Y] θ_t(j) + β_t(j)
	p     []float64 // [Y] marginals of one position
	next  []float64 // [Y] those of the next
}

// backward fills the scores θ_t(j) + β_t(j) of the chain at positions lo to hi-1 and returns its value.
func (s *logSums) backward(c *Chain, lo, hi int, μ float64) float64 {
	n, y := hi-lo, c.y
	s.score = grow(s.score, n*y)
	last := s.score[(n-1)*y:]
	for j, v := range c.θ.Node[(hi-1)*y : hi*y] {
		last[j] = float64(v)
	}
	for t := n - 1; t > 0; t-- {
		row, prev, edge, node := s.score[t*y:][:y], s.score[(t-1)*y:][:y], c.θ.EdgeAt(lo+t), c.node(lo+t-1)
		for i := range prev {
			prev[i] = float64(node[i]) + logSumExp(edge[i*y:][:y], row, μ)
		}
	}
	return logSumExp(c.θ.Node[:0], s.score[:y], μ)
}

// negligible is the exponent below which a term of a sum whose largest is 1 no longer shows in float64.
const negligible = -40

// logSumExp returns μ·log Σ_j exp((edge_j + score_j)/μ). An empty edge counts as 0.
func logSumExp(edge []float32, score []float64, μ float64) float64 {
	m := math.Inf(-1)
	for j, v := range score {
		if len(edge) > 0 {
			v += float64(edge[j])
		}
		m = max(m, v)
	}
	if math.IsInf(m, -1) {
		return m
	}
	sum := 0.0
	for j, v := range score {
		if len(edge) > 0 {
			v += float64(edge[j])
		}
		if x := (v - m) / μ; x > negligible {
			sum += math.Exp(x)
		}
	}
	return m + μ*math.Log(sum)
}

// forward adds the marginals of chain b, whose scores are there, to u.
func (s *logSums) forward(c *Chain, b int, μ, value float64, u *structured.Marginals) {
	y := c.y
	lo, hi := c.θ.Offsets[b], c.θ.Offsets[b+1]
	node, edges := u.NodeOf(b), u.EdgeOf(b)
	s.p, s.next = grow(s.p, y), grow(s.next, y)
	for j, v := range s.score[:y] {
		s.p[j] = math.Exp((v - value) / μ)
		node[j] = float32(s.p[j])
	}
	for t := 1; t < hi-lo; t++ {
		row, prev, θ, prevNode := s.score[t*y:][:y], s.score[(t-1)*y:][:y], c.θ.EdgeAt(lo+t), c.node(lo+t-1)
		edge := edges
		if u.PerPosition {
			edge = edges[t*y*y:]
		}
		clear(s.next)
		for i, p := range s.p {
			if p == 0 {
				continue
			}
			β := prev[i] - float64(prevNode[i])
			for j, v := range row {
				if x := (float64(θ[i*y+j]) + v - β) / μ; x > negligible {
					q := p * math.Exp(x)
					edge[i*y+j] += float32(q)
					s.next[j] += q
				}
			}
		}
		for j, p := range s.next {
			node[t*y+j] = float32(p)
		}
		s.p, s.next = s.next, s.p
	}
}
