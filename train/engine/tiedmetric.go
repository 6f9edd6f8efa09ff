package engine

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/oracles"
)

// tiedBlock is the block of a metric for weights that are the numbers of a tied part of the potentials, such as transitions. They are few, but
// every position depends on them, so that the curvature there differs more between directions than anywhere else.
type tiedBlock struct {
	offset, width int // in w
	factor        mat.Cholesky
}

const (
	mostTied        = 1024 // numbers of a tied part: beyond, the metric is diagonal there, because its time goes with their square
	positionsPerTie = 8    // positions that take part in the covariances of a tied part, per number of it

	// tiedShift is by how much potentials move, in μ. Differences of marginals, which are float32, then tell derivatives to a percent.
	tiedShift = 0.1
)

// tiedBlocks computes the blocks of tied parts at w.
func (e *Engine) tiedBlocks(ctx context.Context, w []float32, s oracles.Smoothing) ([]tiedBlock, error) {
	var blocks []tiedBlock
	for _, at := range nets.TiedBlocks(e.Scorer) {
		if at.Width > mostTied {
			continue
		}
		p, err := e.tiedHessian(ctx, w, s, at)
		if err != nil {
			return nil, err
		}
		b := tiedBlock{offset: at.Offset, width: at.Width}
		factorise(&b.factor, p, e.Lambda)
		blocks = append(blocks, b)
	}
	return blocks, nil
}

// tiedHessian estimates the Hessian of the mean loss with respect to the numbers of a tied part: (1/n) Σ c_i ∂u_i/∂θ, by central differences of
// the marginals of some of the examples.
func (e *Engine) tiedHessian(ctx context.Context, w []float32, s oracles.Smoothing, at nets.TiedBlock) (*mat.SymDense, error) {
	y := at.Width
	some, share := e.everySo(max(1, e.Data.Positions()/(positionsPerTie*y)))
	cut := shards(e.Data, some)
	lanes := min(passLanes, len(cut))
	sums := make([][]float64, lanes)
	err := e.run(ctx, lanes, func(l int, ln *Lane) error {
		sums[l] = make([]float64, y*y)
		for k := l; k < len(cut) && ctx.Err() == nil; k += lanes {
			ln.Batch.Reset(e.Data, cut[k])
			if err := e.precisely(ln, w); err != nil {
				return err
			}
			e.addDifferences(ln, s, at.Part, sums[l])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	p := mat.NewSymDense(y, nil)
	by := 1 / (2 * share * float64(e.Len()))
	for j := range y {
		for k := range j + 1 {
			x := 0.0
			for _, sum := range sums {
				x += sum[j*y+k] + sum[k*y+j]
			}
			p.SetSym(j, k, x*by)
		}
	}
	return p, nil
}

// addDifferences adds Σ c_i ∂u_i/∂θ of tied part k [Width×Width], over the lane's batch, to sum. Its potentials must have been computed.
func (e *Engine) addDifferences(ln *Lane, s oracles.Smoothing, k int, sum []float64) {
	θ := ln.Theta.Parts[k].Values
	for j, was := range θ {
		for _, h := range []float32{tiedShift, -tiedShift} {
			θ[j] = was + h*float32(s.Mu)
			s.Answer(ln.Oracle, &ln.Theta, &ln.Answer, false)
			for b, i := range ln.Batch.Examples {
				c := e.Data.Weight(i) / (2 * float64(h) * s.Mu)
				for to, u := range ln.Answer.U.Parts[k].Of(b) {
					sum[j*len(θ)+to] += c * float64(u)
				}
			}
		}
		θ[j] = was
	}
}

// everySo returns every k-th example, and their share of the weight of all. If they have none, it returns all examples.
func (e *Engine) everySo(k int) (some []int, share float64) {
	all := 0.0
	for i := range e.Len() {
		all += e.Data.Weight(i)
	}
	for i := 0; i < e.Len(); i += k {
		some = append(some, i)
		share += e.Data.Weight(i)
	}
	if share == 0 {
		return e.all, 1
	}
	return some, share / all
}
