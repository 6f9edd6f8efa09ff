package nets

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The loops in use give the plain ones' bits, also in place and for lengths that are no multiple of the lanes.
func TestRowsEqualPlain(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 40 {
		x, y, z, u := randomVector(rng, n, 1), randomVector(rng, n, 1), randomVector(rng, n, 1), randomVector(rng, n, 1)
		for i := range n {
			if i%3 == 0 {
				x[i] = max(x[i], 0)
				y[i] = x[i]
			}
		}
		top := make([]float32, n)
		plainRows.poolMax(top, x, y, z, u)
		both := func(what string, f func(r *rowLoops) []float32) {
			if got, want := f(fast), f(&plainRows); !slices.Equal(got, want) {
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
		both("add", three(func(r *rowLoops) func(out, x, y []float32) { return r.add }))
		both("sub", three(func(r *rowLoops) func(out, x, y []float32) { return r.sub }))
		both("mul", three(func(r *rowLoops) func(out, x, y []float32) { return r.mul }))
		both("elu", three(func(r *rowLoops) func(out, x, y []float32) { return r.eluFromExp }))
		both("relu slope", three(func(r *rowLoops) func(out, x, y []float32) { return r.reluSlope }))
		both("elu slope", three(func(r *rowLoops) func(out, x, y []float32) { return r.eluSlope }))
		both("tanh slope", three(func(r *rowLoops) func(out, x, y []float32) { return r.tanhSlope }))
		both("relu", func(r *rowLoops) []float32 {
			out := make([]float32, 3*n)
			r.relu(out[:n], x)
			r.negativeParts(out[n:2*n], x)
			r.tanhFromExp(out[2*n:], y)
			return out
		})
		both("pool", func(r *rowLoops) []float32 {
			out := make([]float32, 6*n)
			r.poolMax(out[:n], x, y, z, u)
			r.poolPull(out[n:2*n], out[2*n:3*n], out[3*n:4*n], out[4*n:5*n], x, y, z, top, u)
			r.poolPush(out[5*n:], x, y, z, top, u, z, y, x)
			return out
		})
	}
}

// A weight that has become NaN must be seen in the potentials, so no activation may swallow it; −0 has no sign.
func TestActivationsPassNaN(t *testing.T) {
	nan := math.Float32frombits(0xffc00000) // as a processor makes them: with the sign bit
	for a := range activations {
		x, scratch := make([]float32, 19), make([]float32, block)
		for i := range x {
			x[i] = []float32{nan, float32(math.Copysign(0, -1)), -1, 2}[i%4]
		}
		out, g := make([]float32, len(x)), make([]float32, len(x))
		unaries[string(a)].apply(out, x, scratch)
		fill(g, 1)
		unaries[string(a)].slope(g, out, g)
		for i, y := range out {
			want := activations[a]
			if isNaN := y != y; isNaN != (i%4 == 0) {
				t.Errorf("%s(%g) = %g", a, x[i], y)
			} else if !isNaN && math.Abs(float64(y)-want.f(float64(x[i]))) > 1e-6 {
				t.Errorf("%s(%g) = %g", a, x[i], y)
			} else if !isNaN && math.Abs(float64(g[i])-want.slope(want.f(float64(x[i])))) > 1e-6 {
				t.Errorf("%s'(%g) = %g", a, x[i], g[i])
			}
		}
	}
}
