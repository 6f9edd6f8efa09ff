package oracles

import (
	"math"

	"github.com/dsp-go/dsp/structured"
)

// Exp computes μ·log Σ_y exp(⟨θ,1_y⟩/μ) of every chain and its gradient by forward-backward.
//
// A chain whose potentials, over μ, span no more than float32 can hold runs on probabilities, scaled at each position
// (Rabiner 1989, section V.A). With n_t = exp(θ_t/μ) and E_t = exp(θ_t(·,·)/μ),
//
//	s_t = E_tᵀ α_{t−1},  α_t = n_t ∘ s_t / c_t with Σ_j α_t(j) = 1,  value = μ Σ_t log c_t,
//	g_t = n_t ∘ E_{t+1} g_{t+1} / z_t with Σ_j s_t(j) g_t(j) = 1,
//
// from which the marginals are s_t ∘ g_t of a node and α_{t−1}(i) E_t(i,j) g_t(j) of an edge. Any other chain runs in the
// log domain, which is slower and always holds.
func (c *Chain) Exp(θ *structured.Potentials, μ float64, value []float64, u *structured.Marginals) {
	c.prepare(θ)
	if u != nil {
		u.Resize(θ.Offsets, θ.Y, θ.PerPosition)
	}
	if !θ.PerPosition {
		c.sums.shareEdges(c, μ)
	}
	for b := range θ.Len() {
		value[b] = 0
		lo, hi := θ.Offsets[b], θ.Offsets[b+1]
		if lo < hi {
			if v, ok := c.sums.forward(c, lo, hi, μ); ok {
				value[b] = v
				if u != nil {
					c.sums.backward(c, b, u)
				}
				continue
			}
			value[b] = c.logs.backward(c, lo, hi, μ)
		}
		if u != nil {
			clear(u.NodeOf(b))
			clear(u.EdgeOf(b))
			if lo < hi && !math.IsInf(value[b], -1) {
				c.logs.forward(c, b, μ, value[b], u)
			}
		}
	}
}

// scaledSums is forward-backward on probabilities. Rows of its scratch are padded with zeros to the chain oracle's stride.
type scaledSums struct {
	edge   []float32 // [Y×stride] E, relative to its largest entry; per position [(T−1)×Y×stride]
	into   []float32 // [Y×stride] Eᵀ, of shared edges only
	bounds bounds    // of the edge potentials
	n      []float32 // [T×stride] n_t, relative to the largest of the chain
	s      []float32 // [T×stride] s_t
	α      []float32 // [T×stride] α_t
	g      []float32 // [T×stride] g_t
	β      []float32 // [stride] E_{t+1} g_{t+1}
	p      []float32 // [stride] marginals of a node
}

// bounds are the least and the largest of those numbers that are above a floor.
type bounds struct {
	lo, hi float32
	all    bool // none is at the floor
}

// exponents returns the largest difference of the numbers in units of μ.
func (b bounds) exponents(μ float64) float64 {
	if b.hi == never {
		return 0
	}
	return (float64(b.hi) - float64(b.lo)) / μ
}

// widest is the largest exponent R for which float32, whose least normal number is exp(−87.3), holds exp(−R) and a step of
// the recurrences from it. Where all outputs are allowed no α_t(j) is less than exp(−R)/Y with R the exponents that node and
// edge potentials span together. Where some are not, a forbidden transition can make α_t(j) arbitrarily small without
// making it zero, so that α is looked at: if none is less than exp(R − widest), the next step loses none.
const widest = 75

// shareEdges takes up the edge potentials of all chains.
func (s *scaledSums) shareEdges(c *Chain, μ float64) {
	s.bounds = c.k.bounds(c.θ.Edge, never)
	if s.bounds.exponents(μ) > widest {
		return
	}
	s.edge = grow(s.edge, c.y*c.stride)
	c.k.exps(s.edge, c.θ.Edge, c.y, c.y, c.stride, s.bounds.hi, 1/μ)
	s.into = grow(s.into, c.y*c.stride)
	clear(s.into)
	for i := range c.y {
		for j, e := range s.edge[i*c.stride:][:c.y] {
			s.into[j*c.stride+i] = e
		}
	}
}

// edgeInto returns E_t.
func (s *scaledSums) edgeInto(c *Chain, t int) []float32 {
	if c.θ.PerPosition {
		return s.edge[(t-1)*c.y*c.stride:]
	}
	return s.edge
}

// forward fills n, s and α for the chain at positions lo to hi-1 and returns its value, or false if the chain needs the
// log domain.
func (s *scaledSums) forward(c *Chain, lo, hi int, μ float64) (value float64, ok bool) {
	length, y := hi-lo, c.y
	var edges []float32
	if c.θ.PerPosition {
		edges = c.θ.Edge[(lo+1)*y*y : hi*y*y]
		s.bounds = c.k.bounds(edges, never)
	}
	node := c.k.bounds(c.θ.Node[lo*y:hi*y], never)
	exponents := node.exponents(μ) + s.bounds.exponents(μ)
	if !(exponents <= widest) || node.hi == never {
		return 0, false
	}
	if c.θ.PerPosition {
		s.edge = grow(s.edge, (length-1)*y*c.stride)
		c.k.exps(s.edge, edges, (length-1)*y, y, c.stride, s.bounds.hi, 1/μ)
	}
	s.n, s.s, s.α = grow(s.n, length*c.stride), grow(s.s, length*c.stride), grow(s.α, length*c.stride)
	c.k.exps(s.n, c.θ.Node[lo*y:hi*y], length, y, c.stride, node.hi, 1/μ)
	ones(s.s[:c.stride], y)
	product, log := 1.0, 0.0 // of the c_t; the logarithm is taken now and then
	for t := range length {
		n, α, predicted := s.n[t*c.stride:][:c.stride], s.α[t*c.stride:][:c.stride], s.s[t*c.stride:][:c.stride]
		if t > 0 {
			c.k.matVec(predicted, s.α[(t-1)*c.stride:][:c.stride], s.edgeInto(c, t), y)
		}
		scale := float64(c.k.normalise(α, n, predicted))
		if !(scale > 0) {
			return 0, false
		}
		if product *= scale; product < 1e-200 || product > 1e200 {
			log += math.Log(product)
			product = 1
		}
	}
	if !node.all || !s.bounds.all {
		if least := c.k.bounds(s.α, 0).lo; float64(least) < math.Exp(exponents-widest) {
			return 0, false
		}
	}
	value = μ*(log+math.Log(product)) + float64(length)*float64(node.hi)
	if length > 1 {
		value += float64(length-1) * float64(s.bounds.hi)
	}
	return value, true
}

// ones writes a 1 for each of the first y numbers of a row and zeros beyond.
func ones(row []float32, y int) {
	clear(row)
	for j := range y {
		row[j] = 1
	}
}

// backward writes the marginals of chain b, whose forward pass is there.
func (s *scaledSums) backward(c *Chain, b int, u *structured.Marginals) {
	lo, hi := c.θ.Offsets[b], c.θ.Offsets[b+1]
	length, y, stride := hi-lo, c.y, c.stride
	s.g, s.β, s.p = grow(s.g, length*stride), grow(s.β, stride), grow(s.p, stride)
	nodes, edges := u.NodeOf(b), u.EdgeOf(b)
	for t := length - 1; t >= 0; t-- {
		switch {
		case t == length-1:
			ones(s.β, y)
		case c.θ.PerPosition:
			c.k.matDots(s.β, s.g[(t+1)*stride:][:stride], s.edgeInto(c, t+1), y)
		default:
			c.k.matVec(s.β, s.g[(t+1)*stride:][:stride], s.into, y)
		}
		c.k.combine(s.g[t*stride:][:stride], s.p, s.n[t*stride:][:stride], s.s[t*stride:][:stride], s.β)
		copy(nodes[t*y:(t+1)*y], s.p)
	}
	if !u.PerPosition {
		c.k.edgeSums(edges, s.α, s.g[min(stride, len(s.g)):], s.edge, y, stride, length-1)
		return
	}
	clear(edges[:y*y])
	for t := 1; t < length; t++ {
		c.k.edgeSums(edges[t*y*y:], s.α[(t-1)*stride:], s.g[t*stride:], s.edgeInto(c, t), y, stride, 1)
	}
}
