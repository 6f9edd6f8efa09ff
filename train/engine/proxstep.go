package engine

import (
	"math"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// ProxRule moves to the minimiser of a model of the objective on the batch, with a proximal term in the scales h of the
// weights:
//
//	(1/|B|) Σ_{i∈B} c_i f̂_i(w') + (λ/2)‖w'‖² + (1/2η)‖w' − w‖²_s.
//
// The scales s are the geometric means of h and of one that all weights share,
//
//	s = √(hH),    H = √(V/(1−β^c)) + 10⁻⁸,    V ← βV + (1−β)G,
//
// where G is the mean of g² over the weights that the batch reads. With h alone, weights of small gradients move as far
// as others.
//
// f̂_i is f_i with potentials linearised at w, and with its maximum or log-sum-exp over outputs reduced to two: the
// gold output and the oracle's answer. The answer to the hinge is the best output; to the other losses it is the
// distribution of all outputs but the gold one. The batch shares one variable of the dual, γ ∈ [0, 1]: how much of the
// answers is mixed into the gold outputs. With f and g the mean loss of the batch and its gradient at w, q = 1/(s +
// ηλ), and p_i = exp(−f_i) the probability of gold output i, the dual grows in γ by
//
//	hinge    f                                                − η⟨g, q(γg + λw)⟩
//	others   (1/|B|) Σ c_i (1−p_i)(f_i + log((1−γ+γp_i)/γ))   − η⟨g, q(γg + λw)⟩,
//
// where the logarithm comes from the entropy of the mixed distribution. Both fall as γ grows. The step finds the zero,
// or the end of [0, 1], and the weights that belong to it:
//
//	w' = w − ηq(γg + λw).
//
// With factors of the step lengths (Rates), s is divided by them; with a centre c of the regulariser, w is w − c
// wherever λ is before it.
//
// sparseproxstep.go says what λ₁‖w‖₁ changes. On the hinge with s = 1, and with the regulariser in the gradient, this
// is Deep Frank-Wolfe (Berrada, Zisserman and Kumar 2019).

// prox takes a step of ProxRule and returns γ.
func (d *hostDescent) prox(η, λ float64) float64 {
	d.q = vec.Grow(d.q, d.engine.touched.numWeights())
	if d.engine.L1 > 0 {
		return d.sparseProx(η, λ)
	}
	var gqw, gqg float64
	unbias, common := d.squares.after(d.steps+1), d.observeCommon()
	shifted := d.engine.Center != nil
	d.eachRated(shifted, func(lo, hi, at int, rate float64) {
		g, w, q := d.g[lo:hi], d.W[lo:hi], d.q[at:at+hi-lo]
		vec.ObserveTempered(float32(d.squares.β), unbias, common, float32(η*rate*λ), g, d.v[lo:hi], q)
		if shifted {
			w = d.fromCenter(lo, hi)
		}
		gqw += rate * vec.Dot3(g, w, q)
		gqg += rate * vec.Dot3(g, g, q)
	})
	γ := 0.0
	switch {
	case gqg == 0:
	case d.engine.Loss.Smooth():
		γ = d.losses.mix(η*λ*gqw, η*gqg)
	default:
		γ = min(max((d.f-η*λ*gqw)/(η*gqg), 0), 1)
	}
	d.eachRated(shifted, func(lo, hi, at int, rate float64) {
		g, w, q := d.g[lo:hi], d.W[lo:hi], d.q[at:at+hi-lo]
		if !shifted {
			vec.Descend(float32(η*rate*γ), g, float32(η*rate*λ), q, w)
			return
		}
		away := d.fromCenter(lo, hi)
		vec.Descend(float32(η*rate*γ), g, 0, q, w)
		vec.Descend(float32(η*rate*λ), away, 0, q, w)
	})
	d.shrunk(η * λ / math.Sqrt(float64(common)))
	return γ
}

// observeCommon updates V by the gradient and returns H.
func (d *hostDescent) observeCommon() float32 {
	square := 0.0
	d.each(func(lo, hi, _ int) { square += vec.Norm2(d.g[lo:hi]) })
	β := d.squares.β
	d.common[0] = float32(β*float64(d.common[0]) + (1-β)*square/float64(max(1, d.engine.touched.numWeights())))
	return float32(math.Sqrt(float64(d.common[0]*d.squares.after(d.steps+1)))) + vec.Floor
}

// losses are the losses f_i of a batch, which are −log p_i, with the examples' weights c_i.
type losses struct{ f, weights []float64 }

// set copies the losses of the engine's last step.
func (l *losses) set(e *Engine, examples []int) {
	l.f = append(l.f[:0], e.last.losses...)
	l.weights = l.weights[:0]
	for _, i := range examples {
		l.weights = append(l.weights, e.Data.Weight(i))
	}
}

// halvings is how often mix halves the interval in which γ lies.
const halvings = 30

// mix returns the zero of
//
//	(1/|B|) Σ c_i (1−p_i)(f_i + log((1−γ+γp_i)/γ)) − a − γb,
//
// which falls from ∞ as γ grows from 0, or 1 if there is none below.
func (l *losses) mix(a, b float64) float64 {
	if l.slope(1, a, b) >= 0 {
		return 1
	}
	lo, hi := 0.0, 1.0
	for range halvings {
		if γ := (lo + hi) / 2; l.slope(γ, a, b) > 0 {
			lo = γ
		} else {
			hi = γ
		}
	}
	return (lo + hi) / 2
}

// slope returns what mix finds the zero of, at γ.
func (l *losses) slope(γ, a, b float64) float64 {
	sum := 0.0
	for i, f := range l.f {
		wrong := -math.Expm1(-f) // 1 − p_i
		sum += l.weights[i] * wrong * (f + math.Log((1-γ*wrong)/γ))
	}
	return sum/float64(len(l.f)) - a - γ*b
}
