package chain

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Sample implements oracles.Sampler. It sums forward once and then draws every output backward,
//
//	P(y_T = i) = α_T(i),   P(y_{t−1} = i | y_t = j) ∝ α_{t−1}(i) E_t(i, j),
//
// in O(T·Y) each (Scott 2002, forward filtering, backward sampling). Chains that need logarithms are summed backward
// and drawn forward.
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

// pickBlock is how many weights are summed between two looks at the sum. What is drawn is not predictable, so that a
// look costs as much as many sums.
const pickBlock = 32

// pickProduct is oracles.Pick for the weights x_i·w_i: the number of running sums that do not exceed at.
func pickProduct[F real](x, w []F, at float64) int32 {
	w = w[:len(x)]
	sum, passed := 0.0, 0
	for lo := 0; lo < len(x); lo += pickBlock {
		hi := min(lo+pickBlock, len(x))
		part := w[lo:hi]
		for i, v := range x[lo:hi] {
			sum += float64(v * part[i])
			passes := 0
			if sum <= at { // a number, not a branch
				passes = 1
			}
			passed += passes
		}
		if sum > at {
			return int32(passed)
		}
	}
	return lastPositive(x, w, 1)
}

// lastPositive returns the last i with a positive weight x_i·w_{i·stride}, −1 if there is none. Rounding left the sum
// of all below what was drawn.
func lastPositive[F real](x, w []F, stride int) int32 {
	for i := len(x) - 1; i >= 0; i-- {
		if x[i]*w[i*stride] > 0 {
			return int32(i)
		}
	}
	return -1
}

// pickColumn is oracles.Pick for the weights x_i·w_{i·stride}.
func pickColumn[F real](x, w []F, stride int, at float64) int32 {
	sum, passed := 0.0, 0
	for lo := 0; lo < len(x); lo += pickBlock {
		for i, v := range x[lo:min(lo+pickBlock, len(x))] {
			sum += float64(v * w[(lo+i)*stride])
			passes := 0
			if sum <= at {
				passes = 1
			}
			passed += passes
		}
		if sum > at {
			return int32(passed)
		}
	}
	return lastPositive(x, w, stride)
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
