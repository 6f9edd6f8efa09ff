package engine

import (
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured/vec"
)

// Gradient is the D = Σ_{i∈B} c_i J_iᵀ(u_i − r_i) of a step, valid until the next call on the engine. With dense inputs it is
// a vector. With sparse inputs it stays in potential space, because each use of it is a single scatter into, or gather from,
// the few rows of weights that the batch touches.
type Gradient struct {
	dense    []float32 // D, or
	support  *support  // where D can differ from zero; nil: everywhere
	engine   *Engine   // whose first findings hold the batch and v, or
	findings int
	device   Accelerator // which holds D
}

// sumLanes returns the sum of the gradients of the first lanes. With sparse inputs it returns the findings themselves, not yet
// pulled back. With on, the gradients are zero outside it.
func (e *Engine) sumLanes(lanes, pieces int, on *support) Gradient {
	if e.sparse != nil {
		return Gradient{engine: e, findings: pieces}
	}
	g := Gradient{dense: e.lanes[0].grad, support: on}
	for _, ln := range e.lanes[1:lanes] {
		Gradient{dense: ln.grad, support: on}.AddTo(1, g.dense)
	}
	return g
}

// AddTo adds cD to w. It does not work for a D on a device: only paths on that device can use its entries.
func (g Gradient) AddTo(c float32, w []float32) {
	switch {
	case g.engine != nil:
		g.engine.scatter(g.findings, c, w, nil)
	case g.support != nil:
		g.support.axpy(c, g.dense, w)
	default:
		vec.Axpy(c, g.dense, w)
	}
}

// Norm2 returns ‖D‖².
func (g Gradient) Norm2() float64 {
	switch {
	case g.device != nil:
		return g.device.Norm2()
	case g.engine == nil:
		return vec.Norm2(g.dense)
	}
	return g.engine.norm.of(g.engine, g.findings)
}

// Dot returns ⟨D, w⟩.
func (g Gradient) Dot(w []float32) float64 {
	switch {
	case g.device != nil:
		return g.device.Dot(w)
	case g.engine == nil:
		return vec.Dot64(g.dense, w)
	}
	s, ln := 0.0, g.engine.lanes[0]
	for _, found := range g.engine.findings[:g.findings] {
		if err := ln.Worker.Score(w, &found.Batch, &ln.φ); err != nil {
			panic(err) // cannot happen: a worker of the same scorer has already scored this batch
		}
		for b := range found.Batch.Len() {
			s += found.V.Dot(b, &ln.φ)
		}
	}
	return s
}

// scatter adds c·Jᵀv of the first n findings to w, in order. norms is as in sparse.Linear.Scatter.
func (e *Engine) scatter(n int, c float32, w []float32, norms []float64) {
	threads := 1
	if n > 1 { // more than one step's worth
		threads = min(e.threads, sparse.Stripes)
	}
	if threads == 1 {
		for _, found := range e.findings[:n] {
			e.sparse.Scatter(c, &found.V, &found.Batch, 0, sparse.Stripes, w, norms)
		}
		return
	}
	e.parallel(threads, func(k int) {
		lo, hi := sparse.Stripes*k/threads, sparse.Stripes*(k+1)/threads
		for _, found := range e.findings[:n] {
			e.sparse.Scatter(c, &found.V, &found.Batch, lo, hi, w, norms)
		}
	})
}

// norm computes the length of a sparse gradient by adding it to a vector of zeros, which it then resets to zeros.
type norm struct {
	zeros []float32 // [Dim]
	parts [sparse.Stripes]float64
}

func (m *norm) of(e *Engine, n int) float64 {
	if m.zeros == nil {
		m.zeros = make([]float32, e.Scorer.Dim())
	}
	clear(m.parts[:])
	e.scatter(n, 1, m.zeros, m.parts[:])
	total := 0.0
	for _, x := range m.parts {
		total += x
	}
	for _, found := range e.findings[:n] {
		e.sparse.Erase(&found.V, &found.Batch, m.zeros)
	}
	return total
}
