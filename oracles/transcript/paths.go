package transcript

import (
	"math"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// paths sums over the paths of a lattice in float64, a row of places for each frame (kernels.go). Place k of rows
// stands for the blank before symbol k, state 2k, and for symbol k, state 2k+1; the last place has a blank alone.
//
// A row of sums is the true one times 2^e: rows that leave 2^±far are multiplied by a power of two, which rounds
// nothing. Numbers below the range of float64 beside the largest of their row are lost. With α·2^−e the sums over the
// beginnings and β·2^−f those over the ends of paths, what is lost at frame t adds less than
// S·2^(2·far+3)·2^−1021·2^−(e+f) to the sum Z over all paths, for S states: the exponential flushes what is below
// 2^−1021, and at most 2^far times a few predecessors and 2^far of the other side multiply it. So Z ≥ 2^−(e+f)−enough
// in every frame makes it nothing beside the rounding. Where Z is smaller, the best beginnings and ends belong to other
// paths than those that reach the end: then sum returns false, and lattice.exp uses wide numbers.
type paths struct {
	k      *kernels
	stride int
	symbol []int32   // their labels
	skip   []float64 // 1 if symbol k may follow the one before without a blank, else 0
	score  []float64 // of the symbols and the blank in a frame
	x      []float64 // [T×stride] probabilities of the symbols, up to a factor for each frame
	p      []float64 // [T] those of the blank
	α      both      // [T×stride]
	e      []int     // [T]
	β, g   both      // β of two frames; α·β
	rows   [4]both   // of two frames: those of α and of β
	sums   []float64 // [Y]
}

const (
	far    = 100
	enough = 700
)

// sum is lattice.exp where float64 is wide enough. It reports whether it is; if not, the marginals of labels of the
// string mean nothing.
func (s *paths) sum(l *lattice, μ float64, u []float32) (value float64, ok bool) {
	symbols, T := len(l.label)/2, l.frames
	s.open(l, symbols)
	to, before := &s.rows[0], &s.rows[1]
	for t := range T {
		most := s.weigh(l.frame[t*l.width:(t+1)*l.width], l.label[0], t, 1/μ)
		if value += most; math.IsInf(most, -1) {
			return most, true
		}
		x := s.x[t*s.stride:][:s.stride]
		before, to = to, before.be(&s.α, t, s.stride)
		if t == 0 {
			clear(to.blank)
			clear(to.symbol)
			to.blank[lanes], to.symbol[lanes], s.e[0] = s.p[0], x[lanes], 0
			continue
		}
		lo, hi := s.places(l, t)
		top := s.k.forward(to, before, s.skip, x, s.p[t], lo, hi)
		s.e[t] = s.e[t-1] + to.finish(top, lo, hi)
	}
	z := to.blank[lanes+symbols]
	if symbols > 0 {
		z += to.symbol[lanes+symbols-1]
	}
	if z == 0 {
		return 0, false
	}
	log2 := math.Log2(z) - float64(s.e[T-1])
	now, after, f := s.rows[2].be(&s.β, 0, s.stride), s.rows[3].be(&s.β, 1, s.stride), 0
	factor, exponent := 1/z, 0
	for t := T - 1; t >= 0; t-- {
		lo, hi := s.places(l, t)
		if t == T-1 {
			clear(now.blank)
			clear(now.symbol)
			if now.blank[lanes+symbols] = 1; symbols > 0 {
				now.symbol[lanes+symbols-1] = 1
			}
		} else {
			top := s.k.backward(now, after, s.skip, s.x[(t+1)*s.stride:][:s.stride], s.p[t+1], lo, hi)
			f += now.finish(top, lo, hi)
		}
		if log2 < float64(-enough-min(s.e[max(0, t-1)], s.e[t])-f) {
			return 0, false
		}
		if u != nil {
			if e := s.e[T-1] - s.e[t] - f; e != exponent {
				factor, exponent = math.Ldexp(1/z, e), e
			}
			s.share(l, u[t*l.width:(t+1)*l.width], to.be(&s.α, t, s.stride), now, factor, lo, hi)
		}
		now, after = after, now
	}
	return value + μ*(math.Log(z)-float64(s.e[T-1])*math.Ln2), true
}

// places returns which places of rows paths can be at in frame t, in whole vectors.
func (s *paths) places(l *lattice, t int) (lo, hi int) {
	from, to := l.states(t)
	return lanes + from/2&^(lanes-1), lanes + (to/2+lanes)&^(lanes-1)
}

// open takes the string of a lattice.
func (s *paths) open(l *lattice, symbols int) {
	s.stride = lanes + (symbols+lanes)&^(lanes-1) + lanes
	s.skip, s.symbol = vec.Grow(s.skip, s.stride), vec.Grow(s.symbol, symbols)
	clear(s.skip)
	for k := range s.symbol {
		if s.symbol[k] = l.label[2*k+1]; l.skips[2*k+1] {
			s.skip[lanes+k] = 1
		}
	}
	s.score = vec.Grow(s.score, s.stride)
	for k := lanes + symbols + 1; k < s.stride; k++ {
		s.score[k] = minusInf
	}
	s.x, s.p, s.e = vec.Grow(s.x, l.frames*s.stride), vec.Grow(s.p, l.frames), vec.Grow(s.e, l.frames)
	for _, rows := range []struct {
		of *both
		n  int
	}{{&s.α, l.frames}, {&s.β, 2}, {&s.g, 1}} {
		rows.of.blank, rows.of.symbol = vec.Grow(rows.of.blank, rows.n*s.stride), vec.Grow(rows.of.symbol, rows.n*s.stride)
	}
	s.sums = vec.Grow(s.sums, l.width)
	clear(s.sums)
}

// weigh computes the probabilities of labels in a frame with the given scores, up to a factor. It returns the factor's
// logarithm over scale.
func (s *paths) weigh(scores []float32, blank int32, t int, scale float64) float64 {
	to, most := s.score[lanes:][:len(s.symbol)], scores[blank]
	s.score[lanes+len(to)] = float64(most)
	for k, c := range s.symbol {
		score := scores[c]
		if to[k] = float64(score); score > most {
			most = score
		}
	}
	if most > minusInf32 {
		x := s.x[t*s.stride:][:s.stride]
		s.k.exps(x, s.score, float64(most), scale, lanes, s.stride-lanes)
		s.p[t], x[lanes+len(to)] = x[lanes+len(to)], 0
	}
	return float64(most)
}

// finish scales places lo to hi−1, of which top is the largest number, so that it is within 2^±far, and clears the
// vectors beside them, which the next row reads. It returns the exponent of the factor.
func (r *both) finish(top float64, lo, hi int) (exponent int) {
	var zeros [lanes]float64
	*(*[lanes]float64)(r.blank[lo-lanes:]), *(*[lanes]float64)(r.symbol[lo-lanes:]) = zeros, zeros
	*(*[lanes]float64)(r.blank[hi:]), *(*[lanes]float64)(r.symbol[hi:]) = zeros, zeros
	if top == 0 || top >= 0x1p-100 && top <= 0x1p100 {
		return 0
	}
	_, exponent = math.Frexp(top)
	for i := lo; i < hi; i++ {
		r.blank[i], r.symbol[i] = math.Ldexp(r.blank[i], -exponent), math.Ldexp(r.symbol[i], -exponent)
	}
	return -exponent
}

// share writes the marginals of a frame: α·β times a factor, by label.
func (s *paths) share(l *lattice, u []float32, α, β *both, factor float64, lo, hi int) {
	s.k.times(s.g.blank, α.blank, β.blank, lo, hi)
	s.k.times(s.g.symbol, α.symbol, β.symbol, lo, hi)
	var b0, b1, b2, b3 float64 // do not wait for each other
	for g := s.g.blank[lo:hi]; len(g) >= 4; g = g[4:] {
		b0, b1, b2, b3 = b0+g[0], b1+g[1], b2+g[2], b3+g[3]
	}
	s.sums[l.label[0]] = (b0 + b2) + (b1 + b3)
	symbols := s.symbol[lo-lanes : min(hi-lanes, len(s.symbol))]
	g := s.g.symbol[lo:][:len(symbols)]
	for i, c := range symbols {
		s.sums[c] += g[i]
	}
	for _, c := range l.used {
		p := s.sums[c] * factor
		if s.sums[c] = 0; p > 1 {
			p = 1
		}
		u[c] = float32(p)
	}
}
