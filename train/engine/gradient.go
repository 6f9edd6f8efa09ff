package engine

import (
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/machine/vec"
)

// Gradient is the D = Σ_{i∈B} c_i J_iᵀ(u_i − r_i) of a step, valid until the next call on the engine.
type Gradient interface {
	// AddTo adds cD to w. A D on a device cannot be added: only paths on that device use its entries. AddToTwo adds cD to w and dD to u, for which a sparse D takes less time than two calls.
	AddTo(c float32, w []float32)
	AddToTwo(c float32, w []float32, d float32, u []float32)
	// Norm2 returns ‖D‖².
	Norm2() float64
	// Dot returns ⟨D, w⟩.
	Dot(w []float32) float64
}

// denseGradient is a D that is a vector.
type denseGradient struct {
	values  []float32
	support *support // where D can differ from zero; nil: everywhere
}

func (g *denseGradient) AddTo(c float32, w []float32) {
	if g.support != nil {
		g.support.axpy(c, g.values, w)
	} else {
		vec.Axpy(c, g.values, w)
	}
}

func (g *denseGradient) AddToTwo(c float32, w []float32, d float32, u []float32) {
	g.AddTo(c, w)
	g.AddTo(d, u)
}

func (g *denseGradient) Norm2() float64          { return vec.Norm2(g.values) }
func (g *denseGradient) Dot(w []float32) float64 { return vec.Dot64(g.values, w) }

// sparseGradient is a D of sparse inputs. It stays in potential space, because each use of it is a single scatter into, or gather
// from, the few rows of weights that the batch touches. The engine's first findings hold the batch and v.
type sparseGradient struct {
	engine   *Engine
	findings int
}

func (g *sparseGradient) AddTo(c float32, w []float32) { g.engine.scatter(g.findings, c, w, nil) }

func (g *sparseGradient) AddToTwo(c float32, w []float32, d float32, u []float32) {
	e := g.engine
	e.overStripes(g.findings, func(found *finding, lo, hi int) {
		e.sparse.ScatterTwo(c, d, &found.V, &found.Batch, lo, hi, w, u)
	})
}
func (g *sparseGradient) Norm2() float64 { return g.engine.norm.of(g.engine, g.findings) }

func (g *sparseGradient) Dot(w []float32) float64 {
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

// remoteGradient is the D that a device holds.
type remoteGradient struct{ *remote }

func (g remoteGradient) AddTo(float32, []float32) {
	panic("engine: a gradient on a device has no entries on the host") // no method asks
}

func (g remoteGradient) AddToTwo(c float32, w []float32, _ float32, _ []float32) { g.AddTo(c, w) }
func (g remoteGradient) Norm2() float64                                          { return g.device.Norm2() }
func (g remoteGradient) Dot(w []float32) float64                                 { return g.device.Dot(w) }

// clearGradient prepares a lane for the gradient of a full pass.
func (e *Engine) clearGradient(ln *Lane) {
	if e.precise && e.sparse == nil {
		ln.wide = vec.Grow(ln.wide, e.Scorer.Dim())
		clear(ln.wide)
		return
	}
	e.giveGradient(ln)
	clear(ln.grad)
	ln.full = true
}

// giveGradient makes sure that a lane has a gradient.
func (e *Engine) giveGradient(ln *Lane) {
	if ln.grad == nil && e.sparse == nil {
		ln.grad = make([]float32, e.Scorer.Dim())
	}
}

// pullback adds Jᵀv of a lane's shard to the lane's gradient of a full pass.
func (e *Engine) pullback(ln *Lane) error {
	if e.precise {
		return ln.precise.PullbackPrecisely(&ln.V, ln.wide)
	}
	return ln.Worker.Pullback(&ln.V, ln.grad)
}

// scatterWide adds Jᵀv of a batch to some stripes of g in a full pass, in one in float64 with other numbers than those of v.
func (e *Engine) scatterWide(v *structured.Marginals, wide structured.Doubles, batch *structured.Batch, lo, hi int, g []float64) {
	if e.pulls {
		e.sparse.ScatterDoubly(v, wide, batch, lo, hi, g)
	} else {
		e.sparse.ScatterDouble(v, batch, lo, hi, g)
	}
}

// scatter adds c·Jᵀv of the first n findings to w, in order. norms is as in sparse.Linear.Scatter.
func (e *Engine) scatter(n int, c float32, w []float32, norms []float64) {
	e.overStripes(n, func(found *finding, lo, hi int) {
		e.sparse.Scatter(c, &found.V, &found.Batch, lo, hi, w, norms)
	})
}

// overStripes calls add for the first n findings in order, and on each thread for some stripes.
func (e *Engine) overStripes(n int, add func(found *finding, lo, hi int)) {
	threads := 1
	if n > 1 { // more than one step's worth
		threads = min(e.threads, sparse.Stripes)
	}
	e.Parallel(threads, func(k int) {
		for _, found := range e.findings[:n] {
			add(found, sparse.Stripes*k/threads, sparse.Stripes*(k+1)/threads)
		}
	})
}

// norm computes the length of a sparse gradient by adding it to a vector of zeros, which it then resets to zeros.
type norm struct {
	zeros []float32 // [Dim]
	parts [sparse.Stripes]float64
}

// scratch returns the vector of zeros [Dim], which the caller must leave as zeros.
func (m *norm) scratch(e *Engine) []float32 {
	if m.zeros == nil {
		m.zeros = make([]float32, e.Scorer.Dim())
	}
	return m.zeros
}

func (m *norm) of(e *Engine, n int) float64 {
	clear(m.parts[:])
	e.scatter(n, 1, m.scratch(e), m.parts[:])
	total := 0.0
	for _, x := range m.parts {
		total += x
	}
	for _, found := range e.findings[:n] {
		e.sparse.Erase(&found.V, &found.Batch, m.zeros)
	}
	return max(total, 0) // changes of squares add up to it, so roundings may leave it below 0 where large entries cancel
}
