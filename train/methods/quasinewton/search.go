package quasinewton

import (
	"context"

	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// line is a search along a direction d from a point w, where the smooth part of the objective has the gradient ∇ = g +
// λ(w−c). Unless it is whole, each of several ranks has d in its ranges of the weights alone (engine.OverRanges), adds
// its share to the products with d, and tells the others the points that it tries there, rounded to float32.
type line struct {
	w     []float32 // [Dim]
	d     []float64 // [Dim]
	whole bool      // every rank has all of d
}

// smoothSlope returns ∇_j for w_j = x and g_j = g.
func smoothSlope(p *train.Problem, j int, x, g float32) float64 {
	from := float64(x)
	if p.Center != nil {
		from -= float64(p.Center[j])
	}
	return float64(g) + p.Lambda*from
}

// begin makes −∇ the direction from a point.
func (l *line) begin(ctx context.Context, p *train.Problem, w, g []float32) error {
	l.w, l.d = w, vec.Grow(l.d, len(w))
	_, err := p.OverRanges(ctx, len(w), 0, !l.whole, func(lo, hi int, _ []float64) {
		for j := lo; j < hi; j++ {
			l.d[j] = -smoothSlope(p, j, w[j], g[j])
		}
	})
	return err
}

// scale multiplies d by a number.
func (l *line) scale(ctx context.Context, p *train.Problem, by float64) error {
	_, err := p.OverRanges(ctx, len(l.d), 0, !l.whole, func(lo, hi int, _ []float64) {
		for j := lo; j < hi; j++ {
			l.d[j] *= by
		}
	})
	return err
}

// slope returns ⟨∇,d⟩ at a point with gradient g.
func (l *line) slope(ctx context.Context, p *train.Problem, w, g []float32) (float64, error) {
	total, err := p.OverRanges(ctx, len(w), 1, !l.whole, func(lo, hi int, sums []float64) {
		s := 0.0
		for j := lo; j < hi; j++ {
			s += smoothSlope(p, j, w[j], g[j]) * l.d[j]
		}
		sums[0] = s
	})
	if err != nil {
		return 0, err
	}
	return total[0], nil
}

// at returns w + αd, rounded to float32.
func (l *line) at(ctx context.Context, p *train.Problem, α float64) ([]float32, error) {
	to := p.Vector(len(l.w))
	_, err := p.OverRanges(ctx, len(to), 0, !l.whole, func(lo, hi int, _ []float64) {
		for j := lo; j < hi; j++ {
			to[j] = float32(float64(l.w[j]) + α*l.d[j])
		}
	})
	return to, l.share(ctx, p, to, err)
}

// share completes a point of which each rank has its ranges, unless making it has failed.
func (l *line) share(ctx context.Context, p *train.Problem, to []float32, failed error) error {
	if failed != nil || l.whole {
		return failed
	}
	return engine.AllGatherRanges(ctx, p.Engine, to)
}
