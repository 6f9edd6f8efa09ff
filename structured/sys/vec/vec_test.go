package vec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// every runs a check on all loops that this build and machine have.
func every(t *testing.T, check func(t *testing.T)) {
	defer func(l *loops) { fastest = l }(fastest)
	for _, l := range available {
		fastest = l
		t.Run(fmt.Sprint(l.lanes, " lanes"), check)
	}
}

func random(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// Each operation equals its definition bit for bit, at lengths around whole vectors.
func TestElementWise(t *testing.T) {
	every(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for n := range 70 {
			x, y, z := random(r, n), random(r, n), random(r, n)
			a, b := float32(r.NormFloat64()), float32(r.NormFloat64())
			same := func(what string, op func(y []float32), want func(i int) float32) {
				got := slices.Clone(y)
				op(got)
				for i := range got {
					if w := want(i); math.Float32bits(got[i]) != math.Float32bits(w) {
						t.Fatalf("%s of %d: [%d] is %g, want %g", what, n, i, got[i], w)
					}
				}
			}
			same("Axpy", func(y []float32) { Axpy(a, x, y) }, func(i int) float32 { return y[i] + float32(a*x[i]) })
			same("Axpby", func(y []float32) { Axpby(a, x, b, y) },
				func(i int) float32 { return float32(a*x[i]) + float32(b*y[i]) })
			same("Mix", func(y []float32) { Mix(a, x, b, slices.Clone(y), y) },
				func(i int) float32 { return float32(a*x[i]) + float32(b*y[i]) })
			same("Scale", func(y []float32) { Scale(a, y) }, func(i int) float32 { return a * y[i] })
			same("AddScaledDiff", func(y []float32) { AddScaledDiff(a, x, z, y) },
				func(i int) float32 { return y[i] + float32(a*(x[i]-z[i])) })
			same("Standardise", func(y []float32) { Standardise(x, z, y) }, func(i int) float32 { return (y[i] - x[i]) * z[i] })
			same("Exp", func(y []float32) { Exp(x, y) }, func(i int) float32 { return exp(x[i]) })
		}
	})
}

func TestWithin(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	every(t, func(t *testing.T) {
		for n := range 40 {
			x := random(rand.New(rand.NewPCG(1, 2)), n)
			if !Within(5, x) {
				t.Fatalf("%v is not within 5", x)
			}
			for i := range x {
				for v, want := range map[float32]bool{5: true, -5: true, -inf: true, inf: false, nan: false, 5.000001: false,
					-5.000001: false, 0: true} {
					y := slices.Clone(x)
					if y[i] = v; Within(5, y) != want {
						t.Fatalf("with %v at %d of %d: %t", v, i, n, !want)
					}
				}
			}
		}
	})
}

func TestSums(t *testing.T) {
	every(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		for n := range 200 {
			x, y := random(r, n), random(r, n)
			var wantDot, wantDist, wantSum, wantNorm float64
			for i := range x {
				d := float64(x[i]) - float64(y[i])
				wantDot += float64(x[i]) * float64(y[i])
				wantNorm += float64(x[i]) * float64(x[i])
				wantDist += d * d
				wantSum += float64(x[i])
			}
			same := func(what string, got, plain, want float64) {
				if got != plain {
					t.Fatalf("%s of %d is %g, on one lane %g", what, n, got, plain)
				}
				if math.Abs(got-want) > 1e-12*float64(1+n) {
					t.Fatalf("%s of %d is %g, want %g", what, n, got, want)
				}
			}
			same("Dot64", Dot64(x, y), dot(x, y), wantDot)
			if got, want := Dot(x, y), single(x, y); math.Float32bits(got) != math.Float32bits(want) ||
				math.Abs(float64(got)-wantDot) > 1e-5*float64(1+n) {
				t.Fatalf("Dot of %d is %g, on one lane %g, want %g", n, got, want, wantDot)
			}
			d, p, q := make([]float32, n), random(r, n), random(r, n)
			var wantP, wantQ float64
			for i := range x {
				wantP += float64(x[i]-y[i]) * float64(p[i])
				wantQ += float64(x[i]-y[i]) * float64(q[i])
			}
			dp, dq := Differ(x, y, p, q, d)
			for i := range d {
				if d[i] != x[i]-y[i] {
					t.Fatalf("Differ of %d: [%d] is %g, want %g", n, i, d[i], x[i]-y[i])
				}
			}
			same("Differ", dp, dot(d, p), wantP)
			same("Differ", dq, dot(d, q), wantQ)
			same("Norm2", Norm2(x), dot(x, x), wantNorm)
			same("Dist2", Dist2(x, y), dist2(x, y), wantDist)
			same("Sum", Sum(x), sum(x), wantSum)
		}
	})
}

func TestExpDoubles(t *testing.T) {
	every(t, func(t *testing.T) {
		x := []float64{math.Inf(-1), 0, leastDouble, -708.5, -1e30, -1e-300, math.Copysign(0, -1)}
		for v := -720.0; v < 700; v += 0.1357 {
			x = append(x, v)
		}
		for n := range 20 {
			got := slices.Clone(x[:len(x)-n])
			ExpDoubles(got)
			for i, g := range got {
				want := math.Exp(x[i])
				if x[i] <= leastDouble {
					want = 0
				}
				if !(math.Abs(g-want) <= 5e-16*want) || g != expDouble(x[i]) {
					t.Fatalf("exp(%g) is %g, on one lane %g, want %g", x[i], g, expDouble(x[i]), want)
				}
			}
		}
	})
}

func TestExp(t *testing.T) {
	every(t, func(t *testing.T) {
		nan := []float32{float32(math.NaN()), 1}
		Exp(nan, nan)
		if nan[0] == nan[0] || nan[1] != exp(1) {
			t.Fatalf("exp(NaN), exp(1) are %g", nan)
		}
		var x []float32
		for v := float32(-100); v < 95; v += 0.0137 {
			x = append(x, v)
		}
		for _, v := range []float64{math.Inf(-1), math.Inf(1), 0, tooSmall, tooLarge, -1e30, 1e30, -87.5, 88.7} {
			x = append(x, float32(v))
		}
		got := make([]float32, len(x))
		Exp(x, got)
		for i, v := range x {
			want := math.Exp(float64(v))
			switch {
			case v < tooSmall:
				want = 0
			case want > math.MaxFloat32:
				want = math.Inf(1)
			}
			if g := float64(got[i]); g != want && !(math.Abs(g-want) <= 1.5e-7*want) {
				t.Fatalf("exp(%g) is %g, want %g, off by %g", v, g, want, (g-want)/want)
			}
			if got[i] != exp(v) {
				t.Fatalf("exp(%g) is %g, on one lane %g", v, got[i], exp(v))
			}
		}
	})
}

func BenchmarkAxpy(b *testing.B) {
	x, y := random(rand.New(rand.NewPCG(1, 1)), 4096), make([]float32, 4096)
	b.SetBytes(4096 * 12)
	for b.Loop() {
		Axpy(0.5, x, y)
	}
}

func BenchmarkDot64(b *testing.B) {
	x := random(rand.New(rand.NewPCG(1, 1)), 4096)
	b.SetBytes(4096 * 8)
	for b.Loop() {
		Dot64(x, x)
	}
}

func BenchmarkDot(b *testing.B) {
	x := random(rand.New(rand.NewPCG(1, 1)), 384)
	b.SetBytes(384 * 8)
	for b.Loop() {
		Dot(x, x)
	}
}

func BenchmarkExp(b *testing.B) {
	x, y := random(rand.New(rand.NewPCG(1, 1)), 4096), make([]float32, 4096)
	b.SetBytes(4096 * 8)
	for b.Loop() {
		Exp(x, y)
	}
}

func TestLargest(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	every(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		for n := range 40 {
			x := random(r, n)
			want := float32(0)
			for _, v := range x {
				want = max(want, float32(math.Abs(float64(v))))
			}
			if got := Largest(x); got != want {
				t.Fatalf("of %d numbers the largest is %g, want %g", n, got, want)
			}
			for k := range x {
				for _, with := range []struct{ put, want float32 }{{-inf, 0}, {inf, inf}, {-math.MaxFloat32, math.MaxFloat32},
					{nan, nan}, {-nan, nan}} {
					one := make([]float32, n)
					one[k] = with.put
					if got := Largest(one); got != with.want && (got == got || with.want == with.want) {
						t.Fatalf("with %g at %d of %d the largest is %g, want %g", with.put, k, n, got, with.want)
					}
				}
			}
		}
	})
}
