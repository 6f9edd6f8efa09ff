package sdca

import (
	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train/engine"
)

// weights is how the steps of a team reach w: they score there, and move it by Δw = scale·Σ J_iᵀv_i, their sum.
type weights interface {
	// gather prepares the scores of the batch at w. score sets those of a step on example k of the batch.
	gather() error
	score(st *dualStep, k int) error
	// try returns ‖w+Δw‖² − ‖w‖² − 2⟨w,Δw⟩, of soft thresholds if there are some. It may move w already. product is
	// ⟨Σ J_iᵀv_i, w⟩, from scores.
	try(scale, product float64) (square float64, err error)
	// undo leaves w as it was before try, up to rounding.
	undo(scale float64) error
	// keep has w moved. It returns the change of n times the dual's linear part, which without roundings is loss:
	// product is then ⟨Σ J_iᵀv_i, w⟩.
	keep(scale, product, loss float64) float64
}

// rowWeights reads and moves the rows that the steps touch, shard by shard, and measures the change of the norm as it
// writes them.
type rowWeights struct{ *dualTeam }

func (x rowWeights) gather() error { return x.run(len(x.shards), x.gatherShard) }

func (x rowWeights) score(st *dualStep, k int) error {
	st.Theta.Resize(&st.Batch, x.p.Scorer.Form())
	score(x.shards, k, &st.Theta)
	return x.p.Augment(&st.Batch, &st.Theta)
}

func (x rowWeights) try(scale, product float64) (float64, error) {
	change, err := x.scatterAll(float32(scale))
	return max(0, change-2*scale*product), err
}

func (x rowWeights) undo(scale float64) error {
	_, err := x.scatterAll(float32(-scale))
	return err
}

func (x rowWeights) keep(_, _, loss float64) float64 { return loss }

// scatterAll adds scale·Σ J_iᵀv_i to w and returns the change in ‖w‖².
func (t *dualTeam) scatterAll(scale float32) (float64, error) {
	t.scale = scale
	err := t.run(len(t.shards), t.scatter)
	total := 0.0
	for _, sh := range t.shards {
		total += sh.change
	}
	return total, err
}

// wholeWeights reads and moves all weights.
type wholeWeights struct {
	*dualTeam
	grad []float32 // Σ J_iᵀv_i
}

func (x wholeWeights) gather() error { return nil }

func (x wholeWeights) score(st *dualStep, _ int) error {
	return x.p.Potentials(&st.Lane, engine.Thresholded(x.m.w, x.m.τ))
}

func (x wholeWeights) try(scale, _ float64) (float64, error) {
	clear(x.grad)
	for _, st := range x.steps[:x.batch.Len()] {
		if err := st.Worker.Pullback(&st.v, x.grad); err != nil {
			return 0, err
		}
	}
	if x.m.τ > 0 {
		return softChange(x.m.w, x.grad, float32(scale), x.m.τ), nil
	}
	return scale * scale * vec.Norm2(x.grad), nil
}

func (x wholeWeights) undo(float64) error { return nil }

func (x wholeWeights) keep(scale, product, loss float64) float64 {
	change := product + loss - vec.Dot64(x.grad, x.p.Soften(x.m.w, x.m.τ))
	vec.Axpy(float32(scale), x.grad, x.m.w)
	return change
}

// softChange returns ‖soft(v+cd)‖² − ‖soft(v)‖² − 2⟨soft(v),cd⟩ for soft thresholds with τ. It is at most ‖cd‖².
func softChange(v, d []float32, c, τ float32) float64 {
	total := 0.0
	for j, x := range v {
		δ := c * d[j]
		a, b := float64(kernels.Soft(x+δ, τ)), float64(kernels.Soft(x, τ))
		total += (a-b)*(a+b) - 2*b*float64(δ)
	}
	return max(0, total)
}
