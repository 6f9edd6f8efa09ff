package chain

import (
	"math"

	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// real is the type of the probabilities.
type real interface{ float32 | float64 }

// scaledSums is forward-backward on probabilities, scaled at each position (Rabiner 1989, section V.A). With
// n_t = exp(θ_t/μ) and E_t = exp(θ_t(·,·)/μ),
//
//	s_t = E_tᵀ α_{t−1},  α_t = n_t ∘ s_t / c_t with Σ_j α_t(j) = 1,  value = μ Σ_t log c_t,
//	g_t = n_t ∘ E_{t+1} g_{t+1} / z_t with Σ_j s_t(j) g_t(j) = 1,
//
// which gives the marginals s_t ∘ g_t of a node and α_{t−1}(i) E_t(i,j) g_t(j) of an edge. Rows of scratch are padded
// with zeros to the chain oracle's stride.
//
// Rounding: nothing is subtracted, so relative errors add up. Per position, the relative error of Z grows by at most
// depth(Y) + 5 units, where depth(Y) ≤ min(Y, 37 + Y/32), and by those of two exponentials (see errors.ofExp). A
// marginal is a quotient of two such sums, with at most twice the relative error of Z. The marginals of a node sum to 1
// up to depth(Y) + 5 units, and those of the edges of a step up to twice as many.
type scaledSums[F real] struct {
	k     *sumKernels[F]
	ready bool      // edge and into hold those of the batch
	edge  []F       // [Y×stride] E, relative to its largest entry; per position [(T−1)×Y×stride]
	into  []F       // [Y×stride] Eᵀ, for shared edges only
	n     []F       // [T×stride] n_t, relative to the largest of the chain
	s     []F       // [T×stride] s_t
	α     []F       // [T×stride] α_t
	g     []F       // [T×stride] g_t
	β     []F       // [stride] E_{t+1} g_{t+1}
	p     []float32 // [stride] marginals of a node
	part  []float32 // [Y×Y] marginals of the edges of a stretch of the chain
	total totals
}

// begin starts a new batch.
func (s *scaledSums[F]) begin(k *sumKernels[F]) { s.k, s.ready = k, false }

// run computes the value of chain b and, unless u is nil, its marginals. It returns false if the chain spans too much.
func (s *scaledSums[F]) run(c *Oracle, b int, over span, μ float64, u *chains.Marginals) (value float64, ok bool) {
	exponents := (over.node.width() + over.edge.width()) / μ
	if !(exponents <= s.k.widest) || over.node.hi == minusInf {
		return 0, false
	}
	lo, hi := c.θ.Offsets[b], c.θ.Offsets[b+1]
	if c.θ.PerPosition {
		steps := (hi - lo - 1) * c.y
		s.edge = vec.Grow(s.edge, steps*c.stride)
		s.k.exps(s.edge, c.θ.Edge[(lo+1)*c.y*c.y:hi*c.y*c.y], steps, c.y, c.stride, over.edge.hi, 1/μ)
	} else if !s.ready {
		s.shareEdges(c, over.edge, μ)
	}
	length := hi - lo
	s.n = vec.Grow(s.n, length*c.stride)
	s.k.exps(s.n, c.θ.Node[lo*c.y:hi*c.y], length, c.y, c.stride, over.node.hi, 1/μ)
	log, ok := s.forward(c, length, over.node.all && over.edge.all, exponents)
	if !ok {
		return 0, false
	}
	if u != nil {
		s.backward(c, b, u)
	}
	value = μ*log + float64(length)*float64(over.node.hi)
	if length > 1 {
		value += float64(length-1) * float64(over.edge.hi)
	}
	return value, true
}

// shareEdges computes the edge weights that all chains share.
func (s *scaledSums[F]) shareEdges(c *Oracle, edge bounds, μ float64) {
	s.edge = vec.Grow(s.edge, c.y*c.stride)
	s.k.exps(s.edge, c.θ.Edge, c.y, c.y, c.stride, edge.hi, 1/μ)
	s.turnEdges(c)
}

// turnEdges computes Eᵀ of shared edges.
func (s *scaledSums[F]) turnEdges(c *Oracle) {
	s.into = vec.Grow(s.into, c.y*c.stride)
	clear(s.into)
	for i := range c.y {
		for j, e := range s.edge[i*c.stride:][:c.y] {
			s.into[j*c.stride+i] = e
		}
	}
	s.ready = true
}

func (s *scaledSums[F]) edgeInto(c *Oracle, t int) []F {
	if c.θ.PerPosition {
		return s.edge[(t-1)*c.y*c.stride:]
	}
	return s.edge
}

// forward computes s and α of a chain whose n and E are known. It returns Σ_t log c_t, or false if too much underflows.
//
// Let R be the range of exponents that node and edge potentials span together, at most widest. If all outputs are
// allowed, every α_t(j) is at least exp(−R)/Y. Otherwise forbidden transitions can make α_t(j) arbitrarily small
// without making it zero, so forward checks α: if no entry is less than exp(R − widest), the next step loses none.
func (s *scaledSums[F]) forward(c *Oracle, length int, all bool, exponents float64) (log float64, ok bool) {
	y := c.y
	s.s, s.α = vec.Grow(s.s, length*c.stride), vec.Grow(s.α, length*c.stride)
	ones(s.s[:c.stride], y)
	product := 1.0 // of the c_t; the logarithm is taken only when needed
	for t := range length {
		n, α, predicted := s.n[t*c.stride:][:c.stride], s.α[t*c.stride:][:c.stride], s.s[t*c.stride:][:c.stride]
		if t > 0 {
			s.k.matVec(predicted, s.α[(t-1)*c.stride:][:c.stride], s.edgeInto(c, t), y)
		}
		scale := float64(s.k.normalise(α, n, predicted))
		if !(scale > 0) {
			return 0, false
		}
		if scale < 1e-100 {
			log += math.Log(scale)
		} else if product *= scale; product < 1e-100 || product > 1e100 {
			log += math.Log(product)
			product = 1
		}
	}
	if !all && float64(s.k.leastPositive(s.α)) < math.Exp(exponents-s.k.widest) {
		return 0, false
	}
	return log + math.Log(product), true
}

// ones writes 1 into the first y numbers of a row and 0 into the rest.
func ones[F real](row []F, y int) {
	clear(row)
	for j := range y {
		row[j] = 1
	}
}

// backward writes the marginals of chain b. forward has run on it.
func (s *scaledSums[F]) backward(c *Oracle, b int, u *chains.Marginals) {
	lo, hi := c.θ.Offsets[b], c.θ.Offsets[b+1]
	length, y, stride := hi-lo, c.y, c.stride
	nodes, edges := u.NodeOf(b), u.EdgeOf(b)
	s.back(c, length, nodes)
	if !u.PerPosition {
		s.sharedEdges(edges, y, stride, length-1)
		return
	}
	clear(edges[:y*y])
	for t := 1; t < length; t++ {
		s.k.edgeSums(edges[t*y*y:], s.α[(t-1)*stride:], s.g[t*stride:], s.edgeInto(c, t), y, stride, 1)
	}
}

// back computes g of a chain of the given length and, unless nodes is nil, the marginals of its nodes.
func (s *scaledSums[F]) back(c *Oracle, length int, nodes []float32) {
	y, stride := c.y, c.stride
	s.g, s.β, s.p = vec.Grow(s.g, length*stride), vec.Grow(s.β, stride), vec.Grow(s.p, stride)
	for t := length - 1; t >= 0; t-- {
		switch {
		case t == length-1:
			ones(s.β, y)
		case c.θ.PerPosition:
			s.k.matDots(s.β, s.g[(t+1)*stride:][:stride], s.edgeInto(c, t+1), y)
		default:
			s.k.matVec(s.β, s.g[(t+1)*stride:][:stride], s.into, y)
		}
		s.k.combine(s.g[t*stride:][:stride], s.p, s.n[t*stride:][:stride], s.s[t*stride:][:stride], s.β)
		if nodes != nil {
			copy(nodes[t*y:(t+1)*y], s.p)
		}
	}
}

// stretch is how many positions of a chain are summed up in float32 before their sum joins that of others in float64.
// So however long a chain is, sums over it are off by no more than half as many roundings.
const stretch = 32

// sharedEdges writes the marginals of the edges that all steps share.
func (s *scaledSums[F]) sharedEdges(to []float32, y, stride, steps int) {
	if steps <= stretch {
		s.k.edgeSums(to, s.α, s.g[min(stride, len(s.g)):], s.edge, y, stride, steps)
		return
	}
	s.part = vec.Grow(s.part, y*y)
	s.total.clear(y * y)
	for t := 0; t < steps; t += stretch {
		s.k.edgeSums(s.part, s.α[t*stride:], s.g[(t+1)*stride:], s.edge, y, stride, min(steps-t, stretch))
		s.total.add(0, s.part)
	}
	s.total.write(to)
}

// totals are sums of marginals over stretches of a chain.
type totals []float64

// clear makes n sums 0.
func (x *totals) clear(n int) {
	*x = vec.Grow(*x, n)
	clear(*x)
}

// add adds numbers to the sums from the first on.
func (x totals) add(first int, numbers []float32) {
	for i, v := range numbers {
		x[first+i] += float64(v)
	}
}

// write rounds the sums to float32.
func (x totals) write(to []float32) {
	for i, v := range x {
		to[i] = float32(v)
	}
}

// addTo adds the first numbers of x to those of to.
func addTo(to, x []float32) {
	for i, v := range x[:len(to)] {
		to[i] += v
	}
}
