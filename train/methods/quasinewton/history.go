package quasinewton

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// history holds the accepted points of a method, the last one at the end, and g there, without the regulariser's
// gradient. Differences of them, s = w_{k+1} − w_k and y = ∇_{k+1} − ∇_k, model the curvature of the objective.
type history struct {
	points, grads [][]float32

	memory sync.Pool // of overChunks
}

// add appends a point and forgets the oldest beyond store pairs.
func (h *history) add(p *train.Problem, w, g []float32, store int) {
	h.points, h.grads = append(h.points, w), append(h.grads, g)
	if len(h.points) > store+1 {
		h.keep(p, store+1)
	}
}

// last returns the number of the last point.
func (h *history) last() int { return len(h.points) - 1 }

// keep forgets all but the last points, so many.
func (h *history) keep(p *train.Problem, points int) {
	n := len(h.points) - points
	for k := range n {
		p.Reuse(h.points[k])
		p.Reuse(h.grads[k])
	}
	h.points, h.grads = slices.Delete(h.points, 0, n), slices.Delete(h.grads, 0, n)
}

// apply replaces d by Hd, where H is the inverse of the objective's Hessian as the pairs with ⟨s,y⟩ > 0 know it: the
// two-loop recursion (Nocedal and Wright 2006, Algorithm 7.4), begun with γP⁻¹ for the metric P, the identity if it is
// nil, and γ = ⟨s,y⟩ / ⟨y,P⁻¹y⟩ of the last pair. That equals L-BFGS in coordinates in which P is the identity. Without
// pairs γ is 1.
//
// Products with vectors that the recursion makes follow from products of the pairs (Chen, Wang and Zhou 2014), so that
// it reads all vectors three times, whatever the number of pairs. Without a metric several ranks share that: each reads
// and replaces its ranges of d alone (engine.OverRanges).
func (h *history) apply(ctx context.Context, p *train.Problem, metric *engine.Metric, d []float64) error {
	pairs, shared := h.last(), metric == nil
	if pairs == 0 && metric == nil {
		return nil
	}
	products, err := h.products(ctx, p, d, shared)
	if err != nil {
		return err
	}
	sy := func(i, j int) float64 { return products[j*(j+1)/2+i] } // ⟨s_i,y_j⟩, i ≤ j
	sd, yy := products[pairs*(pairs+1)/2:][:pairs], products[pairs*(pairs+1)/2+pairs:]
	scale, solved := 0.0, d // P⁻¹d, or scratch memory of that size
	if metric != nil {
		solved = make([]float64, len(d))
	}
	α, β := make([]float64, pairs), make([]float64, pairs)
	for k := pairs - 1; k >= 0; k-- {
		if sy(k, k) <= 0 {
			continue
		}
		if scale == 0 {
			square := yy[k]
			if metric != nil {
				change := make([]float64, len(d))
				h.differences(p, k, 0, nil, change)
				metric.Solve(p.Engine, solved, change)
				square = floats.Dot(change, solved)
			}
			scale = sy(k, k) / square
		}
		α[k] = sd[k]
		for j := k + 1; j < pairs; j++ {
			α[k] -= α[j] * sy(k, j)
		}
		α[k] /= sy(k, k)
	}
	if scale == 0 {
		scale = 1
	}
	yd, err := h.remove(ctx, p, α, d, shared)
	if err == nil && metric != nil {
		metric.Solve(p.Engine, solved, d)
		copy(d, solved)
		yd, err = h.remove(ctx, p, make([]float64, pairs), d, shared)
	}
	if err != nil {
		return err
	}
	for k := range pairs {
		if sy(k, k) <= 0 {
			continue
		}
		β[k] = scale * yd[k]
		for i := range k {
			β[k] += (α[i] - β[i]) * sy(i, k)
		}
		β[k] /= sy(k, k)
	}
	_, err = p.OverRanges(ctx, len(d), 0, shared, func(lo, hi int, _ []float64) {
		h.overChunks(p, lo, hi, func(lo, hi int, s, _ [][]float64) {
			floats.Scale(scale, d[lo:hi])
			for k := range pairs {
				floats.AddScaled(d[lo:hi], α[k]-β[k], s[k])
			}
		})
	})
	return err
}

// products returns ⟨s_i,y_j⟩ for i ≤ j, column by column, then all ⟨s_k,d⟩, and then all ⟨y_k,y_k⟩.
func (h *history) products(ctx context.Context, p *train.Problem, d []float64, shared bool) ([]float64, error) {
	pairs := h.last()
	return p.OverRanges(ctx, len(d), pairs*(pairs+1)/2+2*pairs, shared, func(lo, hi int, sums []float64) {
		h.overChunks(p, lo, hi, func(lo, hi int, s, y [][]float64) {
			at := sums
			for j := range pairs {
				for i := range j + 1 {
					at[0] += floats.Dot(s[i], y[j])
					at = at[1:]
				}
			}
			for k := range pairs {
				at[k] += floats.Dot(s[k], d[lo:hi])
				at[pairs+k] += floats.Dot(y[k], y[k])
			}
		})
	})
}

// remove subtracts Σ α_k y_k from d, and returns ⟨y_k,d⟩ of what remains.
func (h *history) remove(ctx context.Context, p *train.Problem, α, d []float64, shared bool) ([]float64, error) {
	return p.OverRanges(ctx, len(d), len(α), shared, func(lo, hi int, sums []float64) {
		h.overChunks(p, lo, hi, func(lo, hi int, _, y [][]float64) {
			for k, a := range α {
				floats.AddScaled(d[lo:hi], -a, y[k])
			}
			for k := range α {
				sums[k] += floats.Dot(y[k], d[lo:hi])
			}
		})
	})
}

// chunk is how many coordinates of all pairs stay in a core's cache.
const chunk = 1 << 10

// scratch returns memory for so many numbers, of undefined content.
func (h *history) scratch(n int) []float64 {
	old, _ := h.memory.Get().(*[]float64)
	if old == nil {
		old = new([]float64)
	}
	return vec.Grow(*old, n)
}

// overChunks calls do for chunks of the coordinates lo to hi−1, with all pairs of differences there.
func (h *history) overChunks(p *train.Problem, lo, hi int, do func(lo, hi int, s, y [][]float64)) {
	pairs := h.last()
	memory := h.scratch(2 * pairs * chunk)
	defer h.memory.Put(&memory)
	s, y := make([][]float64, pairs), make([][]float64, pairs)
	for ; lo < hi; lo += chunk {
		n := min(chunk, hi-lo)
		for k := range pairs {
			s[k], y[k] = memory[2*k*chunk:][:n], memory[(2*k+1)*chunk:][:n]
			h.differences(p, k, lo, s[k], y[k])
		}
		do(lo, lo+n, s, y)
	}
}

// differences sets y, and s unless it is nil, to a part of pair k that begins at a coordinate.
func (h *history) differences(p *train.Problem, k, from int, s, y []float64) {
	n := len(y)
	w, v, g, f := h.points[k][from:][:n], h.points[k+1][from:][:n], h.grads[k][from:][:n], h.grads[k+1][from:][:n]
	for j := range y {
		step := float64(v[j]) - float64(w[j])
		y[j] = float64(f[j]) - float64(g[j]) + p.Lambda*step
		if s != nil {
			s[j] = step
		}
	}
}

// archive saves or restores the history.
func (h *history) archive(a engine.Archive) {
	n := len(h.points)
	engine.ArchivePieces(a, "points", &n)
	if len(h.points) != n {
		h.points, h.grads = make([][]float32, n), make([][]float32, n)
	}
	for k := range n {
		a.Floats(fmt.Sprintf("point%d", k), &h.points[k])
		a.Floats(fmt.Sprintf("gradient%d", k), &h.grads[k])
	}
}
