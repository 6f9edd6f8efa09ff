package nets

import (
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
			out := make([]float32, 2*n)
			r.relu(out[:n], x)
			r.negativeParts(out[n:], x)
			return out
		})
		both("pool", func(r *rowLoops) []float32 {
			out := make([]float32, 5*n)
			r.poolMax(out[:n], x, y, z, u)
			r.poolPull(out[n:2*n], out[2*n:3*n], out[3*n:4*n], out[4*n:], x, y, z, top, u)
			return out
		})
	}
}
