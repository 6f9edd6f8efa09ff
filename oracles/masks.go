package oracles

import (
	"math"
	"slices"

	"github.com/dsp-go/dsp/structured"
)

// Masks are large negative potentials of an example, which users put in place of −∞. An oracle that takes differences
// of sums loses the digits of all others beside them. So it leaves out outputs that have any at first, as if they were
// −∞, and asks for the others only if it has not found enough outputs without.
type Masks struct {
	Floor float64 // potentials of at most Floor are masks; −∞ if there are none
	Most  float64 // outputs that have any score less than that, or as much
}

// NoMasks hides nothing.
var NoMasks = Masks{Floor: math.Inf(-1), Most: math.Inf(-1)}

// gap is how much larger than all other potentials masks are, in powers of two. What is smaller does no harm: float64
// has 53 digits.
const gap = 20

// FindMasks finds the masks of some parts of an example: negative numbers that are 2²⁰ times larger than all that are
// not.
func FindMasks(θ *structured.Potentials, b int, parts ...int) Masks {
	var s sizes
	for _, k := range parts {
		s.add(θ.Parts[k].Of(b))
	}
	floor := s.floor()
	if math.IsInf(floor, -1) {
		return NoMasks
	}
	return Masks{Floor: floor, Most: floor + positive(θ, b)}
}

// MasksAmong is FindMasks for numbers of which an output has one in each of some rows of n.
func MasksAmong(x []float32, n int) Masks {
	var s sizes
	s.add(x)
	floor, sum := s.floor(), 0.0
	if math.IsInf(floor, -1) {
		return NoMasks
	}
	for row := range slices.Chunk(x, n) {
		sum += float64(max(0, slices.Max(row)))
	}
	return Masks{Floor: floor, Most: floor + sum}
}

// exponents is how many exponents float32 has, with that of 0 and that of infinities.
const exponents = 256

// sizes are the exponents of numbers: which negative ones have, and the largest of positive ones.
type sizes struct {
	negative [exponents]bool
	positive int
}

func (s *sizes) add(xs []float32) {
	for _, x := range xs {
		switch e := math.Float32bits(x) >> 23 & (exponents - 1); {
		case x < 0:
			s.negative[e] = true
		default:
			s.positive = max(s.positive, int(e))
		}
	}
}

// floor returns the largest power of two, negated, such that numbers of at most that are masks; −∞ if there are none.
func (s *sizes) floor() float64 {
	last := s.positive
	for e, is := range s.negative[:exponents-1] { // without −∞
		switch {
		case !is || e <= last:
		case last > 0 && e-last >= gap:
			return -math.Ldexp(1, e-127)
		default:
			last = e
		}
	}
	return math.Inf(-1)
}

// positive bounds the score of what any part of an output has.
func positive(θ *structured.Potentials, b int) float64 {
	sum := 0.0
	for k := range θ.Parts {
		p, most := &θ.Parts[k], float32(0)
		for i, x := range p.Of(b) {
			if most = max(most, x); p.Offsets != nil && (i+1)%p.Width == 0 {
				sum, most = sum+float64(most), 0
			}
		}
		if p.Offsets == nil {
			sum += float64(rowsOf(θ, p, b)) * float64(most)
		}
	}
	return sum
}

// Any reports whether there are masks.
func (m Masks) Any() bool { return m.Floor > math.Inf(-1) }

// Hide returns a potential, or −∞ for a mask.
func (m Masks) Hide(x float64) float64 {
	if x <= m.Floor {
		return math.Inf(-1)
	}
	return x
}
