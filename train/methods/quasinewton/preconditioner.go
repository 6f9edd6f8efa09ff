package quasinewton

import (
	"context"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// preconditioner is the metric of a method's steps (engine.Metric), if there are dense inputs. It is renewed after 8,
// 24, 56, … passes: the metric at the initial weights knows nothing of the labels, those at weights far from the
// optimum know the wrong ones, and near the optimum it hardly changes.
type preconditioner struct {
	metric *engine.Metric // nil: none
	at     []float32      // the weights at which it was computed; empty: none
	by     float64        // its μ
	wait   int            // passes until the next one
	lasts  int            // passes that this one was to last
}

// firstMetric is for how many passes the first metric lasts. Each later one lasts twice as long as the one before.
const firstMetric = 8

// pairs returns how many pairs of differences a method should remember of that many weights. In a metric, what is left
// to learn about the curvature is what many positions have in common, such as transitions: more pairs are worth it
// where they take little memory.
func (c *preconditioner) pairs(weights int) int {
	if c.metric == nil {
		return 6
	}
	return min(max(6, mostRemembered/(2*max(1, weights))), 30)
}

// mostRemembered is how many numbers pairs beyond the sixth may take.
const mostRemembered = 1 << 24

// start computes the first metric, at w.
func (c *preconditioner) start(ctx context.Context, p *train.Problem, by oracles.Smoothing, w []float32) error {
	c.lasts = firstMetric
	return c.renew(ctx, p, by, w)
}

// next is called before every pass, which starts at w. It renews the metric when it is time.
func (c *preconditioner) next(ctx context.Context, p *train.Problem, by oracles.Smoothing, w []float32) error {
	if c.wait--; c.wait != 0 {
		return nil
	}
	c.lasts *= 2
	return c.renew(ctx, p, by, w)
}

func (c *preconditioner) renew(ctx context.Context, p *train.Problem, by oracles.Smoothing, w []float32) error {
	if c.wait = c.lasts; !p.HasMetric() {
		return nil
	}
	c.at, c.by = append(c.at[:0], w...), by.Mu
	return c.restore(ctx, p)
}

// restore computes the metric of a restored method again.
func (c *preconditioner) restore(ctx context.Context, p *train.Problem) (err error) {
	if len(c.at) > 0 {
		by := p.Smoothing
		by.Mu = c.by
		c.metric, err = p.NewMetric(ctx, c.at, by)
	}
	return err
}

func (c *preconditioner) archive(a engine.Archive) {
	a.Floats("metric", &c.at)
	a.Number("metric.smoothing", &c.by)
	a.Count("metric.wait", &c.wait)
	a.Count("metric.lasts", &c.lasts)
}
