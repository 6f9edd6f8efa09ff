package train

import (
	"context"
	"math"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/vec"
)

const (
	firstBonus  = 4   // what the first visit adds to the scores of the gold output at each position
	longestStep = 0.9 // η
	tries       = 8   // halvings of η before a step is given up
)

// dualStep is a step on one example, and the memory that it works in.
type dualStep struct {
	i     int
	c     float64 // c_i
	lane          // its batch is that example, its θ is θ_i + ℓ_i
	one   [1]int
	value [1]float64
	φ     structured.Potentials // the new φ_i
	u     structured.Marginals  // and its marginals
	v     structured.Marginals  // c_i Δu_i

	η         float64 // of this try; 0 on the first visit
	entropy   float64 // of u
	rise      float64 // ⟨Δu, θ_i + ℓ_i⟩
	loss      float64 // ⟨Δu, ℓ_i⟩
	curvature float64 // ⟨d, Δu⟩ with d = θ_i + ℓ_i − φ_i
	accepted  bool    // and not yet saved
}

// dualTeam takes the steps of a pass: a team, and what its tasks are to do. The tasks are made once, so that no step
// allocates.
type dualTeam struct {
	*team
	p        *Problem
	m        *SDCA
	examples []int       // of the batch
	steps    []*dualStep // at least as many
	try      int
	scale    float32   // of the scattered steps
	shares   int       // that the weights are cut into
	norms    []float64 // [ScatterParts]
	grad     []float32 // of the batch, on scorers that are not sparse

	begin, again, save, scatter func(task int) error
}

func newDualTeam(m *SDCA, p *Problem) *dualTeam {
	t := &dualTeam{team: newTeam(p.threads), p: p, m: m, shares: min(p.threads, nets.ScatterParts), norms: make([]float64, nets.ScatterParts)}
	t.begin = func(k int) error {
		st := t.steps[k]
		st.save(m.memory)
		if err := st.score(p, m.w, t.examples[k]); err != nil {
			return err
		}
		st.answer(p, m.memory, 0)
		return nil
	}
	t.again = func(k int) error {
		t.steps[k].answer(p, m.memory, t.try)
		return nil
	}
	t.save = func(k int) error {
		t.steps[k].save(m.memory)
		return nil
	}
	t.scatter = func(k int) error {
		lo, hi := nets.ScatterParts*k/t.shares, nets.ScatterParts*(k+1)/t.shares
		for _, st := range t.steps[:len(t.examples)] {
			p.sparse.Scatter(t.scale, &st.v, &st.batch, lo, hi, m.w, t.norms)
		}
		return nil
	}
	if p.sparse == nil {
		t.grad = make([]float32, len(m.w))
	}
	return t
}

// sweep takes steps on distinct examples, so many at a time at the same w.
func (t *dualTeam) sweep(ctx context.Context, order []int, size int) error {
	for len(t.steps) < size {
		t.steps = append(t.steps, &dualStep{lane: lane{worker: t.p.Scorer.NewWorker(), oracle: oracles.NewChain()}})
	}
	for lo := 0; lo < len(order); lo += size {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := t.step(order[lo:min(lo+size, len(order))]); err != nil {
			return err
		}
	}
	return t.run(len(t.steps), t.save)
}

// step does a step on each of a few examples at the same w.
func (t *dualTeam) step(examples []int) error {
	t.examples = examples
	if err := t.run(len(examples), t.begin); err != nil {
		return err
	}
	for t.try = 0; ; {
		moved, err := t.move()
		if moved || err != nil {
			return err
		}
		if t.try++; t.try == tries {
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

// score makes ready for a step on example i at w.
func (st *dualStep) score(p *Problem, w []float32, i int) error {
	st.i, st.c, st.one[0] = i, p.Data.Weight(i), i
	st.batch.Reset(p.Data, st.one[:])
	return p.potentials(&st.lane, at(w))
}

// answer finds the new dual potentials and their marginals, with an η that halves with each try.
func (st *dualStep) answer(p *Problem, memory *dualMemory, try int) {
	θ, φ := &st.θ, &st.φ
	φ.Resize(θ.Offsets, θ.Y, θ.PerPosition)
	copy(φ.Node, θ.Node)
	copy(φ.Edge, θ.Edge)
	node, edge := memory.φ.of(st.i)
	if η := memory.step[st.i]; η > 0 {
		η = float32(math.Ldexp(float64(η), -try))
		vec.Axpby(1-η, node, η, φ.Node)
		vec.Axpby(1-η, edge, η, φ.Edge)
		st.η = float64(η)
	} else {
		st.η = 0
		for t, l := range st.batch.Gold(0) {
			φ.Node[t*φ.Y+int(l)] += firstBonus + float32(try)
		}
	}
	st.oracle.Exp(φ, 1, st.value[:], &st.u)
	st.entropy = st.value[0] - inner(p, &st.u, φ)

	v := &st.v
	v.Resize(θ.Offsets, θ.Y, θ.PerPosition)
	oldNode, oldEdge := memory.u.of(st.i)
	copy(v.Node, st.u.Node)
	copy(v.Edge, st.u.Edge)
	vec.Axpy(-1, oldNode, v.Node)
	vec.Axpy(-1, oldEdge, v.Edge)
	st.rise = inner(p, v, θ)
	st.curvature = st.rise - inner(p, v, &structured.Potentials{Y: θ.Y, Offsets: θ.Offsets, Node: node, Edge: edge, PerPosition: θ.PerPosition})
	st.loss = 0
	if p.Loss != CRF {
		st.loss = p.Task.Dot(v, 0, st.batch.Gold(0), p.Data.LabelSets)
	}
	if st.c != 1 {
		vec.Scale(float32(st.c), v.Node)
		vec.Scale(float32(st.c), v.Edge)
	}
}

// save makes an accepted answer the dual point of its example.
func (st *dualStep) save(memory *dualMemory) {
	if !st.accepted {
		return
	}
	st.accepted = false
	node, edge := memory.φ.of(st.i)
	copy(node, st.φ.Node)
	copy(edge, st.φ.Edge)
	node, edge = memory.u.of(st.i)
	copy(node, st.u.Node)
	copy(edge, st.u.Edge)
}

// inner returns ⟨u, θ⟩ of a batch of one chain.
func inner(p *Problem, u *structured.Marginals, θ *structured.Potentials) float64 {
	if p.Constraints != nil { // θ may hold −∞, where u is 0
		return u.Dot(0, θ)
	}
	return vec.Dot64(u.Node, θ.Node) + vec.Dot64(u.Edge, θ.Edge)
}

// move moves w by the steps, or reports false where that lowers the dual: then nothing is changed but for rounding.
func (t *dualTeam) move() (bool, error) {
	m, p, n := t.m, t.p, float64(t.p.Len())
	rise, size, product, loss, entropy := 0.0, 0.0, 0.0, 0.0, 0.0
	for _, st := range t.steps[:len(t.examples)] {
		dh := st.entropy - m.memory.entropy[st.i]
		rise += st.c * (dh + st.rise)
		size += st.c * (math.Abs(st.entropy) + math.Abs(st.rise))
		product += st.c * (st.rise - st.loss)
		loss += st.c * st.loss
		entropy += st.c * dh
	}
	scale := -1 / (p.Lambda * n)
	var square float64 // ‖Δw‖²
	if p.sparse != nil {
		change, err := t.scatterAll(float32(scale))
		if err != nil {
			return false, err
		}
		square = max(0, change-2*scale*product) // ‖w+Δw‖² − ‖w‖² − 2⟨w,Δw⟩
	} else {
		clear(t.grad)
		for _, st := range t.steps[:len(t.examples)] {
			if err := st.worker.Pullback(&st.v, t.grad); err != nil {
				return false, err
			}
		}
		square = scale * scale * vec.Norm2(t.grad)
	}
	if (rise/n - p.Lambda/2*square) < -4*rounding*size/n {
		if p.sparse != nil {
			_, err := t.scatterAll(float32(-scale))
			return false, err
		}
		return false, nil
	}
	if p.sparse != nil {
		m.linear += loss / n
	} else {
		m.linear += (product + loss - vec.Dot64(t.grad, m.w)) / n
		vec.Axpy(float32(scale), t.grad, m.w)
	}
	m.entropy += entropy / n
	t.accept(p.Lambda * n * square)
	return true, nil
}

// scatterAll adds scale·Σ J_iᵀv_i to w, and returns by how much ‖w‖² changed.
func (t *dualTeam) scatterAll(scale float32) (float64, error) {
	t.scale = scale
	clear(t.norms)
	err := t.run(t.shares, t.scatter)
	total := 0.0
	for _, x := range t.norms {
		total += x
	}
	return total, err
}

// accept takes up the steps' answers and chooses the examples' next η. Bend is the norm's curvature, λn‖Δw‖².
func (t *dualTeam) accept(bend float64) {
	steps, memory := t.steps[:len(t.examples)], t.m.memory
	slope := 0.0
	for _, st := range steps {
		slope += st.c * st.curvature
	}
	for _, st := range steps {
		st.accepted = true
		memory.entropy[st.i] = st.entropy
		if st.η == 0 {
			memory.step[st.i] = firstStep
			memory.gap[st.i] = float32(st.c * math.Abs(st.rise))
			continue
		}
		memory.gap[st.i] = float32(st.c * math.Abs(st.curvature) / (2 * st.η))
		if slope > 0 {
			best := min(longestStep, st.η*slope/(st.η*slope+bend))
			memory.step[st.i] = float32(math.Sqrt(st.η * min(max(best, st.η/4), 4*st.η)))
		}
	}
}
