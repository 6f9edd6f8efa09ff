package engine

import (
	"slices"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// mostSpare is how many vectors that are of no more use wait for another one. A method that forgets an old point when
// it accepts a new one forgets two, its weights and its gradient.
const mostSpare = 2

// vectors is memory of an engine that is used again.
type vectors struct {
	narrow []float32 // the gradient of a full pass in float32, or of a step in parts
	wide   []float64 // the gradient of a full pass
	spare  [][]float32
}

// zeros returns memory for a gradient in float64.
func (v *vectors) zeros(n int) []float64 {
	if cap(v.wide) < n {
		v.wide = vec.Huge[float64](n)
		return v.wide
	}
	v.wide = v.wide[:n]
	clear(v.wide)
	return v.wide
}

// narrowNumbers returns memory for a gradient in float32, and narrowZeros clears it.
func (v *vectors) narrowNumbers(n int) []float32 {
	v.narrow = vec.Grow(v.narrow, n)
	return v.narrow
}

func (v *vectors) narrowZeros(n int) []float32 {
	clear(v.narrowNumbers(n))
	return v.narrow
}

// Vector returns n numbers of undefined content: memory that Reuse was given, if it suffices. New memory of a process
// costs the system, and the garbage collector, as much as a copy of it.
func (e *Engine) Vector(n int) []float32 {
	v := &e.vectors
	for k, x := range v.spare {
		if cap(x) >= n {
			v.spare = slices.Delete(v.spare, k, k+1)
			return x[:n]
		}
	}
	return vec.Huge[float32](n)
}

// Reuse takes a vector that is of no more use to anyone, such as a FullPass's gradient.
func (e *Engine) Reuse(x []float32) {
	v := &e.vectors
	if len(v.spare) == mostSpare {
		v.spare = slices.Delete(v.spare, 0, 1)
	}
	v.spare = append(v.spare, x)
}
