package train

import (
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
	ℓ     structured.Potentials // ℓ_i, where the loss has one
	φ     structured.Potentials // the new φ_i
	u     structured.Marginals  // and its marginals
	v     structured.Marginals  // c_i Δu_i

	η         float64 // of this try; 0 on the first visit
	entropy   float64 // of u
	rise      float64 // ⟨Δu, θ_i + ℓ_i⟩
	loss      float64 // ⟨Δu, ℓ_i⟩
	curvature float64 // ⟨d, Δu⟩ with d = θ_i + ℓ_i − φ_i
}

// step does a step on each of a few examples at the same w.
func (m *SDCA) step(p *Problem, examples []int) error {
	for len(m.steps) < len(examples) {
		m.steps = append(m.steps, &dualStep{lane: lane{worker: p.Scorer.NewWorker(), oracle: oracles.NewChain()}})
	}
	steps := m.steps[:len(examples)]
	err := m.team.run(len(steps), func(k int) error {
		return steps[k].score(p, m.w, examples[k])
	})
	if err != nil {
		return err
	}
	for try := range tries {
		err := m.team.run(len(steps), func(k int) error {
			steps[k].answer(p, m.memory, try)
			return nil
		})
		if err != nil {
			return err
		}
		moved, err := m.move(p, steps)
		if err != nil {
			return err
		}
		if moved {
			return nil
		}
	}
	for _, st := range steps {
		m.memory.step[st.i] = float32(st.η)
	}
	return nil
}

// score makes ready for a step on example i at w.
func (st *dualStep) score(p *Problem, w []float32, i int) error {
	st.i, st.c, st.one[0] = i, p.Data.Weight(i), i
	st.batch.Reset(p.Data, st.one[:])
	if err := p.potentials(&st.lane, at(w)); err != nil {
		return err
	}
	if p.Loss != CRF {
		st.ℓ.Resize(st.θ.Offsets, st.θ.Y, st.θ.PerPosition)
		clear(st.ℓ.Node)
		clear(st.ℓ.Edge)
		p.Task.Augment(&st.ℓ, 0, st.batch.Gold(0), p.Data.LabelSets)
	}
	return nil
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
		st.loss = inner(p, v, &st.ℓ)
	}
	if st.c != 1 {
		vec.Scale(float32(st.c), v.Node)
		vec.Scale(float32(st.c), v.Edge)
	}
}

// inner returns ⟨u, θ⟩ of a batch of one chain.
func inner(p *Problem, u *structured.Marginals, θ *structured.Potentials) float64 {
	if p.Constraints != nil { // θ may hold −∞, where u is 0
		return u.Dot(0, θ)
	}
	return vec.Dot64(u.Node, θ.Node) + vec.Dot64(u.Edge, θ.Edge)
}

// move moves w by the steps and remembers them, or reports false where that lowers the dual: then nothing is changed but
// for rounding.
func (m *SDCA) move(p *Problem, steps []*dualStep) (bool, error) {
	n := float64(p.Len())
	rise, size, product, loss, entropy := 0.0, 0.0, 0.0, 0.0, 0.0
	for _, st := range steps {
		dh := st.entropy - m.memory.entropy[st.i]
		rise += st.c * (dh + st.rise)
		size += st.c * (math.Abs(st.entropy) + math.Abs(st.rise))
		product += st.c * (st.rise - st.loss)
		loss += st.c * st.loss
		entropy += st.c * dh
	}
	scale := float32(-1 / (p.Lambda * n))
	var square float64 // ‖Δw‖²
	sparse, isSparse := p.Scorer.(*nets.SparseLinear)
	if isSparse {
		change, err := m.scatter(p, sparse, steps, scale)
		if err != nil {
			return false, err
		}
		square = max(0, change-2*float64(scale)*product) // ‖w+Δw‖² − ‖w‖² − 2⟨w,Δw⟩
	} else {
		if err := m.pullback(p, steps); err != nil {
			return false, err
		}
		square = float64(scale) * float64(scale) * vec.Norm2(m.grad)
	}
	gain := rise/n - p.Lambda/2*square
	if gain < -4*rounding*size/n {
		if isSparse {
			_, err := m.scatter(p, sparse, steps, -scale)
			return false, err
		}
		return false, nil
	}
	if isSparse {
		m.linear += loss / n
	} else {
		m.linear += (product + loss - vec.Dot64(m.grad, m.w)) / n
		vec.Axpy(scale, m.grad, m.w)
	}
	m.entropy += entropy / n
	m.remember(steps, p.Lambda*n*square)
	return true, nil
}

// scatter adds scale·Σ J_iᵀv_i to w, and returns by how much ‖w‖² changed.
func (m *SDCA) scatter(p *Problem, sparse *nets.SparseLinear, steps []*dualStep, scale float32) (float64, error) {
	if m.norms == nil {
		m.norms = make([]float64, nets.ScatterParts)
	}
	clear(m.norms)
	shares := min(p.threads, nets.ScatterParts)
	err := m.team.run(shares, func(k int) error {
		lo, hi := nets.ScatterParts*k/shares, nets.ScatterParts*(k+1)/shares
		for _, st := range steps {
			sparse.Scatter(scale, &st.v, &st.batch, lo, hi, m.w, m.norms)
		}
		return nil
	})
	total := 0.0
	for _, x := range m.norms {
		total += x
	}
	return total, err
}

// pullback makes grad Σ J_iᵀv_i.
func (m *SDCA) pullback(p *Problem, steps []*dualStep) error {
	if m.grad == nil {
		m.grad = make([]float32, len(m.w))
	}
	clear(m.grad)
	for _, st := range steps {
		if err := st.worker.Pullback(&st.v, m.grad); err != nil {
			return err
		}
	}
	return nil
}

// remember makes the steps' answers the dual point, and chooses the examples' next η. Bend is the norm's curvature, λn‖Δw‖².
func (m *SDCA) remember(steps []*dualStep, bend float64) {
	slope := 0.0
	for _, st := range steps {
		slope += st.c * st.curvature
	}
	for _, st := range steps {
		node, edge := m.memory.φ.of(st.i)
		copy(node, st.φ.Node)
		copy(edge, st.φ.Edge)
		node, edge = m.memory.u.of(st.i)
		copy(node, st.u.Node)
		copy(edge, st.u.Edge)
		m.memory.entropy[st.i] = st.entropy
		η := st.η
		if η == 0 {
			m.memory.step[st.i] = firstStep
			m.memory.gap[st.i] = float32(st.c * math.Abs(st.rise))
			continue
		}
		m.memory.gap[st.i] = float32(st.c * math.Abs(st.curvature) / (2 * η))
		if slope > 0 {
			best := min(longestStep, η*slope/(η*slope+bend))
			m.memory.step[st.i] = float32(math.Sqrt(η * min(max(best, η/4), 4*η)))
		}
	}
}
