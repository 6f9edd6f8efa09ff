package engine

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// drawElastic draws an objective's regulariser with a gradient, and λ₁ at which some entries of the gradient matter.
func drawElastic(t *rapid.T) (o *Objective, a float64, g []float32) {
	number := rapid.Float32Range(-2, 2)
	dim := rapid.IntRange(1, 4).Draw(t, "dim")
	o = &Objective{Data: &structured.Dataset{Offsets: []int{0, 1}}, L1: rapid.Float64Range(0.01, 1.5).Draw(t, "λ₁"), Constant: 0.25}
	o.Lambda = rapid.SampledFrom([]float64{0, 0.05, 0.5, 3}).Draw(t, "λ")
	g = rapid.SliceOfN(number, dim, dim).Draw(t, "g")
	if o.Lambda > 0 && rapid.Bool().Draw(t, "centred") {
		o.Center = rapid.SliceOfN(number, dim, dim).Draw(t, "c")
	}
	return o, rapid.Float64Range(0, 3).Draw(t, "a"), g
}

// drawBounds draws bounds of weights, or none.
func drawBounds(t *rapid.T) *Bounds {
	inf := float32(math.Inf(1))
	return rapid.SampledFrom([]*Bounds{nil, {-0.5, 0.25}, {0, inf}, {0.5, 1}, {-inf, -0.25}}).Draw(t, "bounds")
}

// ElasticBound is the maximum over s of the minimum over w, both by search, and a bound for every w at s = 0 and 1.
func TestElasticBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, a, g := drawElastic(t)
		low, high := -60.0, 60.0
		if o.Lambda > 0 {
			if o.Bounds = drawBounds(t); o.Bounds != nil {
				low, high = max(low, float64(o.Bounds.Low)), min(high, float64(o.Bounds.High))
			}
		}
		got, _ := o.ElasticBound(a, g)
		value := func(s float64) float64 { // by golden section in every coordinate; −∞ if unbounded
			d := s*a + o.Constant
			for j, x := range g {
				c := 0.0
				if o.Center != nil {
					c = float64(o.Center[j])
				}
				f := func(w float64) float64 { return s*float64(x)*w + o.L1*math.Abs(w) + o.Lambda/2*(w-c)*(w-c) }
				if o.Lambda == 0 && s*math.Abs(float64(x)) > o.L1*(1+1e-12) {
					return math.Inf(-1)
				}
				lo, hi := low, high
				for range 100 {
					p, q := lo+0.382*(hi-lo), hi-0.382*(hi-lo)
					if f(p) < f(q) {
						hi = q
					} else {
						lo = p
					}
				}
				d += f((lo + hi) / 2)
			}
			return d
		}
		lo, hi := 0.0, 1.0
		for range 100 {
			p, q := lo+0.382*(hi-lo), hi-0.382*(hi-lo)
			if value(p) > value(q) || math.IsInf(value(q), -1) {
				hi = q
			} else {
				lo = p
			}
		}
		want := max(value(lo), value(0), value(1))
		if math.Abs(got-want) > 1e-5*(1+math.Abs(want)) {
			t.Fatalf("bound %.9g, want %.9g", got, want)
		}
	})
}

// The dual value of v = c − g/λ with its soft thresholds as weights is the minimum over w, and they are the minimiser.
func TestThresholdedDual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, a, g := drawElastic(t)
		if o.Lambda == 0 {
			return
		}
		v := make([]float32, len(g))
		copy(v, o.Center)
		vec.Axpy(float32(-1/o.Lambda), g, v)
		w := o.Soften(v, float32(o.L1/o.Lambda))
		f := func(w []float32) float64 { return a + vec.Dot64(g, w) + o.regulariser(w) }
		if d := o.DualValue(a, w); math.Abs(d-f(w)) > 1e-4*(1+math.Abs(d)) {
			t.Fatalf("dual %.9g, but the function is %.9g at its weights", d, f(w))
		}
		for j := range w {
			kept, least := w[j], f(w)
			for _, δ := range []float32{-1e-2, 1e-2} {
				if w[j] = kept + δ; f(w) < least-1e-5*(1+math.Abs(least)) {
					t.Fatalf("weight %d: %g is better than %g", j, w[j], kept)
				}
			}
			w[j] = kept
		}
	})
}
