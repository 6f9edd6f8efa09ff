package engine

import (
	"math"
	"testing"

	"github.com/dsp-go/dsp/structured/sys/vec"
	"pgregory.net/rapid"
)

// The search finds the largest gain of all steps, and says how large it is.
func TestSoftSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.IntRange(1, 6).Draw(t, "dim")
		number := rapid.Float32Range(-2, 2)
		v, d := rapid.SliceOfN(number, dim, dim).Draw(t, "v"), rapid.SliceOfN(number, dim, dim).Draw(t, "D")
		if vec.Norm2(d) < 1e-3 {
			return
		}
		τ := rapid.Float32Range(0.01, 3).Draw(t, "τ")
		λ, scale := rapid.Float64Range(0.1, 3).Draw(t, "λ"), rapid.Float64Range(0.1, 3).Draw(t, "t")
		gap, most := rapid.Float64Range(0.01, 3).Draw(t, "gap"), rapid.SampledFrom([]float64{1, 0.3, 10}).Draw(t, "most")
		o := &Objective{Bounds: drawBounds(t)}
		weight := func(v float64) float64 {
			w := soft(v, float64(τ))
			if o.Bounds != nil {
				w = min(max(w, float64(o.Bounds.Low)), float64(o.Bounds.High))
			}
			return w
		}
		value := func(γ float64) float64 {
			s := 0.0
			for j, x := range d {
				from, to := float64(v[j]), float64(v[j])-γ*scale*float64(x)
				a, b := weight(from), weight(to)
				conjugate := func(v, w float64) float64 { return v*w - w*w/2 - float64(τ)*math.Abs(w) }
				s += conjugate(to, b) - conjugate(from, a) - a*(to-from)
			}
			return γ*gap - λ*s
		}
		γ, gain := (&Engine{Evaluation: &Evaluation{Objective: o}}).SoftSearch(&denseGradient{d, &touchedRows{spans: []span{{0, dim}}}}, v, τ, λ, scale, gap, most)
		if !(γ > 0 && γ <= most) || math.Abs(gain-value(γ)) > 1e-9*(1+math.Abs(gain)) {
			t.Fatalf("γ %g gains %g, the search says %g", γ, value(γ), gain)
		}
		for k := range 1001 {
			if other := value(most * float64(k) / 1000); other > gain+2*flat*gap*most {
				t.Fatalf("γ %g gains %g, the search found %g with %g", most*float64(k)/1000, other, γ, gain)
			}
		}
	})
}
