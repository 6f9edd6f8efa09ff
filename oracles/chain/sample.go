package chain

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/machine/vec"
)

// Sample implements oracles.Sampler. It sums forward once and then draws every output backward,
//
//	P(y_T = i) = α_T(i),   P(y_{t−1} = i | y_t = j) ∝ α_{t−1}(i) E_t(i, j),
//
// in O(T·Y) each (Scott 2002, forward filtering, backward sampling). Chains that need logarithms are summed backward and drawn forward.
func (c *Oracle) Sample(θ *structured.Potentials, μ float64, n int, seed []uint64, to *oracles.Samples) {
	c.prepare(θ)
	to.Resize(θ, n)
	c.single.begin(&c.k.single)
	c.double.begin(&c.k.double)
	for b := range θ.Len() {
		lo, hi := c.θ.Offsets[b], c.θ.Offsets[b+1]
		if lo == hi {
			continue
		}
		s := c.spanOf(lo, hi)
		if !s.node.valid() || !s.edge.valid() {
			to.Count[b] = 0
			continue
		}
		c.draws.Seed(seed[b])
		if _, ok := c.single.run(c, b, s, μ, nil); ok {
			c.single.sample(c, lo, hi, n, to)
		} else if _, ok := c.double.run(c, b, s, μ, nil); ok {
			c.double.sample(c, lo, hi, n, to)
		} else if math.IsInf(c.logs.backward(c, lo, hi, μ), -1) {
			to.Count[b] = 0
		} else {
			c.logs.sample(c, lo, hi, n, μ, to)
		}
	}
}

// sample draws the labels of the chain at positions lo to hi-1. forward has run on it.
func (s *scaledSums[F]) sample(c *Oracle, lo, hi, n int, to *oracles.Samples) {
	y, stride := c.y, c.stride
	for t := hi - lo - 1; t >= 0; t-- {
		α := s.α[t*stride:][:y]
		if t == hi-lo-1 {
			for k := range n {
				to.Values[k*to.N+hi-1] = int32(oracles.Pick(α, c.draws.Uniform()))
			}
			continue
		}
		sums := s.s[(t+1)*stride:][:y]
		for k := range n {
			out := to.Values[k*to.N+lo+t:][:2]
			j := int(out[1])
			at := c.draws.Uniform() * float64(sums[j])
			if c.θ.PerPosition {
				out[0] = pickColumn(α, s.edgeInto(c, t+1)[j:], stride, at)
			} else {
				out[0] = pickProduct(α, s.into[j*stride:], at)
			}
		}
	}
}

// pickProduct is oracles.Pick for the weights x_i·w_i.
func pickProduct[F real](x, w []F, at float64) int32 {
	w = w[:len(x)]
	last, sum := -1, 0.0
	for i, v := range x {
		p := float64(v) * float64(w[i])
		if sum += p; sum > at {
			return int32(i)
		}
		if p > 0 {
			last = i
		}
	}
	return int32(last)
}

// pickColumn is oracles.Pick for the weights x_i·w_{i·stride}.
func pickColumn[F real](x, w []F, stride int, at float64) int32 {
	last, sum := -1, 0.0
	for i, v := range x {
		p := float64(v) * float64(w[i*stride])
		if sum += p; sum > at {
			return int32(i)
		}
		if p > 0 {
			last = i
		}
	}
	return int32(last)
}

// sample draws the labels of the chain at positions lo to hi-1. backward has computed its scores and weights.
func (s *logSums) sample(c *Oracle, lo, hi, n int, μ float64, to *oracles.Samples) {
	y, stride := c.y, c.stride
	s.weights = vec.Grow(s.weights, y)
	for t := range hi - lo {
		edge, apart := s.none, 0
		if t > 0 {
			edge, apart = c.edgeInto(lo + t)
		}
		score, w := s.score[t*stride:][:stride], s.w[t*stride:][:y]
		for k := range n {
			out, row := to.Values[k*to.N+lo:k*to.N+hi], edge
			if t > 0 {
				row = edge[int(out[t-1])*apart:]
			}
			m, _ := c.k.logSum(row, score, s.w[t*stride:][:stride], 1/μ)
			sum := 0.0
			for j := range y {
				s.weights[j] = float64(w[j]) * math.Exp((float64(row[j])+score[j]-m)/μ)
				sum += s.weights[j]
			}
			out[t] = int32(oracles.Pick(s.weights, c.draws.Uniform()*sum))
		}
	}
}
