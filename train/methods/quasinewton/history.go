package quasinewton

import (
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// history holds the accepted points of a method, the last one at the end, and g there, without the regulariser's gradient. Differences
// of them, s = w_{k+1} − w_k and y = ∇_{k+1} − ∇_k, model the curvature of the objective.
type history struct {
	points, grads [][]float32
}

// add appends a point and forgets the oldest beyond store pairs.
func (h *history) add(w, g []float32, store int) {
	h.points, h.grads = append(h.points, w), append(h.grads, g)
	if len(h.points) > store+1 {
		h.points, h.grads = h.points[1:], h.grads[1:]
	}
}

// last returns the number of the last point.
func (h *history) last() int { return len(h.points) - 1 }

// forget keeps the last point only.
func (h *history) forget() {
	last := h.last()
	h.points, h.grads = h.points[last:], h.grads[last:]
}

// apply replaces d by Hd, where H is the inverse of the objective's Hessian as the pairs with ⟨s,y⟩ > 0 know it: the two-loop recursion
// (Nocedal and Wright 2006, Algorithm 7.4), begun with γP⁻¹ for the metric P, the identity if it is nil, and γ = ⟨s,y⟩ / ⟨y,P⁻¹y⟩ of the
// last pair. That equals L-BFGS in coordinates in which P is the identity. Without pairs γ is 1.
func (h *history) apply(p *train.Problem, metric *engine.Metric, d []float64) {
	pairs := len(h.points) - 1
	α, ρ := make([]float64, pairs), make([]float64, pairs)
	scale := 0.0
	solved := d // P⁻¹d, or scratch memory of that size
	if metric != nil {
		solved = make([]float64, len(d))
	}
	for k := pairs - 1; k >= 0; k-- {
		sy, yy, sd := 0.0, 0.0, 0.0
		h.pair(p, k, func(_ int, s, y float64) { sy += s * y; yy += y * y })
		if sy <= 0 {
			continue
		}
		if scale == 0 {
			if metric != nil {
				change := make([]float64, len(d))
				h.pair(p, k, func(j int, _, y float64) { change[j] = y })
				metric.Solve(p.Engine, solved, change)
				yy = floats.Dot(change, solved)
			}
			scale = sy / yy
		}
		ρ[k] = 1 / sy
		h.pair(p, k, func(j int, s, _ float64) { sd += s * d[j] })
		α[k] = ρ[k] * sd
		h.pair(p, k, func(j int, _, y float64) { d[j] -= α[k] * y })
	}
	if scale == 0 {
		scale = 1
	}
	if metric != nil {
		metric.Solve(p.Engine, solved, d)
		copy(d, solved)
	}
	floats.Scale(scale, d)
	for k := range pairs {
		if ρ[k] == 0 {
			continue
		}
		yd := 0.0
		h.pair(p, k, func(j int, _, y float64) { yd += y * d[j] })
		β := ρ[k] * yd
		h.pair(p, k, func(j int, s, _ float64) { d[j] += (α[k] - β) * s })
	}
}

// pair calls do for every coordinate of pair k of differences.
func (h *history) pair(p *train.Problem, k int, do func(j int, s, y float64)) {
	w, v, g, f := h.points[k], h.points[k+1], h.grads[k], h.grads[k+1]
	for j, x := range w {
		s := float64(v[j]) - float64(x)
		do(j, s, float64(f[j])-float64(g[j])+p.Lambda*s)
	}
}

// archive saves or restores the history.
func (h *history) archive(a engine.Archive) {
	n := len(h.points)
	a.Count("points", &n)
	if len(h.points) != n {
		h.points, h.grads = make([][]float32, n), make([][]float32, n)
	}
	for k := range n {
		a.Floats(fmt.Sprintf("point%d", k), &h.points[k])
		a.Floats(fmt.Sprintf("gradient%d", k), &h.grads[k])
	}
}
