package engine

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// The objective with a ball, ‖w‖₁ ≤ R, is a saddle-point problem (Gidel, Jebara and Lacoste-Julien 2017),
//
//	min over ‖w‖₁ ≤ R of  max over u of  L(w, u) = a(u) + ⟨g(u), w⟩ + r(w),
//
// with the linear part a and the gradient g of a dual point. For given w the maximum is F(w); for given u the minimum
// is a lower bound of min F. With r = 0 the latter is a − R‖g‖_∞, and otherwise, for any multiplier τ ≥ 0 of the
// constraint, at least
//
//	a + min_w {⟨g,w⟩ + r(w) + τ(‖w‖₁ − R)},
//
// whose minimiser is soft(c − g/λ, τ/λ). It is concave in τ.

// ballBisections is how often the search for τ halves its interval.
const ballBisections = 50

// BallBound returns the largest lower bound of min F over the ball that it finds for a dual point with linear part a
// and gradient g. An error of g changes it by at most R times the largest entry of the error, because the minimiser is
// in the ball.
func (o *Objective) BallBound(a float64, g []float64) float64 {
	if o.Lambda == 0 {
		return a - o.Radius*floats.Norm(g, math.Inf(1)) + o.Constant
	}
	centre := func(j int) float64 {
		if o.Center == nil {
			return 0
		}
		return float64(o.Center[j])
	}
	value := func(τ float64) (d, norm float64) {
		d = a - τ*o.Radius
		for j, x := range g {
			c := centre(j)
			w := soft(c-x/o.Lambda, τ/o.Lambda)
			d += x*w + o.Lambda/2*(w-c)*(w-c) + τ*math.Abs(w)
			norm += math.Abs(w)
		}
		return d, norm
	}
	d, norm := value(0)
	if norm > o.Radius {
		lo, hi := 0.0, 0.0
		for j, x := range g {
			hi = max(hi, math.Abs(o.Lambda*centre(j)-x))
		}
		for range ballBisections {
			if mid := (lo + hi) / 2; mid > lo && mid < hi {
				if _, norm = value(mid); norm > o.Radius {
					lo = mid
				} else {
					hi = mid
				}
			}
		}
		d, _ = value(hi)
	}
	return d + o.Constant
}

// IntoBall makes w shorter where roundings have left the ball.
func (o *Objective) IntoBall(w []float32) {
	norm := 0.0
	for _, x := range w {
		norm += math.Abs(float64(x))
	}
	if norm <= o.Radius {
		return
	}
	by := float32(o.Radius / norm * (1 - 4*Unit))
	for j, x := range w {
		w[j] = x * by
	}
}

// Scaled returns the point of the weights p·v.
func Scaled(p float64, v []float32) Point { return Point{p: p, v: v} }
