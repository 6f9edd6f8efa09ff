package monotone

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/monotone"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Exp sums over all paths of every example.
func (o *Oracle) Exp(θ *structured.Potentials, μ float64, value []float64, u *structured.Marginals) {
	o.guard.Begin(θ)
	if u != nil {
		u.Like(θ)
		u.Clear()
	}
	for b := range θ.Len() {
		switch {
		case θ.Outputs[b] == θ.Outputs[b+1]:
			value[b] = 0
			continue
		case !o.open(θ, b):
			value[b] = oracles.RefuseSums(u, b)
			continue
		}
		o.sum(1 / μ)
		last := o.total()
		value[b] = μ * (o.sums.e[last]*math.Ln2 + math.Log(o.sums.f[last]))
		if u != nil && o.sums.e[last] > minusInf {
			o.marginals(u.Parts[0].Of(b), u.Parts[1].Of(b))
		}
	}
}

// total returns the place of the sum over all paths.
func (o *Oracle) total() int { return (o.n+o.m-2)*o.stride + lanes + o.n - 1 }

// sum computes the sums of the open example.
func (o *Oracle) sum(rate float64) {
	rows := o.n + o.m - 1
	o.sums.grow(rows * o.stride)
	o.byDown.zero(o.nothing)
	o.byDiag.zero(o.nothing)
	o.never.zero(o.nothing)
	for i := range o.n {
		o.byDown.set(lanes+i, float64(o.step[2*i+monotone.Down])*rate)
		o.byDiag.set(lanes+i, float64(o.step[2*i+monotone.Diagonal])*rate)
	}
	first := o.sums.row(0, o.stride)
	first.zero(o.nothing)
	first.set(lanes, float64(o.pair[0])*rate)
	two := o.never
	for d := 1; d < rows; d++ {
		to, one := o.sums.row(d, o.stride), o.sums.row(d-1, o.stride)
		lo, hi := o.read(d, rate)
		o.k.sum(to, one, two, o.x, o.byDown, o.byDiag, lo, hi)
		margins(to.e, lo, hi)
		two = one
	}
}

func (s *scaled) grow(n int) { s.f, s.e = vec.Grow(s.f, n), vec.Grow(s.e, n) }

// zero makes all numbers 0.
func (s *scaled) zero(nothing []float64) {
	s.grow(len(nothing))
	clear(s.f)
	copy(s.e, nothing)
}

// set sets number i to exp(x).
func (s *scaled) set(i int, x float64) { s.f[i], s.e[i] = weight(x) }

// marginals writes the marginals of the open example.
func (o *Oracle) marginals(pair, step []float32) {
	for k := range o.p {
		o.p[k] = vec.Grow(o.p[k], o.stride)
		clear(o.p[k])
	}
	o.downs, o.diagonals = vec.Grow(o.downs, o.stride), vec.Grow(o.diagonals, o.stride)
	clear(o.downs)
	clear(o.diagonals)
	p, one, two := o.p[0], o.p[1], o.p[2]
	p[lanes+o.n-1] = 1
	for d := o.n + o.m - 2; d >= 0; d-- {
		first, last := o.span(d)
		at := first*o.m + d - first
		for _, q := range p[lanes+first : lanes+last+1] {
			pair[at] = float32(q)
			at += o.m - 1
		}
		if d == 0 {
			break
		}
		fromTwo := o.never
		if d > 1 {
			fromTwo = o.sums.row(d-2, o.stride)
		}
		lo, hi := lanes+first/lanes*lanes, lanes+(last/lanes+1)*lanes
		o.k.spread(p, one, two, o.downs, o.diagonals, o.sums.row(d-1, o.stride), fromTwo, o.byDown, o.byDiag, lo, hi)
		clear(p)
		p, one, two = one, two, p
	}
	for i := range o.n {
		step[2*i+monotone.Down], step[2*i+monotone.Diagonal] = float32(o.downs[lanes+i]), float32(o.diagonals[lanes+i])
	}
}
