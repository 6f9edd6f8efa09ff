package engine

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// No weights in the ball have a lower value than the bound, and some come close to it.
func TestBallBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := &Objective{Radius: rapid.Float64Range(0.1, 3).Draw(t, "R"), Lambda: rapid.SampledFrom([]float64{0, 0.1, 1}).Draw(t, "λ"), Constant: 0.5}
		number := rapid.Float64Range(-2, 2)
		g := []float64{number.Draw(t, "g₀"), number.Draw(t, "g₁")}
		a := number.Draw(t, "a")
		bound, least := o.BallBound(a, g), math.Inf(1)
		const steps = 200
		for i := -steps; i <= steps; i++ { // |w₀| + |w₁| ≤ R
			x := o.Radius * float64(i) / steps
			rest := o.Radius - math.Abs(x)
			for j := -steps; j <= steps; j++ {
				y := rest * float64(j) / steps
				least = min(least, a+g[0]*x+g[1]*y+o.Lambda/2*(x*x+y*y)+o.Constant)
			}
		}
		if bound > least+1e-9 || bound < least-2*o.Radius*(2+o.Lambda*o.Radius)/steps {
			t.Fatalf("the bound is %g, the least value %g", bound, least)
		}
		w := []float32{float32(o.Radius), 1e-3}
		o.IntoBall(w)
		if n := math.Abs(float64(w[0])) + math.Abs(float64(w[1])); n > o.Radius || n < o.Radius*(1-1e-6) {
			t.Fatalf("‖w‖₁ = %g, R = %g", n, o.Radius)
		}
	})
}
