package sdca

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// sweepAsync takes steps on distinct examples, one at a time per thread, and no thread waits for another. This is
// asynchronous dual coordinate ascent (PASSCoDe, Hsieh, Yu and Dhillon 2015), with the lock-free reads of Hogwild and
// KroMagnon. Each thread owns the dual points of its examples. Scores may miss some of the steps in flight, but in the
// end w contains every summand. So the dual point and w belong together, and certificates hold as in the deterministic
// mode.
//
// The change of the dual is known whatever the other threads do: ‖w‖² is measured as w is written, so the changes of
// all steps add up to the change of the dual. A step with a negative change is undone.
func (m *SDCA) sweepAsync(ctx context.Context, p *train.Problem, order []int) error {
	rows, _ := p.Rows()
	shared := rows.Thresholded(m.τ).Share(p.Threads())
	for len(m.lone) < p.Threads() {
		m.lone = append(m.lone, &loneStep{dualStep: dualStep{Lane: *p.NewLane()}})
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for _, st := range m.lone[:p.Threads()] {
		st.linear, st.sum = 0, 0
		wg.Go(func() {
			st.Err = host.Guard(func() error {
				for k := int(next.Add(1)) - 1; k < len(order) && ctx.Err() == nil; k = int(next.Add(1)) - 1 {
					if err := st.take(m, p, shared, order[k]); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
	wg.Wait()
	for _, st := range m.lone[:p.Threads()] {
		m.linear += st.linear / float64(p.Len())
		m.entropy += st.sum / float64(p.Len())
	}
	for _, st := range m.lone[:p.Threads()] {
		if st.Err != nil {
			return st.Err
		}
	}
	return ctx.Err()
}

// loneStep is a step that does not wait for any other.
type loneStep struct {
	dualStep
	norms  [sparse.Stripes]float64
	linear float64 // Σ c_i ⟨Δu_i, ℓ_i⟩ of the sweep
	sum    float64 // Σ c_i ΔH(u_i)
}

func (st *loneStep) take(m *SDCA, p *train.Problem, shared *sparse.Shared, i int) error {
	st.visit(p, i)
	st.v.Resize(&st.Batch, p.Scorer.Form())
	if err := shared.Read(func() error { return p.Potentials(&st.Lane, engine.Thresholded(m.w, m.τ)) }); err != nil {
		return err
	}
	st.share = 1
	if err := st.gram(p, m.memory); err != nil {
		return err
	}
	for try := range tries {
		st.answer(p, m.memory, m.λ, try)
		if st.move(m, p, shared) {
			st.save(m.memory)
			return nil
		}
	}
	m.memory.step[i] = float32(st.η)
	return nil
}

// move is dualTeam.move for one step.
func (st *loneStep) move(m *SDCA, p *train.Problem, shared *sparse.Shared) bool {
	n, λ := float64(p.Len()), m.λ
	scale := -1 / (λ * n)
	entropy := st.c * (st.entropy - m.memory.entropy[st.i])
	clear(st.norms[:])
	shared.Scatter(float32(scale), &st.v, &st.Batch, m.w, st.norms[:])
	change := 0.0 // in ‖w‖²
	for _, x := range st.norms {
		change += x
	}
	size := st.c * st.size
	if (entropy+st.c*st.loss)/n-λ/2*change < -4*engine.Unit*size/n {
		shared.Scatter(float32(-scale), &st.v, &st.Batch, m.w, nil)
		return false
	}
	st.linear += st.c * st.loss
	st.sum += entropy
	square := max(0, change-2*scale*st.c*(st.rise-st.loss)) // ‖Δw‖², apart from other threads' changes since w was read
	if p.Loss == engine.Quadratic {
		st.acceptQuadratic(m.memory)
	} else {
		st.accept(m.memory, st.c*st.curvature, λ*n*square, relaxationFor(p))
	}
	return true
}

// checkAsync returns an error that says why asynchronous threads do not work on p, or nil if they do.
func checkAsync(async bool, p *train.Problem) error {
	if _, rows := p.Rows(); async && !rows {
		return train.Refuse("sdca", train.SparseScores, "has threads that wait for nobody only on the linear net of attributes, whose steps touch few weights")
	}
	return nil
}
