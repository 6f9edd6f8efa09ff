package chain

import (
	"math"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// blockSums are scaledSums of second-order chains, over blocks.
type blockSums[F real] struct {
	k          *sumKernels[F]
	e, into    []F // the blocks' weights relative to the largest, and those with rows and columns exchanged
	n, s, α, g []F // [T×width]
	β          []F // [width]
	prev       []F // [most]

	p        []float32 // [width] marginals of the states at a position
	pairs    []float64 // [pairs] their sums over positions
	from, to []F       // of a block: α before and g after, [steps×stride]
	part     []float32 // the sums of their products, [size×size]
	total    totals    // and over stretches
}

// beginSums prepares the sums of a batch.
func (c *blocks) beginSums() { c.single.e, c.double.e = c.single.e[:0], c.double.e[:0] }

// sum computes the value of chain b, whose potentials are valid, and adds its marginals to u unless that is nil. It
// returns false if even float64 does not hold the probabilities; u is then as it was.
func (c *blocks) sum(b int, μ float64, u *structured.Marginals) (value float64, ok bool) {
	T, y := c.load(b), c.θ.Y
	if T == 0 {
		return 0, true
	}
	start := c.node[:y]
	top := start[argmax(start)]
	if top == minusInf {
		return math.Inf(-1), true
	}
	c.first = vec.Grow(c.first, y)
	total := 0.0
	for j, x := range start {
		c.first[j] = math.Exp((float64(x) - float64(top)) / μ)
		total += c.first[j]
	}
	if T == 1 {
		if u != nil {
			for j, p := range c.first {
				u.Parts[0].Of(b)[j] = float32(p / total)
			}
		}
		return float64(top) + μ*math.Log(total), true
	}
	over := c.k.bounds(c.node[c.width : T*c.width])
	if over.hi == minusInf {
		return 0, false
	}
	exponents := (c.k.bounds(start).width() + over.width() + c.span.width()) / μ
	if value, ok = c.single.run(c, &c.k.single, T, over.hi, exponents, μ); ok && u != nil {
		c.single.backward(c, T, b, u)
	}
	if !ok {
		if value, ok = c.double.run(c, &c.k.double, T, over.hi, exponents, μ); ok && u != nil {
			c.double.backward(c, T, b, u)
		}
	}
	return value + float64(top) + float64(T-1)*float64(over.hi) + float64(T-2)*c.span.top(), ok
}

// run computes n, s and α of a chain of T ≥ 2 positions, and the value without what was taken off before exponentials.
// The conditions are those of scaledSums, for states of which not all follow each other.
func (s *blockSums[F]) run(c *blocks, k *sumKernels[F], T int, top float32, exponents, μ float64) (value float64, ok bool) {
	if !(exponents <= k.widest) {
		return 0, false
	}
	s.prepare(c, k, μ)
	s.n, s.s, s.α = vec.Grow(s.n, T*c.width), vec.Grow(s.s, T*c.width), vec.Grow(s.α, T*c.width)
	k.exps(s.n[c.width:], c.node[c.width:T*c.width], T-1, c.width, c.width, top, 1/μ)
	log := 0.0
	for t := 1; t < T; t++ {
		sums := s.s[t*c.width:][:c.width]
		for j, size := range c.size {
			to := sums[c.base[j]:][:c.stride[j]]
			if t == 1 {
				for k := range to {
					to[k] = F(c.first[j])
				}
				continue
			}
			k.matVec(to, gather(c, s.prev, s.α[(t-1)*c.width:], j, 0), s.e[c.block[j]:], size)
		}
		scale := float64(k.normalise(s.α[t*c.width:][:c.width], s.n[t*c.width:][:c.width], sums))
		if !(scale > 0) {
			return 0, false
		}
		log += math.Log(scale)
	}
	return μ * log, float64(k.leastPositive(s.α[c.width:T*c.width])) >= math.Exp(exponents-k.widest)
}

// prepare computes the weights of the blocks, once for a batch.
func (s *blockSums[F]) prepare(c *blocks, k *sumKernels[F], μ float64) {
	if s.k = k; len(s.e) == len(c.edge) && len(s.e) > 0 {
		return
	}
	s.e, s.into = vec.Grow(s.e, len(c.edge)), vec.Grow(s.into, len(c.edge))
	s.prev = vec.Grow(s.prev, c.most)
	k.exps(s.e, c.edge, 1, len(c.edge), len(c.edge), c.span.hi, 1/μ)
	for j, size := range c.size {
		e, into, stride := s.e[c.block[j]:], s.into[c.block[j]:], c.stride[j]
		for i := range size {
			for k, x := range e[i*stride:][:size] {
				into[k*stride+i] = x
			}
			clear(into[i*stride+size : (i+1)*stride])
		}
	}
}

// backward adds the marginals of chain b. run has run on it.
func (s *blockSums[F]) backward(c *blocks, T, b int, u *structured.Marginals) {
	y := c.θ.Y
	s.g, s.β, s.p = vec.Grow(s.g, T*c.width), vec.Grow(s.β, c.width), vec.Grow(s.p, c.width)
	s.pairs = vec.Grow(s.pairs, len(c.at))
	clear(s.pairs)
	clear(s.β)
	nodes, edges, triples := u.Parts[0].Of(b), u.Parts[1].Of(b), u.Parts[2].Of(b)
	for t := T - 1; t > 0; t-- {
		for j, size := range c.size {
			if t == T-1 {
				for _, at := range c.before[j] {
					s.β[at] = 1
				}
				continue
			}
			back := s.prev[:c.stride[j]]
			s.k.matVec(back, s.g[(t+1)*c.width+c.base[j]:][:size], s.into[c.block[j]:], size)
			for i, at := range c.before[j] {
				s.β[at] = back[i]
			}
		}
		s.k.combine(s.g[t*c.width:][:c.width], s.p, s.n[t*c.width:], s.s[t*c.width:], s.β)
		row := nodes[t*y:][:y]
		for p, at := range c.at {
			q := s.p[at]
			s.pairs[p] += float64(q)
			row[c.second[p]] += q
		}
		if t > 1 {
			continue
		}
		for i := range y {
			for _, q := range s.p[c.base[i]:][:c.stride[i]] {
				nodes[i] += q
			}
		}
	}
	for p, pair := range c.steps.Pairs {
		edges[pair] += float32(s.pairs[p])
	}
	for j := range y {
		s.addTriples(c, T, j, triples)
	}
}

// addTriples adds the marginals of the triples with label j in the middle.
func (s *blockSums[F]) addTriples(c *blocks, T, j int, triples []float32) {
	size, stride := c.size[j], c.stride[j]
	s.part = vec.Grow(s.part, size*size)
	s.total.clear(size * size)
	for from := 2; from < T; from += stretch {
		steps := min(T-from, stretch)
		s.from, s.to = vec.Grow(s.from, steps*stride), vec.Grow(s.to, steps*stride)
		for t := range steps {
			row := s.from[t*stride:][:stride]
			clear(row[len(gather(c, row, s.α[(from+t-1)*c.width:], j, 0)):])
			copy(s.to[t*stride:][:stride], s.g[(from+t)*c.width+c.base[j]:])
		}
		s.k.edgeSums(s.part, s.from, s.to, s.e[c.block[j]:], size, stride, steps)
		s.total.add(0, s.part)
	}
	for _, triple := range c.middle[j] {
		at := int(c.triple[triple]) - c.block[j]
		triples[triple] += float32(s.total[at/stride*size+at%stride])
	}
}
