package oracletest

import (
	"math"

	"github.com/dsp-go/dsp/structured"
)

// double is the sum of two float64 of which the second is at most half a unit of the first: numbers with some 32
// digits, whose operations err by about 2⁻¹⁰⁴ of the result (Dekker 1971).
type double struct{ hi, lo float64 }

// quickSum is a + b for |a| ≥ |b|.
func quickSum(a, b float64) double {
	s := a + b
	return double{s, b - (s - a)}
}

func (x double) plus(y double) double {
	s := x.hi + y.hi
	v := s - x.hi
	error := (x.hi - (s - v)) + (y.hi - v)
	return quickSum(s, error+x.lo+y.lo)
}

func (x double) times(y double) double {
	p := x.hi * y.hi
	return quickSum(p, math.FMA(x.hi, y.hi, -p)+x.hi*y.lo+x.lo*y.hi)
}

func (x double) minus(y double) double { return x.plus(double{-y.hi, -y.lo}) }

// over returns x/y: a quotient in float64, and that of what it lacks.
func (x double) over(y double) double {
	q := x.hi / y.hi
	rest := x.minus(y.times(double{q, 0}))
	return quickSum(q, rest.hi/y.hi)
}

// halvings is how often exp halves its argument before it adds up the series, and then squares.
const halvings = 12

// exp returns eˣ for x ≤ 0.
func (x double) exp() double {
	if x.hi < -600 {
		return double{} // beside a term of 1
	}
	k := math.Round(x.hi / math.Ln2)
	r := x.minus(double{k, 0}.times(ln2))
	r = double{math.Ldexp(r.hi, -halvings), math.Ldexp(r.lo, -halvings)}
	e := double{} // eʳ − 1: squared, it keeps the digits that 1 + … would lose
	for n := 9.0; n > 0; n-- {
		e = r.times(e.plus(double{1, 0})).over(double{n, 0})
	}
	for range halvings {
		e = e.plus(e).plus(e.times(e))
	}
	e = e.plus(double{1, 0})
	return double{math.Ldexp(e.hi, int(k)), math.Ldexp(e.lo, int(k))}
}

// ln2 is log 2.
var ln2 = double{math.Ln2, 2.3190468138462996e-17}

// log returns log x for x ≥ 1, by a step of Newton's method from float64.
func (x double) log() double {
	y := double{math.Log(x.hi), 0}
	return y.plus(x.times(double{-y.hi, 0}.exp())).minus(double{1, 0})
}

// exactScores returns ⟨θ, 1_y⟩ of all allowed outputs of example b.
func exactScores(θ *structured.Potentials, b int) (scores []double) {
	u := zeros(θ)
	θ.Structure.Each(θ, b, func(y []int32) {
		u.Add(b, y, 1)
		defer u.Scale(b, 0)
		sum := double{}
		for k := range u.Parts {
			x := θ.Parts[k].Of(b)
			for i, n := range u.Parts[k].Of(b) {
				switch {
				case n == 0:
					continue
				case x[i] == minusInf:
					return
				}
				sum = sum.plus(double{float64(n) * float64(x[i]), 0})
			}
		}
		scores = append(scores, sum)
	})
	return scores
}

// exactValue returns the largest of some scores if μ is 0, or else μ·log Σ exp(score/μ).
func exactValue(scores []double, μ float64) double {
	best := scores[0]
	for _, s := range scores {
		if d := s.minus(best); d.hi > 0 {
			best = s
		}
	}
	if μ == 0 {
		return best
	}
	sum := double{}
	for _, s := range scores {
		sum = sum.plus(s.minus(best).over(double{μ, 0}).exp())
	}
	return best.plus(sum.log().times(double{μ, 0}))
}
