package engine

import (
	"math"

	"github.com/dsp-go/dsp/nets"
)

// A dual step with λ₁ > 0 moves v = c − g/λ to v(γ) = v − γtD, where the weights that score are w = soft(v, τ)
// (elasticnet.go). The step's gap is the dual's slope at γ = 0. Then
//
//	D(γ) − D(0) = γ·gap − (λ/2)(‖soft(v(γ))‖² − ‖soft(v)‖² + 2γt⟨D, soft(v)⟩),
//	D'(γ) = gap − λt ⟨D, soft(v) − soft(v(γ))⟩,
//
// or with bounds the same with φ and clip(soft(v)) for ‖soft(v)‖²/2 and soft(v) (bounds.go).
// The slope falls with γ, but not below that of the quadratic with ‖v‖² in place of ‖soft(v)‖², and not at all
// where |v_j(γ)| ≤ τ. At first that is nearly everywhere: steps for the quadratic would take very long to leave it.

// softSearch is the memory of a search: v, D and the threshold τ where D differs from zero.
type softSearch struct {
	v, d, τ []float64
	by      primal
}

// Searching ends where the slope is at most this share of the gap.
const (
	flat     = 1e-3
	searches = 40
)

// SoftSearch returns the γ in [0, most] that raises the dual most, for a step with the given gap > 0 from v along −tD,
// and that gain.
func (e *Engine) SoftSearch(grad Gradient, v []float32, τ float32, λ, t, gap, most float64) (γ, gain float64) {
	s := &e.soft
	s.collect(e, grad, v, float64(τ))
	slope, _ := s.slope(t, most)
	if gap-λ*t*slope >= 0 {
		return most, s.gain(λ, t, gap, most)
	}
	norm := 0.0
	for _, d := range s.d {
		norm += d * d
	}
	lo, hi := gap/(λ*t*t*norm), most // of the quadratic, and too long
	γ = lo
	for range searches {
		slope, bend := s.slope(t, γ)
		at := gap - λ*t*slope
		if math.Abs(at) <= flat*gap {
			break
		}
		if at > 0 {
			lo = γ
		} else {
			hi = γ
		}
		next := γ + at/(λ*t*t*bend) // Newton's step
		if !(next > lo && next < hi) {
			next = (lo + hi) / 2
		}
		γ = next
	}
	return γ, s.gain(λ, t, gap, γ)
}

// slope returns ⟨D, w(v) − w(v(γ))⟩, for the weights w of v, and ‖D‖² over the entries whose weights change with
// v_j(γ).
func (s *softSearch) slope(t, γ float64) (slope, bend float64) {
	for j, d := range s.d {
		v, τ := s.v[j], s.τ[j]
		to := v - γ*t*d
		slope += d * (s.by.weight(v, τ) - s.by.weight(to, τ))
		if s.by.inner(to, τ) {
			bend += d * d
		}
	}
	return slope, bend
}

func (s *softSearch) gain(λ, t, gap, γ float64) float64 {
	total := 0.0
	for j, d := range s.d {
		v, τ := s.v[j], s.τ[j]
		total += s.by.excess(v, v-γ*t*d, τ)
	}
	return γ*gap - λ*total
}

// soft returns sign(x)·max(|x| − τ, 0).
func soft(x, τ float64) float64 { return x - max(min(x, τ), -τ) }

// collect lists v, D and τ where D differs from zero.
func (s *softSearch) collect(e *Engine, grad Gradient, v []float32, τ float64) {
	s.v, s.d, s.τ, s.by = s.v[:0], s.d[:0], s.τ[:0], e.primal()
	free := nets.Unshrunk(e.Scorer)
	grad.eachRow(func(d []float32, lo, hi int) {
		threshold := τ
		for _, r := range free {
			if lo >= r[0] && hi <= r[1] { // a row of weights lies within a range or outside
				threshold = 0
			}
		}
		s.add(v, d, lo, hi, threshold)
	})
}

func (s *softSearch) add(v, d []float32, lo, hi int, τ float64) {
	for j := lo; j < hi; j++ {
		if d[j] != 0 {
			s.v, s.d, s.τ = append(s.v, float64(v[j])), append(s.d, float64(d[j])), append(s.τ, τ)
		}
	}
}
