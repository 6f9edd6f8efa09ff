package kernels

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// bitsOf makes slices with NaN comparable.
func bitsOf(xs []float32) []uint32 {
	to := make([]uint32, len(xs))
	for i, x := range xs {
		if to[i] = math.Float32bits(x); x != x {
			to[i] = 0x7fc00000
		}
	}
	return to
}

// The loops in use return the bits of the plain ones, in place too, for lengths that are not multiples of the lanes and
// for special values.
func TestGatesEqualPlain(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	special := []float32{0, 1, -1, 30, -30, 1e30, -1e30, float32(math.Inf(1)), float32(math.NaN())}
	for n := range 40 {
		x, y, z, e := gaussians(rng, n), gaussians(rng, n), gaussians(rng, n), gaussians(rng, n)
		for i := range n {
			if e[i] *= e[i]; i%5 == 0 {
				x[i], e[i] = special[rng.IntN(len(special))], float32(math.Exp(20*rng.NormFloat64()))
			}
		}
		both := func(what string, run func(g *gateLoops, r *numberLoops, out, x []float32)) {
			t.Helper()
			result := func(g *gateLoops, r *numberLoops) []uint32 {
				out, inPlace := make([]float32, n), slices.Clone(x)
				run(g, r, out, x)
				run(g, r, inPlace, inPlace)
				return bitsOf(append(out, inPlace...))
			}
			if got, want := result(Gates, Numbers), result(&plainGates, &plainNumbers); !slices.Equal(got, want) {
				t.Fatalf("%s of %d: %x, plain %x", what, n, got, want)
			}
		}
		both("a·x + b", func(g *gateLoops, _ *numberLoops, out, x []float32) { g.MulAdd(out, y, x, z) })
		both("a·y + x", func(g *gateLoops, _ *numberLoops, out, x []float32) { g.MulAdd(out, y, z, x) })
		both("sigmoid slope", func(g *gateLoops, _ *numberLoops, out, x []float32) { g.SigmoidSlope(out, x, y) })
		both("negate", func(g *gateLoops, _ *numberLoops, out, x []float32) { g.negate(out, x) })
		both("sigmoid", func(g *gateLoops, _ *numberLoops, out, x []float32) { g.sigmoidFromExp(out, x) })
		both("silu", func(g *gateLoops, _ *numberLoops, out, x []float32) { g.siluFromExp(out, x, e) })
		both("silu slope", func(g *gateLoops, _ *numberLoops, out, x []float32) { g.siluSlope(out, x, y, e) })
		both("gelu exponent", func(g *gateLoops, _ *numberLoops, out, x []float32) { g.geluExponent(out, x) })
		both("half squares", func(g *gateLoops, _ *numberLoops, out, x []float32) { g.halfSquares(out, x) })
		both("normal part", func(g *gateLoops, _ *numberLoops, out, x []float32) { g.normalPart(out, x, e) })
		both("normal slope", func(g *gateLoops, _ *numberLoops, out, x []float32) { g.normalSlope(out, x, y, e) })
		both("gelu slope", func(g *gateLoops, _ *numberLoops, out, x []float32) { g.geluSlope(out, x, y, e) })
		for _, number := range []float32{0.3, -7, 0} {
			both("x + number", func(_ *gateLoops, r *numberLoops, out, x []float32) { r.Add(out, x, number) })
			both("x · number", func(_ *gateLoops, r *numberLoops, out, x []float32) { r.Mul(out, x, number) })
			both("x / number", func(_ *gateLoops, r *numberLoops, out, x []float32) { r.Under(out, x, number) })
			both("number − x", func(_ *gateLoops, r *numberLoops, out, x []float32) { r.From(out, number, x) })
			both("number / x", func(_ *gateLoops, r *numberLoops, out, x []float32) { r.Over(out, number, x) })
			both("number", func(_ *gateLoops, r *numberLoops, out, _ []float32) { r.Fill(out, number) })
		}
		both("sum", func(_ *gateLoops, r *numberLoops, out, x []float32) {
			if n > 0 {
				out[0] = r.Sum(x)
			}
		})
		both("x / y", func(_ *gateLoops, r *numberLoops, out, x []float32) { r.Div(out, x, y) })
	}
}

// The loops compute what their comments say.
func TestNumbers(t *testing.T) {
	x, y, out := []float32{3, -4, 8}, []float32{2, 2, -16}, make([]float32, 3)
	for _, c := range []struct {
		what string
		run  func()
		want []float32
	}{
		{"x + 2", func() { Numbers.Add(out, x, 2) }, []float32{5, -2, 10}},
		{"2x", func() { Numbers.Mul(out, x, 2) }, []float32{6, -8, 16}},
		{"x/2", func() { Numbers.Under(out, x, 2) }, []float32{1.5, -2, 4}},
		{"2 − x", func() { Numbers.From(out, 2, x) }, []float32{-1, 6, -6}},
		{"24/x", func() { Numbers.Over(out, 24, x) }, []float32{8, -6, 3}},
		{"x/y", func() { Numbers.Div(out, x, y) }, []float32{1.5, -2, -0.5}},
		{"Σx", func() { Numbers.Fill(out, Numbers.Sum(slices.Repeat(x, 10))) }, []float32{70, 70, 70}},
		{"2", func() { Numbers.Fill(out, 2) }, []float32{2, 2, 2}},
		{"xy + x", func() { Gates.MulAdd(out, x, y, x) }, []float32{9, -12, -120}},
	} {
		if c.run(); !slices.Equal(out, c.want) {
			t.Errorf("%s: %v, want %v", c.what, out, c.want)
		}
	}
}

// NormalGELU has the bits of the steps that it takes together.
func TestNormalGELUInOnePass(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	e := make([]float32, Block)
	for n := range 70 {
		x := gaussians(rng, n)
		for i, v := range []float32{0, 30, -30, 1e30, -1e30, 1e-30, float32(math.NaN()), -14, 13.2} {
			if i < n {
				x[n-1-i] = v
			}
		}
		got, want := make([]float32, n), make([]float32, n)
		NormalGELU(got, x, e)
		fromExp(x, e, plainGates.halfSquares, func(lo, hi int, e []float32) {
			plainGates.normalPart(want[lo:hi], x[lo:hi], e)
		})
		if !slices.Equal(bitsOf(got), bitsOf(want)) {
			t.Fatalf("%g: %g, in steps %g", x, got, want)
		}
	}
}

// GELU and SiLU and their slopes follow the formulas in float64, from −∞ to ∞.
func TestSmoothActivations(t *testing.T) {
	gelu := func(x float64) float64 {
		return 0.5 * x * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
	}
	exact := func(x float64) float64 { return 0.5 * x * math.Erfc(-x/math.Sqrt2) }
	silu := func(x float64) float64 { return x / (1 + math.Exp(-x)) }
	var x []float32
	for i := -400; i <= 400; i++ {
		x = append(x, float32(i)/20)
	}
	x = append(x, 100, -100, 1e30, -1e30)
	for _, c := range []struct {
		name  string
		f     func(out, x, e []float32)
		slope func(out, x, g, e []float32)
		of    func(float64) float64
	}{{"gelu", GELU, GELUSlope, gelu}, {"gelu_erf", NormalGELU, NormalGELUSlope, exact}, {"silu", SiLU, SiLUSlope, silu}} {
		y, d, e := make([]float32, len(x)), make([]float32, len(x)), make([]float32, Block)
		c.f(y, x, e)
		Numbers.Fill(d, 3)
		c.slope(d, x, d, e)
		for i, v := range x {
			at, h := float64(v), 1e-5*max(1, math.Abs(float64(v)))
			if want := c.of(at); math.Abs(float64(y[i])-want) > 3e-7*max(1, math.Abs(want)) {
				t.Errorf("%s(%g) = %g, want %g", c.name, v, y[i], want)
			}
			if want := 3 * (c.of(at+h) - c.of(at-h)) / (2 * h); math.Abs(float64(d[i])-want) > 2e-5 {
				t.Errorf("%s'(%g)·3 = %g, want %g", c.name, v, d[i], want)
			}
		}
	}
	nan, out, e := []float32{float32(math.NaN())}, make([]float32, 1), make([]float32, Block)
	for _, f := range []func(){func() { GELU(out, nan, e) }, func() { SiLU(out, nan, e) },
		func() { NormalGELU(out, nan, e) }, func() { NormalGELUSlope(out, nan, nan, e) },
		func() { GELUSlope(out, nan, nan, e) }, func() { SiLUSlope(out, nan, nan, e) }} {
		if f(); out[0] == out[0] {
			t.Errorf("an activation of NaN is %g", out[0])
		}
	}
}
