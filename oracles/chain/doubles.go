package chain

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

var _ oracles.DoubleSummer = (*Oracle)(nil)

// doubleSums are scaledSums in float64 of potentials in float64, whose marginals stay in float64. Node potentials are
// relative to the largest of their position, which leaves the exponents of a trained model a smaller range than the
// largest of the chain does.
type doubleSums struct {
	scaledSums[float64]
	edges doubleBounds // of those that chains share, once ready
}

// doubleBounds are bounds of potentials in float64.
type doubleBounds struct {
	lo, hi float64 // +∞ and −∞ if all are −∞
	all    bool    // none is −∞
}

func doubleBoundsOf(x []float64) doubleBounds {
	b := doubleBounds{lo: math.Inf(1), hi: math.Inf(-1), all: true}
	for _, v := range x {
		if math.IsInf(v, -1) {
			b.all = false
			continue
		}
		b.lo, b.hi = min(b.lo, v), max(b.hi, v)
	}
	return b
}

// size returns the largest |x| that is not infinite.
func (b doubleBounds) size() float64 {
	if b.hi < b.lo {
		return 0
	}
	return max(math.Abs(b.lo), math.Abs(b.hi))
}

// width returns hi − lo, or 0 if all potentials are −∞.
func (b doubleBounds) width() float64 { return max(0, b.hi-b.lo) }

// ExpDoubly implements oracles.DoubleSummer.
//
// The errors are those of scaledSums (errors.ofExp), counted without regard to how likely an output is, since float64
// leaves room: in units of 2⁻⁵³, Z has
//
//	z = T (2·8 + Y + 5 + Y·2⁻¹⁶) + Y + 3X
//
// of them, relative: two exponentials of 8 units and sums over Y labels at each of T positions, underflow, the last
// sum, and three units for each unit of exponents, which are at most X = T·(range of a position's nodes + range of
// edges) along an output. A marginal is a quotient of two such sums, after at most T + 2Y + 32 more products and
// additions. log Z is Σ_t log c_t, whose terms add up to at most X + T log Y, plus what exponents were relative to, of
// T positions and T−1 steps.
func (c *Oracle) ExpDoubly(θ *structured.Potentials, x structured.Doubles, marginals bool, a *oracles.DoubleAnswer) {
	c.prepare(θ)
	a.Resize(θ.Len())
	d := &c.doubly
	d.begin(&c.k.double)
	for b := range θ.Len() {
		lo, hi := c.θ.Offsets[b], c.θ.Offsets[b+1]
		nodes, to := x[0][lo*c.y:hi*c.y], structured.Doubles(nil)
		if marginals {
			yy, first, last := c.y*c.y, b, b+1
			if c.θ.PerPosition {
				first, last = lo, hi
			}
			to = structured.Doubles{a.U[0][lo*c.y : hi*c.y], a.U[1][first*yy : last*yy]}
		}
		a.Value[b], a.Error[b], a.Noise[b], a.Size[b] = 0, 0, 0, 0
		if lo == hi {
			if marginals {
				clear(to[1])
			}
			continue
		}
		edges := x[1]
		if c.θ.PerPosition {
			edges = edges[(lo+1)*c.y*c.y : hi*c.y*c.y]
		}
		if !d.sum(c, nodes, edges, to, b, a) {
			a.Error[b], a.Noise[b] = math.Inf(1), math.Inf(1)
		}
	}
}

// sum answers for a chain of at least one position. It returns false if float64 does not hold its probabilities.
func (s *doubleSums) sum(c *Oracle, nodes, edges []float64, to structured.Doubles, b int, a *oracles.DoubleAnswer) bool {
	y, length := c.y, len(nodes)/c.y
	over := s.edges
	if !s.ready {
		over = doubleBoundsOf(edges)
	}
	if length == 1 {
		over = doubleBounds{all: true}
	}
	all, widest, tops, size := over.all, 0.0, 0.0, float64(length-1)*over.size()
	s.n = vec.Grow(s.n, length*c.stride)
	for t := range length {
		row := nodes[t*y:][:y]
		at := doubleBoundsOf(row)
		if math.IsInf(at.hi, -1) {
			return false
		}
		all, widest, tops, size = all && at.all, max(widest, at.width()), tops+at.hi, size+at.size()
		exponentials(s.n[t*c.stride:][:c.stride], row, at.hi)
	}
	exponents := widest + over.width()
	if !(exponents <= s.k.widest) || over.hi < over.lo {
		return false
	}
	switch {
	case length == 1:
	case c.θ.PerPosition:
		s.edge = vec.Grow(s.edge, (length-1)*y*c.stride)
		for i := range (length - 1) * y {
			exponentials(s.edge[i*c.stride:][:c.stride], edges[i*y:][:y], over.hi)
		}
	case !s.ready:
		s.edges, s.edge = over, vec.Grow(s.edge, y*c.stride)
		for i := range y {
			exponentials(s.edge[i*c.stride:][:c.stride], edges[i*y:][:y], over.hi)
		}
		s.turnEdges(c)
	}
	log, ok := s.forward(c, length, all, exponents)
	if !ok {
		return false
	}
	a.Value[b] = log + tops + float64(length-1)*over.hi
	T, Y := float64(length), float64(y)
	most := T * exponents
	z := T*(2*8+Y+5+Y*0x1p-16) + Y + 3*most
	a.Error[b] = oracles.Double * (z + 4*T + 4*(most+T*math.Log(Y)) + (T+4)*size)
	a.Noise[b] = math.Expm1(oracles.Double * (2*z + T + 2*Y + 32))
	a.Size[b] = size
	if to != nil {
		s.marginals(c, length, to)
	}
	return true
}

// exponentials writes exp(x − top) to the first numbers of a row, and zeros to the rest.
func exponentials(to, x []float64, top float64) {
	for j, v := range x {
		to[j] = math.Exp(v - top)
	}
	clear(to[len(x):])
}

// marginals writes the marginals of a chain. forward has run on it.
func (s *doubleSums) marginals(c *Oracle, length int, to structured.Doubles) {
	y, stride := c.y, c.stride
	s.back(c, length, nil)
	for t := range length {
		α, g := s.s[t*stride:][:y], s.g[t*stride:][:y]
		for j, p := range α {
			to[0][t*y+j] = p * g[j]
		}
	}
	if !c.θ.PerPosition {
		if length == 1 {
			clear(to[1])
			return
		}
		edgeSums(to[1], s.α, s.g[stride:], s.edge, y, stride, length-1)
		return
	}
	clear(to[1][:y*y])
	for t := 1; t < length; t++ {
		edgeSums(to[1][t*y*y:], s.α[(t-1)*stride:], s.g[t*stride:], s.edgeInto(c, t), y, stride, 1)
	}
}
