package engine

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The bound is the minimum over the box, attained at the clipped minimum of each weight, and the slope is its
// derivative.
func TestCentralBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.IntRange(1, 6).Draw(t, "dim")
		numbers := rapid.SliceOfN(rapid.Float64Range(-2, 2), dim, dim)
		g, d, γ := numbers.Draw(t, "g"), numbers.Draw(t, "d"), rapid.Float64Range(0, 1).Draw(t, "γ")
		o := &Objective{Lambda: rapid.Float64Range(0.1, 3).Draw(t, "λ"), Bounds: drawBounds(t)}
		if rapid.Bool().Draw(t, "center") {
			o.Center = rapid.SliceOfN(rapid.Float32Range(-1, 1), dim, dim).Draw(t, "c")
		}
		value := func(γ float64) (least, far float64) {
			for j := range g {
				c, x := 0.0, g[j]+γ*d[j]
				if o.Center != nil {
					c = float64(o.Center[j])
				}
				w := c - x/o.Lambda
				if o.Bounds != nil {
					w = min(max(w, float64(o.Bounds.Low)), float64(o.Bounds.High))
				}
				least += x*(w-c) + o.Lambda/2*(w-c)*(w-c)
				far += (w - c) * (w - c)
			}
			return least, far
		}
		least, slope, far := o.CentralBound(g, d, γ)
		want, distance := value(γ)
		if math.Abs(least-want) > 1e-9*(1+math.Abs(want)) || math.Abs(far-distance) > 1e-9*(1+distance) {
			t.Fatalf("bound %g and distance %g, want %g and %g", least, far, want, distance)
		}
		const h = 1e-5 // the second derivative is at most Σd²/λ = 240
		before, _ := value(γ - h)
		after, _ := value(γ + h)
		if math.Abs(slope-(after-before)/(2*h)) > 2e-3 {
			t.Fatalf("slope %g, by differences %g", slope, (after-before)/(2*h))
		}
	})
}
