package engine

import "slices"

// mostSpare is how many vectors that are of no more use wait for another one. A method that forgets an old point when it accepts a new one forgets
// two, its weights and its gradient.
const mostSpare = 2

// Vector returns n numbers of undefined content: memory that Reuse was given, if it suffices. New memory of a process costs the system, and
// the garbage collector, as much as a copy of it.
func (e *Engine) Vector(n int) []float32 {
	for k, x := range e.spare {
		if cap(x) >= n {
			e.spare = slices.Delete(e.spare, k, k+1)
			return x[:n]
		}
	}
	return make([]float32, n)
}

// Reuse takes a vector that is of no more use to anyone, such as a FullPass's gradient.
func (e *Engine) Reuse(x []float32) {
	if len(e.spare) == mostSpare {
		e.spare = slices.Delete(e.spare, 0, 1)
	}
	e.spare = append(e.spare, x)
}
