package engine

import (
	"math"
	"slices"

	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Bounds are a box that all weights stay in, low ≤ w_j ≤ high (Osokin et al. 2016, appendix). For a dual point u with
// gradient g, let v = c − g/λ, as for the elastic net. Each weight that minimises ⟨g,w⟩ + r(w) in the box is the one
// without the box, cut off at its ends:
//
//	w_u = clip(soft(v, λ₁/λ)),    clip(x) = min(max(x, low), high),
//
// because r is a sum of convex functions of one weight each. So whatever uses thresholded weights uses these; with
//
//	φ(v) = max_w {vw − w²/2 − τ|w|} over the box,    φ' = w_u,    D(u) = a + constant + (λ/2)‖c‖² − λ Σ_j φ(v_j),
//
// where a is the linear part of u plus its entropy. φ' rises no faster than v, so that φ is 1-smooth, as ‖soft(v)‖²/2
// is. The box holds for biases, too.
type Bounds struct{ Low, High float32 }

// clip returns the number of the box that is closest to x.
func (b *Bounds) clip(x float32) float32 { return min(max(x, b.Low), b.High) }

// Plain reports whether the regulariser is (λ/2)‖w − c‖² alone, so that the weights of a dual point are linear in it.
func (o *Objective) Plain() bool { return o.L1 == 0 && o.Bounds == nil }

// Clip cuts weights off at the bounds, if there are any.
func (o *Objective) Clip(w []float32) {
	if o.Bounds == nil {
		return
	}
	for j, x := range w {
		w[j] = o.Bounds.clip(x)
	}
}

// Soften returns the weights of v: clip(soft(v, τ)). That is v itself if τ is 0 and there are no bounds.
func (o *Objective) Soften(v []float32, τ float32) []float32 {
	if τ == 0 && o.Bounds == nil {
		return v
	}
	w := slices.Clone(v)
	if τ > 0 {
		o.eachL1(0, len(v), func(lo, hi int, λ1 float64) {
			if λ1 > 0 {
				vec.Soften(τ, v[lo:hi], w[lo:hi])
			}
		})
	}
	o.Clip(w)
	return w
}

// primal is the map from an entry of v to its weight, and its integral φ.
type primal struct{ low, high float64 }

// primal returns the map of the objective.
func (o *Objective) primal() primal {
	if o.Bounds == nil {
		return primal{math.Inf(-1), math.Inf(1)}
	}
	return primal{float64(o.Bounds.Low), float64(o.Bounds.High)}
}

// weight returns clip(soft(v, τ)).
func (m primal) weight(v, τ float64) float64 { return min(max(soft(v, τ), m.low), m.high) }

// value returns φ(v).
func (m primal) value(v, τ float64) float64 {
	w := m.weight(v, τ)
	return v*w - w*w/2 - τ*math.Abs(w)
}

// inner reports whether the weight changes with v.
func (m primal) inner(v, τ float64) bool {
	w := soft(v, τ)
	return math.Abs(v) > τ && w > m.low && w < m.high
}

// excess returns φ(to) − φ(from) − φ'(from)(to − from).
func (m primal) excess(from, to, τ float64) float64 {
	a, b := m.weight(from, τ), m.weight(to, τ)
	return to*(b-a) - (b-a)*(b+a)/2 - τ*(math.Abs(b)-math.Abs(a))
}

// CentralBound returns min_w ⟨g, w−c⟩ + (λ/2)‖w−c‖² over the box, its slope along d (as g moves towards g + d), and
// ‖w−c‖², at g + γd. The regulariser has no λ₁, and λ > 0. A nil d is zero.
func (o *Objective) CentralBound(g, d []float64, γ float64) (least, slope, far float64) {
	m := o.primal()
	for j, x := range g {
		c, to := 0.0, 0.0
		if o.Center != nil {
			c = float64(o.Center[j])
		}
		if d != nil {
			to = d[j]
			x += γ * to
		}
		h := -x / o.Lambda
		if o.Bounds != nil {
			h = m.weight(c+h, 0) - c
		}
		least += x*h + o.Lambda/2*h*h
		slope += to * h
		far += h * h
	}
	return least, slope, far
}

// softened returns an entry's weight.
func (w *Point) softened(x, τ float32) float32 {
	if x = kernels.Soft(x, τ); w.box != nil {
		x = w.box.clip(x)
	}
	return x
}
