package engine

import (
	"math"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// With λ₁‖w‖₁ the model of ProxRule has that term, too. The weights that belong to γ are soft thresholds,
//
//	w'(γ) = soft(w − ηq(γg + λw), ηqλ₁),    soft(x, τ) = sign(x)·max(|x| − τ, 0),
//
// so that many become 0 exactly, and the dual grows in γ by
//
//	hinge    f                                               + ⟨g, w'(γ) − w⟩
//	others   (1/|B|) Σ c_i (1−p_i)(f_i + log((1−γ+γp_i)/γ))  + ⟨g, w'(γ) − w⟩.
//
// The product falls as γ grows, in pieces that are linear: Newton's method finds the zero, within an interval that
// shrinks.

// mostProxSlopes is how many slopes of the dual a step computes at most. Any γ belongs to a step; the zero is only the
// best one.
const mostProxSlopes = 8

// sparseProx is prox with λ₁ > 0, for a regulariser around zero. η, q and so on are those of prox.
func (d *hostDescent) sparseProx(η, λ float64) float64 {
	unbias, common := d.squares.after(d.steps+1), d.observeCommon()
	d.eachSparse(func(lo, hi, at int, rate, _ float64) {
		vec.ObserveTempered(float32(d.squares.β), unbias, common, float32(η*rate*λ), d.g[lo:hi], d.v[lo:hi], d.q[at:at+hi-lo])
	})
	lo, hi, γ := -1.0, 1.0, 1.0 // the slope is positive at lo, if that is not −1, and not at hi, once another γ was tried
	for range mostProxSlopes {
		product, bend := d.proxSlope(γ, η, λ)
		next := 0.0 // where the slope vanishes, if the product is linear
		if a := -product - bend*γ; d.engine.Loss.Smooth() {
			next = d.losses.mix(a, bend)
			if γ == 1 && d.losses.slope(1, a, bend) >= 0 {
				return d.sparseMove(1, η, λ, common)
			}
		} else {
			slope := d.f + product
			if γ == 1 && slope >= 0 || γ == 0 && slope <= 0 {
				return d.sparseMove(γ, η, λ, common)
			}
			if next = 0; bend > 0 {
				next = min(max(γ+slope/bend, 0), 1)
			}
		}
		if math.Abs(next-γ) < 1e-6 {
			γ = next
			break
		}
		if next > γ {
			lo = γ
		} else {
			hi = γ
		}
		if next <= lo || next >= hi {
			next = (max(lo, 0) + hi) / 2
		}
		γ = next
	}
	return d.sparseMove(γ, η, λ, common)
}

// eachSparse is eachRated for ranges that have one λ₁ each.
func (d *hostDescent) eachSparse(do func(lo, hi, at int, rate, λ1 float64)) {
	d.eachRated(false, func(lo, hi, at int, rate float64) {
		d.engine.eachL1(lo, hi, func(from, to int, λ1 float64) { do(from, to, at+from-lo, rate, λ1) })
	})
}

// proxSlope returns ⟨g, w'(γ) − w⟩, and by how much it falls with γ there.
func (d *hostDescent) proxSlope(γ, η, λ float64) (product, bend float64) {
	d.eachSparse(func(lo, hi, at int, rate, λ1 float64) {
		g, w, q := d.g[lo:hi], d.W[lo:hi], d.q[at:at+hi-lo]
		for j, x := range g {
			if x == 0 {
				continue
			}
			length := η * rate * float64(q[j])
			to := sparseStep(w[j], x, γ, length, λ, λ1)
			product += float64(x) * (to - float64(w[j]))
			if to != 0 || λ1 == 0 {
				bend += length * float64(x) * float64(x)
			}
		}
	})
	return product, bend
}

// sparseStep returns w'(γ) for a weight with the gradient g, where length is ηq.
func sparseStep(w, g float32, γ, length, λ, λ1 float64) float64 {
	v := float64(w) - length*(γ*float64(g)+λ*float64(w))
	return math.Copysign(max(math.Abs(v)-length*λ1, 0), v)
}

// sparseMove moves to w'(γ).
func (d *hostDescent) sparseMove(γ, η, λ float64, common float32) float64 {
	d.eachSparse(func(lo, hi, at int, rate, λ1 float64) {
		g, w, q := d.g[lo:hi], d.W[lo:hi], d.q[at:at+hi-lo]
		for j, x := range w {
			w[j] = float32(sparseStep(x, g[j], γ, η*rate*float64(q[j]), λ, λ1))
		}
	})
	d.shrunk(η / math.Sqrt(float64(common)))
	return γ
}

// decaySparsely does to a row's weights w, from place lo on, what steps did that did not read the row: in all they
// shrink a weight by exp(−λx/√h), and pull it towards 0 by λ₁x/√h, where it stays. v is as in catchUp; a weight whose v
// is 0 keeps its value.
func (d *hostDescent) decaySparsely(x, λ float64, lo int, v, w []float32) {
	d.engine.eachL1(lo, lo+len(w), func(from, to int, λ1 float64) {
		for j := from - lo; j < to-lo; j++ {
			if v[j] == 0 || w[j] == 0 {
				continue
			}
			t := x / math.Sqrt(math.Sqrt(float64(v[j]))+vec.Floor)
			keep, pull := math.Exp(-λ*t), λ1*t
			if λ > 0 {
				pull = λ1 / λ * -math.Expm1(-λ*t)
			}
			w[j] = float32(math.Copysign(max(math.Abs(float64(w[j]))*keep-pull, 0), float64(w[j])))
		}
	})
}
