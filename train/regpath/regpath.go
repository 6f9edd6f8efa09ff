// Package regpath bounds how good models are for strengths λ of the regulariser at which they were not trained.
//
// The least objective F*(λ) = min_w R(w) + (λ/2)‖w − c‖² is a minimum of functions that are linear in λ, so it is
// concave: between two strengths it is at least the chord of lower bounds at both. At fixed weights the objective is
// linear in λ: an upper bound. Between neighbours, the better of their two models is worst, relative to the chord,
// where the two lines cross, or at an end. So a path that is solved at the worst crossing again and again gets as good
// as asked for, for every λ between its ends.
//
// Osokin, Alayrac, Lukasewitz, Dokania and Lacoste-Julien (2016, section 5) scale the dual point of one strength down
// for the next. That is the chord to F*(0) ≥ 0, whose error grows with the step; the error of the chord between
// neighbours grows with its square, so that a path has about 1/√ε breakpoints, not 1/ε (Giesen, Müller, Laue and
// Swiercy 2012).
package regpath

import "math"

// Point is what is known of the weights that were trained at a strength.
type Point struct {
	Lambda float64 // λ
	Primal float64 // F_λ(w), rounded up
	Dual   float64 // a lower bound of F*(λ)
	Square float64 // ‖w − c‖²
}

// At returns the objective of the point's weights at another strength.
func (p Point) At(λ float64) float64 { return p.Primal + (λ-p.Lambda)/2*p.Square }

// Gap returns the certified relative gap of the point at its own strength.
func (p Point) Gap() float64 { return above(p.Primal, p.Dual) }

// above returns (f − bound)/|f|.
func above(f, bound float64) float64 {
	if f <= bound {
		return 0
	}
	return (f - bound) / math.Abs(f)
}

// Worst returns the strength from a to b at which the better of both models is worst, and by how much its objective may
// be above the least one there, relatively. a has the smaller strength.
func Worst(a, b Point) (λ, relative float64) {
	λ, relative = a.Lambda, Bound(a, b, a.Lambda)
	for _, at := range []float64{b.Lambda, crossing(a, b)} {
		if e := Bound(a, b, at); e > relative {
			λ, relative = at, e
		}
	}
	return λ, relative
}

// Bound returns by how much the better of both models may be above the least objective at λ, between their strengths,
// relatively.
func Bound(a, b Point, λ float64) float64 {
	share := (λ - a.Lambda) / (b.Lambda - a.Lambda)
	return above(min(a.At(λ), b.At(λ)), (1-share)*a.Dual+share*b.Dual)
}

// crossing returns the strength at which both models have the same objective, or the nearest one from a to b.
func crossing(a, b Point) float64 {
	slope := (a.Square - b.Square) / 2
	if !(slope > 0) { // equal models
		return math.Sqrt(a.Lambda * b.Lambda)
	}
	return min(max((b.At(0)-a.At(0))/slope, a.Lambda), b.Lambda)
}

// The ratios of strengths from which no point is put between two: in general, and where one of them is further above
// its own optimum than asked for.
const (
	narrow = 1.02
	coarse = 1.25
)

// Next returns the strength at which the path through points, in the order of their strengths, is to be solved next: a
// crossing where it may be furthest above the least objective. Between a point that is good enough and one that is not,
// it is the middle. ok is false if the path is nowhere further than ε, or only where more points do not help.
func Next(points []Point, ε float64) (λ float64, ok bool) {
	worst := ε
	for k := 1; k < len(points); k++ {
		a, b := points[k-1], points[k]
		at, least := crossing(a, b), narrow
		bad := max(a.Gap(), b.Gap()) > ε
		if bad {
			least = coarse
		}
		if bad || at <= a.Lambda || at >= b.Lambda {
			at = math.Sqrt(a.Lambda * b.Lambda)
		}
		e := Bound(a, b, at)
		if e > worst && min(a.Gap(), b.Gap()) <= ε && b.Lambda > least*a.Lambda {
			λ, worst, ok = at, e, true
		}
	}
	return λ, ok
}

// Error returns by how much the best model of the path may be above the least objective, relatively, for the worst
// strength between its ends.
func Error(points []Point) float64 {
	worst := 0.0
	for k, p := range points {
		worst = max(worst, p.Gap())
		if k > 0 {
			_, e := Worst(points[k-1], p)
			worst = max(worst, e)
		}
	}
	return worst
}

// Ends returns the strengths between which point k is the best of the path: from where its line crosses that of the
// point before to where it crosses that of the point behind.
func Ends(points []Point, k int) (from, to float64) {
	from, to = points[k].Lambda, points[k].Lambda
	if k > 0 {
		from = crossing(points[k-1], points[k])
	}
	if k+1 < len(points) {
		to = crossing(points[k], points[k+1])
	}
	return from, to
}
