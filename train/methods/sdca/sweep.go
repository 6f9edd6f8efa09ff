package sdca

import (
	"context"

	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// dualTeam takes the steps of a pass with a team and its task functions. The functions are created once, so that steps do not
// allocate.
type dualTeam struct {
	*team
	p      *train.Problem
	m      *SDCA
	shards []*dualShard // none unless the scorer is sparse
	batch  structured.Batch
	next   []int                // examples of the step after this one
	v      structured.Marginals // c_i Δu_i of the batch
	steps  []*dualStep          // at least one per example of a batch
	try    int
	scale  float32   // factor for the scatter
	grad   []float32 // Σ J_iᵀv_i of the batch, unless the scorer is sparse

	gather, begin, again, save, scatter func(task int) error
}

func newDualTeam(m *SDCA, p *train.Problem) *dualTeam {
	t := &dualTeam{team: newTeam(p.Threads()), p: p, m: m, shards: m.shards}
	t.gather = func(k int) error {
		sh := t.shards[k]
		sh.batch.Reset(&sh.data, t.batch.Examples)
		for _, i := range t.next {
			sh.prefetch(i)
		}
		return sh.worker.Score(m.w, &sh.batch, &sh.θ)
	}
	t.begin = func(k int) error {
		st := t.steps[k]
		st.save(m.memory)
		if err := st.score(t, k); err != nil {
			return err
		}
		if k < len(t.next) {
			m.memory.prefetch(t.next[k])
		}
		st.share = t.batch.Len()
		if err := st.gram(p, m.memory); err != nil {
			return err
		}
		st.answer(p, m.memory, m.λ, 0)
		return nil
	}
	t.again = func(k int) error {
		t.steps[k].answer(p, m.memory, m.λ, t.try)
		return nil
	}
	t.save = func(k int) error {
		t.steps[k].save(m.memory)
		return nil
	}
	t.scatter = func(k int) error {
		sh := t.shards[k]
		sh.change = sh.scorer.Measure(t.scale, &t.v, &sh.batch, m.w)
		return nil
	}
	if p.Sparse() == nil {
		t.grad = make([]float32, len(m.w))
	}
	return t
}

// sweep takes steps on distinct examples, size at a time at the same w.
func (t *dualTeam) sweep(ctx context.Context, order []int, size int) error {
	for len(t.steps) < size {
		t.steps = append(t.steps, &dualStep{Lane: *t.p.NewLane()})
	}
	for lo := 0; lo < len(order); lo += size {
		if err := ctx.Err(); err != nil {
			return err
		}
		hi := min(lo+size, len(order))
		t.next = order[hi:min(hi+size, len(order))]
		if err := t.step(order[lo:hi]); err != nil {
			return err
		}
	}
	return t.run(len(t.steps), t.save)
}

// step takes a step on each of a few examples at the same w.
func (t *dualTeam) step(examples []int) error {
	t.batch.Reset(t.p.Data, examples)
	t.v.Resize(&t.batch, t.p.Scorer.Form())
	if len(t.shards) > 0 {
		if err := t.run(len(t.shards), t.gather); err != nil {
			return err
		}
	}
	if err := t.run(len(examples), t.begin); err != nil {
		return err
	}
	for t.try = 0; ; {
		moved, err := t.move()
		if moved || err != nil {
			return err
		}
		if t.try++; t.try == t.m.tries() {
			break
		}
		if err := t.run(len(examples), t.again); err != nil {
			return err
		}
	}
	for _, st := range t.steps[:len(examples)] {
		t.m.memory.step[st.i] = float32(st.η)
	}
	return nil
}

// move moves w by the steps. If that would lower the dual it returns false and leaves w unchanged up to rounding.
func (t *dualTeam) move() (bool, error) {
	m, p, n := t.m, t.p, float64(t.p.Len())
	rise, size, product, loss, entropy := 0.0, 0.0, 0.0, 0.0, 0.0
	for _, st := range t.steps[:t.batch.Len()] {
		dh := st.entropy - m.memory.entropy[st.i]
		rise += st.c * (dh + st.rise)
		size += st.c * st.size
		product += st.c * (st.rise - st.loss)
		loss += st.c * st.loss
		entropy += st.c * dh
	}
	λ := m.λ
	scale := -1 / (λ * n)
	// The dual falls by λ/2 times this: ‖Δw‖², or with a threshold ‖soft(w+Δw)‖² − ‖soft(w)‖² − 2⟨soft(w),Δw⟩.
	var square float64
	if p.Sparse() != nil {
		change, err := t.scatterAll(float32(scale))
		if err != nil {
			return false, err
		}
		square = max(0, change-2*scale*product) // ‖w+Δw‖² − ‖w‖² − 2⟨w,Δw⟩
	} else {
		clear(t.grad)
		for _, st := range t.steps[:t.batch.Len()] {
			if err := st.Worker.Pullback(&st.v, t.grad); err != nil {
				return false, err
			}
		}
		square = scale * scale * vec.Norm2(t.grad)
		if m.τ > 0 {
			square = softChange(m.w, t.grad, float32(scale), m.τ)
		}
	}
	if (rise/n - λ/2*square) < -4*engine.Unit*size/n {
		if p.Sparse() != nil {
			_, err := t.scatterAll(float32(-scale))
			return false, err
		}
		return false, nil
	}
	if p.Sparse() != nil {
		m.linear += loss / n
	} else {
		m.linear += (product + loss - vec.Dot64(t.grad, p.Soften(m.w, m.τ))) / n
		vec.Axpy(float32(scale), t.grad, m.w)
	}
	m.entropy += entropy / n
	t.accept(λ * n * square)
	return true, nil
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

// accept accepts the steps' answers and chooses the examples' next η. bend is the norm's curvature, λn‖Δw‖².
func (t *dualTeam) accept(bend float64) {
	steps, memory := t.steps[:t.batch.Len()], t.m.memory
	slope := 0.0
	if t.p.Loss == engine.Quadratic {
		for _, st := range steps {
			st.acceptQuadratic(memory)
		}
		return
	}
	if t.m.Online {
		for _, st := range steps {
			st.acceptOnline(t.p, memory)
		}
		return
	}
	for _, st := range steps {
		slope += st.c * st.curvature
	}
	for _, st := range steps {
		st.accept(memory, slope, bend, relaxationFor(t.p))
	}
}
