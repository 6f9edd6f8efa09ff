package vec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The adaptive updates follow their formulas, and give the same bits on every implementation, at lengths around whole
// vectors.
func TestAdaptive(t *testing.T) {
	every(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		for n := range 70 {
			g, w, m, v, q := random(r, n), random(r, n), random(r, n), random(r, n), make([]float32, n)
			for i := range v {
				if v[i] *= v[i]; i%7 == 3 {
					v[i], g[i] = 0, 0
				}
			}
			h := func(v float32) float64 { return math.Sqrt(1.5*float64(v)) + Floor }
			check := func(what string, x []float32, formula func(i int) float64) {
				t.Helper()
				for i := range x {
					if want := formula(i); math.Abs(float64(x[i])-want) > 1e-5*(1+math.Abs(want)) {
						t.Fatalf("%s of %d: [%d] is %g, want %g", what, n, i, x[i], want)
					}
				}
			}
			v1, q1 := slices.Clone(v), slices.Clone(q)
			Observe(0.9, 1.5, g, v1, q1)
			check("v of Observe", v1, func(i int) float64 { return 0.9*float64(v[i]) + 0.1*float64(g[i])*float64(g[i]) })
			check("q of Observe", q1, func(i int) float64 {
				if v1[i] == 0 {
					return 0
				}
				return 1 / h(v1[i])
			})
			v3, q3 := slices.Clone(v), slices.Clone(q)
			ObserveTempered(0.9, 1.5, 2, 0.25, g, v3, q3)
			check("q of ObserveTempered", q3, func(i int) float64 {
				if v3[i] == 0 {
					return 0
				}
				return 1 / (math.Sqrt(2*h(v3[i])) + 0.25)
			})
			v4, q4 := slices.Clone(v), slices.Clone(q)
			observeTempered(0.9, 1.5, 2, 0.25, g, v4, q4)
			v2, q2 := slices.Clone(v), slices.Clone(q)
			observe(0.9, 1.5, g, v2, q2)
			w1, w2 := slices.Clone(w), slices.Clone(w)
			Descend(0.5, g, 0.75, q1, w1)
			descend(0.5, g, 0.75, q1, w2)
			check("Descend", w1, func(i int) float64 {
				return float64(w[i]) - float64(q1[i])*(0.5*float64(g[i])+0.75*float64(w[i]))
			})
			d1, d2 := slices.Clone(w), slices.Clone(w)
			Decay(0.25, v, d1)
			decay(0.25, v, d2)
			check("Decay", d1, func(i int) float64 {
				if v[i] == 0 {
					return float64(w[i])
				}
				return float64(w[i]) * math.Exp(-0.25/math.Sqrt(math.Sqrt(float64(v[i]))+Floor))
			})
			m1, m2, s1, s2 := slices.Clone(m), slices.Clone(m), slices.Clone(w), slices.Clone(w)
			DescendMean(0.9, 0.99, 0.01, g, q1, m1, s1)
			descendMean(0.9, 0.99, 0.01, g, q1, m2, s2)
			check("DescendMean", s1, func(i int) float64 {
				return 0.99*float64(w[i]) - 0.01*(0.9*float64(m[i])+0.1*float64(g[i]))*float64(q1[i])
			})
			for what, pair := range map[string][2][]float32{"v": {v1, v2}, "q": {q1, q2}, "v of ObserveTempered": {v3, v1},
				"v of ObserveTempered, one lane": {v4, v1}, "q of ObserveTempered": {q3, q4}, "Descend": {w1, w2},
				"Decay": {d1, d2}, "m": {m1, m2}, "DescendMean": {s1, s2}} {
				if !slices.Equal(pair[0], pair[1]) {
					t.Fatalf("%s of %d differs from one lane: %v and %v", what, n, pair[0], pair[1])
				}
			}
			want := 0.0
			for i := range g {
				want += float64(float32(g[i]*w[i])) * float64(q1[i])
			}
			if got := Dot3(g, w, q1); got != dot3(g, w, q1) || math.Abs(got-want) > 1e-12*float64(1+n) {
				t.Fatalf("Dot3 of %d is %g, on one lane %g, want %g", n, got, dot3(g, w, q1), want)
			}
		}
	})
}

// The updates of 100,000 weights, a tenth of which has never had a gradient.
func BenchmarkAdaptive(b *testing.B) {
	r, n := rand.New(rand.NewPCG(5, 6)), 100_003
	g, w, v, q := random(r, n), random(r, n), random(r, n), make([]float32, n)
	for i := range v {
		if v[i] *= v[i]; i%10 == 3 {
			v[i], g[i] = 0, 0
		}
	}
	for k, loops := range available {
		for name, f := range map[string]func(){
			"observe":         func() { loops.observe(0.9, 1.5, g, v, q) },
			"observeTempered": func() { loops.observeTempered(0.9, 1.5, 2, 0.25, g, v, q) },
			"decay":           func() { loops.decay(0.25, v, w) },
		} {
			b.Run(fmt.Sprintf("%d/%s", k, name), func(b *testing.B) {
				for b.Loop() {
					f()
				}
			})
		}
	}
}
