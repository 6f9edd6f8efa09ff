package sdca

import (
	"context"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// dualTeam takes the steps of a pass with a team and its task functions. The functions are created once, so that steps
// do not allocate.
type dualTeam struct {
	*team
	p      *train.Problem
	m      *SDCA
	shards []*dualShard // none without access by rows
	at     weights
	batch  structured.Batch
	next   []int                // examples of the step after this one
	v      structured.Marginals // c_i Δu_i of the batch
	steps  []*dualStep          // at least one per example of a batch
	try    int
	scale  float32 // factor for the scatter

	gatherShard, begin, again, save, scatter func(task int) error
}

func newDualTeam(m *SDCA, p *train.Problem) *dualTeam {
	t := &dualTeam{team: newTeam(p.Threads()), p: p, m: m, shards: m.shards}
	t.gatherShard = func(k int) error {
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
		sh.change = sh.scorer.Measure(t.scale, &t.v, &sh.batch, m.w, m.met.of(k))
		return nil
	}
	if t.at = (rowWeights{t}); len(t.shards) == 0 {
		t.at = wholeWeights{t, make([]float32, len(m.w))}
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
	if err := t.at.gather(); err != nil {
		return err
	}
	if err := t.run(len(examples), t.begin); err != nil {
		return err
	}
	for t.try = 0; ; {
		moved, err := t.moveWeights()
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

// moveWeights moves w by the steps. If that would lower the dual it returns false and leaves w unchanged up to
// rounding.
func (t *dualTeam) moveWeights() (bool, error) {
	m, n := t.m, float64(t.p.Len())
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
	square, err := t.at.try(scale, product)
	if err != nil {
		return false, err
	}
	if (rise/n - λ/2*square) < -4*engine.Unit*size/n {
		return false, t.at.undo(scale)
	}
	m.linear += t.at.keep(scale, product, loss) / n
	m.entropy += entropy / n
	t.accept(λ * n * square)
	return true, nil
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
