package kernels

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The loops in use return the bits of the plain ones, in place too, and for lengths that are not multiples of the
// lanes.
func TestRowsEqualPlain(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 40 {
		x, y, z, u := gaussians(rng, n), gaussians(rng, n), gaussians(rng, n), gaussians(rng, n)
		for i := range n {
			if i%3 == 0 {
				x[i] = max(x[i], 0)
				y[i] = x[i]
			}
		}
		top := make([]float32, n)
		plainRows.PoolMax(top, x, y, z, u)
		both := func(what string, f func(r *rowLoops) []float32) {
			if got, want := f(Rows), f(&plainRows); !slices.Equal(got, want) {
				t.Fatalf("%s of %d: %v, plain %v", what, n, got, want)
			}
		}
		three := func(f func(r *rowLoops) func(out, x, y []float32)) func(r *rowLoops) []float32 {
			return func(r *rowLoops) []float32 {
				out, inPlace := make([]float32, n), slices.Clone(x)
				f(r)(out, x, y)
				f(r)(inPlace, inPlace, y)
				return append(out, inPlace...)
			}
		}
		both("add", three(func(r *rowLoops) func(out, x, y []float32) { return r.Add }))
		both("sub", three(func(r *rowLoops) func(out, x, y []float32) { return r.Sub }))
		both("mul", three(func(r *rowLoops) func(out, x, y []float32) { return r.Mul }))
		both("elu", three(func(r *rowLoops) func(out, x, y []float32) { return r.ELUFromExp }))
		both("relu slope", three(func(r *rowLoops) func(out, x, y []float32) { return r.ReLUSlope }))
		both("elu slope", three(func(r *rowLoops) func(out, x, y []float32) { return r.ELUSlope }))
		both("tanh slope", three(func(r *rowLoops) func(out, x, y []float32) { return r.TanhSlope }))
		both("relu", func(r *rowLoops) []float32 {
			out := make([]float32, 3*n)
			r.ReLU(out[:n], x)
			r.negativeParts(out[n:2*n], x)
			r.tanhFromExp(out[2*n:], y)
			return out
		})
		both("max", three(func(r *rowLoops) func(out, x, y []float32) { return r.Max }))
		both("first of equal rows", func(r *rowLoops) []float32 {
			out := slices.Clone(u)
			r.Pick(out, x, y, z)
			taken, left := make([]float32, n), slices.Clone(u)
			r.Take(taken, left, x, y)
			return slices.Concat(out, taken, left)
		})
		both("pool", func(r *rowLoops) []float32 {
			out := make([]float32, 6*n)
			r.PoolMax(out[:n], x, y, z, u)
			r.PoolPull(out[n:2*n], out[2*n:3*n], out[3*n:4*n], out[4*n:5*n], x, y, z, top, u)
			r.PoolPush(out[5*n:], x, y, z, top, u, z, y, x)
			return out
		})
	}
}

// Activations pass NaN on, so that a NaN weight shows in the potentials. −0 gives 0.
func TestActivationsPassNaN(t *testing.T) {
	nan := math.Float32frombits(0xffc00000) // as a processor makes them: with the sign bit
	for _, a := range []struct {
		name     string
		f        func(out, x, scratch []float32)
		slope    func(out, y, g []float32)
		of       func(x float64) float64
		slopeFor func(y float64) float64
	}{
		{"elu", ELU, Rows.ELUSlope,
			func(x float64) float64 { return max(x, math.Expm1(min(x, 0))) }, func(y float64) float64 { return min(y, 0) + 1 }},
		{"tanh", Tanh, Rows.TanhSlope, math.Tanh, func(y float64) float64 { return 1 - y*y }},
		{"relu", func(out, x, _ []float32) { Rows.ReLU(out, x) }, Rows.ReLUSlope,
			func(x float64) float64 { return max(x, 0) }, func(y float64) float64 { return math.Ceil(min(y, 1)) }},
		{"sigmoid", Sigmoid, nil, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, nil},
	} {
		x, scratch := make([]float32, 19), make([]float32, Block)
		for i := range x {
			x[i] = []float32{nan, float32(math.Copysign(0, -1)), -1, 2}[i%4]
		}
		out, g := make([]float32, len(x)), slices.Repeat([]float32{1}, len(x))
		a.f(out, x, scratch)
		if a.slope != nil {
			a.slope(g, out, g)
		}
		for i, y := range out {
			want := a.of(float64(x[i]))
			if isNaN := y != y; isNaN != (i%4 == 0) {
				t.Errorf("%s(%g) = %g", a.name, x[i], y)
			} else if !isNaN && math.Abs(float64(y)-want) > 1e-6 {
				t.Errorf("%s(%g) = %g", a.name, x[i], y)
			} else if !isNaN && a.slope != nil && math.Abs(float64(g[i])-a.slopeFor(want)) > 1e-6 {
				t.Errorf("%s'(%g) = %g", a.name, x[i], g[i])
			}
		}
	}
}

// gaussians draws n standard normal numbers.
func gaussians(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}
