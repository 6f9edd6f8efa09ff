package adversary

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/train/traintest"
)

// The reference encloses optima that are known in closed form: one block of two outputs, whose scores differ by b +
// a·w, with λ₁ or without.
func TestReferenceOfTwoOutputs(t *testing.T) {
	for _, c := range []struct{ a, b, λ, λ1 float64 }{{1, 1, 1, 0}, {2, 1, 0.1, 0}, {-3, 0.5, 0.01, 0.2}, {0.1, 1, 1, 0.5}, {5, 2, 0, 0.1}} {
		for _, smooth := range []bool{false, true} {
			x := &explicit{h: map[bool]curve{false: largest, true: logSum}[smooth], λ: c.λ, λ1: []float64{c.λ1}, center: []float64{0}, blocks: []block{{κ: 1, a: [][]float64{{0}, {c.a}}, b: []float64{0, c.b}}}}
			f := func(w float64) float64 {
				z := c.b + c.a*w
				h := max(0, z)
				if smooth {
					h = max(0, z) + math.Log1p(math.Exp(-math.Abs(z)))
				}
				return h + c.λ/2*w*w + c.λ1*math.Abs(w)
			}
			lo, hi := -1e3, 1e3 // F is convex: golden section
			for range 200 {
				l, r := lo+(hi-lo)*0.382, lo+(hi-lo)*0.618
				if f(l) < f(r) {
					hi = r
				} else {
					lo = l
				}
			}
			least := f((lo + hi) / 2)
			best := x.minimise()
			if !(best.lower <= least+1e-13 && best.upper >= least-1e-13 && best.width() <= 1e-9) {
				t.Errorf("%+v, smooth %v: enclosure [%.15g, %.15g], least value %.15g", c, smooth, best.lower, best.upper, least)
			}
		}
	}
}

// Every point is a bound: values of random weights are above the enclosure, dual values of random mixtures below it.
func TestReferenceEncloses(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, c := range grid(5) {
		if c.nasty != "benign" || c.terms == "zero weights" || c.terms == "l1 only" || r.IntN(20) > 0 { // of these the enclosure is wider
			continue
		}
		x := list(t, c.problem(t))
		best := x.minimise()
		if !(best.lower <= best.upper && best.width() <= 1e-9) {
			t.Errorf("%v: [%.15g, %.15g]", c, best.lower, best.upper)
		}
		for range 20 {
			scale := math.Pow(10, -float64(r.IntN(8)))
			w := append([]float64(nil), best.w...)
			for j, v := range traintest.DrawWeights(r, len(w), scale) {
				w[j] = x.clip(w[j] + float64(v))
			}
			if _, f := x.value(w); f < best.lower {
				t.Errorf("%v: F is %.15g, at least %.15g is proven", c, f, best.lower)
			}
			q := make([][]float64, len(x.blocks))
			for k, b := range x.blocks {
				for range b.b {
					q[k] = append(q[k], r.ExpFloat64())
				}
			}
			if d := x.dual(q); d > best.upper {
				t.Errorf("%v: a dual value is %.15g, the optimum at most %.15g", c, d, best.upper)
			}
		}
	}
}
