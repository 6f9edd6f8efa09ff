package engine

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/oracles"
)

// The elastic net r(w) = (λ/2)‖w − c‖² + λ₁‖w‖₁ and its dual. For a dual point u with gradient g, let v = c − g/λ. Then
//
//	min_w ⟨g,w⟩ + r(w) = (λ/2)(‖c‖² − ‖w_u‖²),    w_u = soft(v, λ₁/λ),    soft(x, τ) = sign(x)·max(|x| − τ, 0),
//
// so that D(u) = a + constant + (λ/2)(‖c‖² − ‖w_u‖²), with a the linear part of u plus its entropy, as without λ₁ but
// with thresholded weights. v is linear in u: a dual method adds to v what it would add to w, and scores with the soft
// thresholds (proximal SDCA, Shalev-Shwartz and Zhang 2014). ‖soft(v)‖²/2 is 1-smooth in v, so a line search for the
// quadratic ‖v‖²/2 raises D, but not far enough (softsearch.go).
//
// A full pass at w with marginals u bounds the optimum by the Fenchel-Young gap
//
//	F(w) − D(u) = (1/n) Σ c_i [H_i(w) − ⟨u_i, θ_i+ℓ_i⟩ − H(u_i)] + r(w) + r*(−g) + ⟨g,w⟩ ≥ 0,
//
// in which r*(−g) = −min_w {⟨g,w⟩ + r(w)} is finite for λ > 0 and, for λ = 0, where |g_j| ≤ λ₁ for all j. λ₁ leaves
// alone the weights that nets.Unshrunk lists: for them, λ₁ and τ are 0.

// ElasticBound returns the largest lower bound on min F that a dual point proves together with the gold outputs:
//
//	max over 0 ≤ s ≤ 1 of  s·a + min_w {s⟨g,w⟩ + r(w)} + constant,
//
// with g the gradient of the point and a its linear part plus entropy. The mixture 1_y + s(u − 1_y) has the gradient
// s·g, the linear part s times that of u (it is 0 for 1_y) and, because entropy is concave, at least s times the
// entropy. So every s gives a bound. For λ = 0 it is the best feasible s (FeasibleShare): a gradient beyond λ₁ still
// proves something. of are the terms whose rounding errors come from g: Σ |s·g_j w_j| at the minimiser w, which is in
// the box if there are bounds, and Σ g_j²/2λ of the weights that errors may move. With λ = 0 the bound depends on the
// largest entry of g alone. An entry is a sum over all positions, whose rounding errors grow like the square root of
// their number.
func (o *Objective) ElasticBound(a float64, g []float32) (bound float64, of ElasticTerms) {
	bound, of, _ = o.elasticBound(a, g, func(k int, do func(lo, hi int, sums []float64)) ([]float64, error) {
		total := make([]float64, k)
		for lo := 0; lo < len(g); lo += rangeWeights {
			sums := make([]float64, k)
			do(lo, min(lo+rangeWeights, len(g)), sums)
			floats.Add(total, sums)
		}
		return total, nil
	})
	return bound, of
}

// SharedElasticBound is ElasticBound on the engine's threads, and on all ranks. It has the same bits.
func (e *Engine) SharedElasticBound(ctx context.Context, a float64, g []float32) (bound float64, of ElasticTerms, err error) {
	return e.elasticBound(a, g, func(k int, do func(lo, hi int, sums []float64)) ([]float64, error) {
		return e.OverRanges(ctx, len(g), k, true, do)
	})
}

// elasticBound is ElasticBound, where sum adds up so many numbers over ranges of weights.
func (o *Objective) elasticBound(a float64, g []float32, sum func(k int, do func(lo, hi int, sums []float64)) ([]float64, error)) (bound float64, of ElasticTerms, err error) {
	if o.Lambda == 0 {
		return max(0, o.FeasibleShare(g)*a) + o.Constant, ElasticTerms{first: math.Abs(a) * math.Sqrt(float64(o.Data.Positions()))}, nil
	}
	type coordinate struct{ g, shift, c, λ1, τ float64 } // shift is g/λ
	moves := make([][]coordinate, len(g)/rangeWeights+1) // by range: those whose minimiser is not 0 for all s
	totals, err := sum(2, func(lo, hi int, sums []float64) {
		var here []coordinate
		o.eachL1(lo, hi, func(lo, hi int, λ1 float64) {
			for j, x := range g[lo:hi] {
				size, c := math.Abs(float64(x)), 0.0
				if o.Center != nil {
					c = float64(o.Center[lo+j])
				}
				if size*(1+nearThreshold)+o.Lambda*math.Abs(c) > λ1 || o.Bounds != nil {
					here = append(here, coordinate{float64(x), float64(x) / o.Lambda, c, λ1, λ1 / o.Lambda})
					sums[0] += size * size / (2 * o.Lambda)
				} else {
					sums[1] += o.Lambda / 2 * c * c
				}
			}
		})
		moves[lo/rangeWeights] = here
	})
	if err != nil {
		return 0, of, err
	}
	of.second = totals[0]
	rest := totals[1]
	// value is concave in s. Its slope is a + ⟨g, w(s)⟩ at the minimiser w(s) = soft(c − s·g/λ, λ₁/λ). Without bounds a
	// term is (λ/2)(c² − w²), too, but where c is large, squares have roundings of the size of the term, and more. As
	// it stands, each of n terms and their sum errs by n + 4 roundings of its parts; and a w that is δ off the
	// minimiser, which no rounding of c, g/λ and λ₁/λ exceeds, makes the term too large by (λ/2)δ².
	by := o.primal()
	type point struct{ s, d, slope, size, rounded float64 }
	value := func(s float64) (point, error) {
		x, err := sum(5, func(lo, _ int, sums []float64) {
			d, slope, size, parts, errs := 0.0, 0.0, 0.0, 0.0, 0.0
			for _, x := range moves[lo/rangeWeights] {
				shift := s * x.shift
				w := by.weight(x.c-shift, x.τ)
				linear, square, length := s*x.g*w, o.Lambda/2*(w-x.c)*(w-x.c), x.λ1*math.Abs(w)
				d += linear + square + length
				slope += x.g * w
				size += math.Abs(linear)
				δ := 4 * oracles.Double * (math.Abs(x.c) + math.Abs(shift) + x.τ)
				parts += math.Abs(linear) + square + length
				errs += o.Lambda / 2 * δ * δ
			}
			sums[0], sums[1], sums[2], sums[3], sums[4] = d, slope, size, parts, errs
		})
		if err != nil {
			return point{}, err
		}
		parts := math.Abs(s*a) + rest + x[3]
		return point{s, s*a + rest + x[0], a + x[1], x[2], x[4] + float64(len(g)+16)*oracles.Double*parts}, nil
	}
	best, err := value(1)
	if err != nil || best.slope >= 0 {
		of.first, of.rounded = best.size, best.rounded
		return best.d + o.Constant, of, err
	}
	// The slope is 0 between two points, where regula falsi finds it (Illinois), or gains no more than rounding.
	high := best
	low, err := value(0)
	if low.d > best.d {
		best = low
	}
	rise, fall, side := low.slope, high.slope, 0
	for tries := 0; err == nil && low.slope > 0 && tries < 60; tries++ {
		width := high.s - low.s
		if min(low.slope, -high.slope)*width <= best.rounded {
			break
		}
		s := low.s + width*rise/(rise-fall)
		if !(s > low.s && s < high.s) {
			break
		}
		var x point
		if x, err = value(s); x.d > best.d {
			best = x
		}
		if x.slope < 0 {
			if high, fall = x, x.slope; side < 0 {
				rise /= 2
			}
			side = -1
		} else {
			if low, rise = x, x.slope; side > 0 {
				fall /= 2
			}
			side = 1
		}
	}
	of.first, of.rounded = best.size, best.rounded
	return best.d + o.Constant, of, err
}

// ElasticTerms are those of an ElasticBound whose rounding errors come from the gradient: of first and of second order
// in its errors. rounded is what the bound itself may lose or win by roundings to float64.
type ElasticTerms struct{ first, second, rounded float64 }

// nearThreshold is a share of an entry of a gradient that it errs by at most, on any device.
const nearThreshold = 1e-2

// ElasticAllowance returns the allowance for a gradient's rounding in an ElasticBound.
func (e *Engine) ElasticAllowance(of ElasticTerms) float64 {
	share := e.GradientAllowance(1)
	return e.GradientAllowance(of.first) + share*share*of.second + of.rounded
}

// FeasibleShare returns the largest s in [0, 1] for which a dual point of gradient s·g proves something with λ = 0:
// no |s·g_j| may be above λ₁.
func (o *Objective) FeasibleShare(g []float32) float64 {
	s := 1.0
	o.eachL1(0, len(g), func(lo, hi int, λ1 float64) {
		for _, x := range g[lo:hi] {
			if size := math.Abs(float64(x)); size > λ1 {
				s = min(s, λ1/size)
			}
		}
	})
	return s
}

// Regulariser returns (λ/2)‖w − c‖² + λ₁‖w‖₁ + constant.
func (o *Objective) Regulariser(w []float32) float64 { return o.regulariser(w) }

// elasticNet returns (λ/2)‖w − c‖² + λ₁‖w‖₁.
func (o *Objective) elasticNet(w []float32) float64 {
	squares, sizes := 0.0, 0.0
	o.eachL1(0, len(w), func(lo, hi int, λ1 float64) {
		for j, x := range w[lo:hi] {
			d := float64(x)
			if λ1 > 0 {
				sizes += math.Abs(d)
			}
			if o.Center != nil {
				d -= float64(o.Center[lo+j])
			}
			squares += d * d
		}
	})
	return o.Lambda/2*squares + o.L1*sizes
}

// Nonzeros returns how many weights differ from zero.
func Nonzeros(w []float32) int {
	n := 0
	for _, x := range w {
		u := math.Float32bits(x) << 1 // without the sign
		n += int((u | -u) >> 31)      // a sum without branches
	}
	return n
}

// Unsoften returns v with soft(v, τ) = w: v_j = w_j + sign(w_j)τ.
func (o *Objective) Unsoften(w []float32, τ float32) []float32 {
	v := slices.Clone(w)
	o.eachL1(0, len(v), func(lo, hi int, λ1 float64) {
		for j := lo; j < hi && λ1 > 0; j++ {
			switch {
			case v[j] > 0:
				v[j] += τ
			case v[j] < 0:
				v[j] -= τ
			}
		}
	})
	return v
}

// eachL1 calls do for ranges that make up w[lo:hi], in order, with the λ₁ of each: 0 for those that λ₁ leaves alone.
func (o *Objective) eachL1(lo, hi int, do func(lo, hi int, λ1 float64)) {
	for _, r := range nets.Unshrunk(o.Scorer) {
		from, to := max(lo, r[0]), min(hi, r[1])
		if from >= to {
			continue
		}
		if lo < from {
			do(lo, from, o.L1)
		}
		do(from, to, 0)
		lo = to
	}
	if lo < hi {
		do(lo, hi, o.L1)
	}
}
