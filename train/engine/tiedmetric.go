package engine

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/oracles"
)

// tiedBlock is the block of a metric for weights that are the numbers of a tied part of the potentials, such as
// transitions. They are few, but every position depends on them, so that the curvature there differs more between
// directions than anywhere else.
type tiedBlock struct {
	offset, width int // in w
	factor        mat.Cholesky
}

const (
	// mostTied is the most numbers of a tied part: beyond, the metric is diagonal there, because its time goes with
	// their square.
	mostTied = 1024

	// tiedPositions is how many positions take part in the Hessian of a tied part: four per number of a small one,
	// fewer where a number costs more.
	tiedPositions = 4
	tiedWork      = 1 << 27 // positions times numbers times numbers

	// tiedShift is by how much potentials move, in μ. Differences of marginals, which are float32, then tell
	// derivatives to a few percent.
	tiedShift = 0.1
)

// tiedBlocks computes the blocks of tied parts at w. diagonal is that of the metric.
func (e *Engine) tiedBlocks(ctx context.Context, w []float32, s oracles.Smoothing, diagonal []float64) ([]tiedBlock, error) {
	var blocks []tiedBlock
	for _, at := range nets.TiedBlocks(e.Scorer) {
		if at.Width > mostTied {
			continue
		}
		p, err := e.tiedHessian(ctx, w, s, at, diagonal[at.Offset:][:at.Width])
		if err != nil {
			return nil, err
		}
		b := tiedBlock{offset: at.Offset, width: at.Width}
		factorise(&b.factor, p, e.Lambda)
		blocks = append(blocks, b)
	}
	return blocks, nil
}

// tiedHessian estimates the Hessian of the mean loss with respect to the numbers of a tied part: (1/n) Σ c_i ∂u_i/∂θ,
// by differences of the marginals of some of the examples. These may hardly ever use a number of the part, of which
// they then tell nothing: to its entry on the diagonal it adds a share of that in diagonal, which all examples have
// made. The share is (1−q)/(1+U) for a number that they use U times, where q is their share of the examples.
func (e *Engine) tiedHessian(ctx context.Context, w []float32, s oracles.Smoothing, at nets.TiedBlock, diagonal []float64) (*mat.SymDense, error) {
	y := at.Width
	some, share := e.everySo(max(1, e.Data.Positions()/min(tiedPositions*y, max(1, tiedWork/(y*y)))))
	cut := cutIntoShards(e.Data, some)
	lanes := min(passLanes, len(cut))
	sums, uses := make([][]float64, lanes), make([][]float64, lanes)
	err := e.team.inLanes(ctx, 0, lanes, func(l int, ln *Lane) error {
		sums[l], uses[l] = make([]float64, y*y), make([]float64, y)
		for k := l; k < len(cut) && ctx.Err() == nil; k += lanes {
			ln.Batch.Reset(e.Data, cut[k])
			if err := e.precisely(ln, w); err != nil {
				return err
			}
			e.addDifferences(ln, s, at.Part, sums[l], uses[l])
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
		used := 0.0
		for _, u := range uses {
			used += u[j]
		}
		p.SetSym(j, j, p.At(j, j)+(1-share)/(1+used)*max(0, diagonal[j]-e.Lambda))
	}
	return p, nil
}

// addDifferences adds Σ c_i ∂u_i/∂θ of tied part k [Width×Width], over the lane's batch, to sum, and Σ u_i to uses. The
// lane's potentials must have been computed.
func (e *Engine) addDifferences(ln *Lane, s oracles.Smoothing, k int, sum, uses []float64) {
	θ, h := ln.Theta.Parts[k].Values, float32(tiedShift*s.Mu)
	s.Answer(ln.Oracle, &ln.Theta, &ln.Answer, false)
	ln.V.Copy(&ln.Answer.U)
	for b := range ln.Batch.Examples {
		for j, u := range ln.V.Parts[k].Of(b) {
			uses[j] += float64(u)
		}
	}
	for j, was := range θ {
		θ[j] = was + h
		s.Answer(ln.Oracle, &ln.Theta, &ln.Answer, false)
		θ[j] = was
		for b, i := range ln.Batch.Examples {
			c, before := e.Data.Weight(i)/float64(h), ln.V.Parts[k].Of(b)
			for to, u := range ln.Answer.U.Parts[k].Of(b) {
				sum[j*len(θ)+to] += c * (float64(u) - float64(before[to]))
			}
		}
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
		return e.layout.all, 1
	}
	return some, share / all
}
