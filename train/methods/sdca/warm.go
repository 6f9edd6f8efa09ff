package sdca

import (
	"context"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// warmChunks is the number of parts of the first pass of a warm start, after each of which w moves on towards the dual
// point's own.
const warmChunks = 16

// warmBonus is firstBonus of a warm start at the gold outputs: weights that fit most examples give these high scores
// already.
const warmBonus = 3

// warm begins at s.W = w₀. A dual point u has weights of its own,
//
//	w(u) = c − (1/λn) Σ c_i J_iᵀ(u_i − 1_{y_i}),
//
// which are not w₀. So the first pass starts at w₀ and drops the difference w₀ − w(u) in equal parts as it goes: it
// takes steps on the objective whose centre is off by that difference; each part changes that objective a little, and
// the steps follow. At the end of the pass w is the dual point's again.
//
// The dual point is that of the answers at w₀, whose weights are w₀ if w₀ is optimal. If it is not, examples that w₀
// does not fit all pull at once, and further than any should. Where the dual value then is below that of a cold start,
// the gold outputs, whose weights are c, it begins there: steps of the first pass move it to the answers near w₀ one
// after the other, so that each sees what the ones before have changed. With soft targets, λ₁, bounds or a proximal
// term, for the quadratic loss, whose steps are in closed form, and Online there are the answers alone.
func (m *SDCA) warm(ctx context.Context, p *train.Problem, s *train.State) error {
	primal, rounded, err := p.Upper(ctx, s.W)
	if err != nil {
		return err
	}
	s.FullPasses++
	m.primal, m.rounded = primal, rounded
	copy(m.w, s.W)
	u, err := m.beAnswers(ctx, p, s)
	if err != nil {
		return err
	}
	m.drop = make([]float32, len(s.W))
	m.regulariser.Point(u.Grad, m.drop)
	choice := m.Warm && !m.Online && !p.Soft && p.Loss != engine.Quadratic && p.Plain() && m.regulariser.Kappa == 0
	// Of the gold outputs all terms of the dual value but the constant are 0.
	if choice && p.DualValue(u.Linear+m.memory.meanEntropy(p.Objective), m.drop) < p.Constant {
		m.memory = newDualMemory(p.Objective)
		m.memory.bonus = warmBonus
		clear(m.drop)
		copy(m.drop, m.regulariser.Center)
	}
	vec.Axpby(1, s.W, -1, m.drop)
	return nil
}

// beAnswers makes the dual point the answers at w₀, φ_i = θ_i(w₀) + ℓ_i, or where Objective.Origin says, and pulls it
// back.
func (m *SDCA) beAnswers(ctx context.Context, p *train.Problem, s *train.State) (engine.Recomposed, error) {
	begin := m.atWeights(p)
	if p.Origin != nil && !m.Warm {
		begin = func(st *dualStep) (bool, error) {
			st.Theta.Resize(&st.Batch, p.Scorer.Form())
			some := p.Origin(st.i, &st.Theta)
			if p.Constraints != nil {
				p.Constraints.Apply(&st.Theta)
			}
			return some, nil
		}
	}
	if err := m.fillMemory(ctx, p, firstStep, begin); err != nil {
		return engine.Recomposed{}, err
	}
	s.OracleCalls += p.Len()
	s.FullPasses++
	return p.Recompose(ctx, m.w, &m.memory.u)
}

// fillMemory sets φ_i, and what belongs to it, to the potentials that a function leaves in a step's θ, unless it says
// that there are none. η of the next visits is the given one. A rank does so for its own examples.
func (m *SDCA) fillMemory(ctx context.Context, p *train.Problem, η float32, potentials func(st *dualStep) (bool, error)) error {
	t := newTeam(p.Threads())
	defer t.close()
	steps := make([]*dualStep, min(p.Threads(), p.Len()))
	for k := range steps {
		steps[k] = &dualStep{Lane: *p.NewLane()}
	}
	own := p.Own()
	err := t.run(len(steps), func(k int) error {
		st := steps[k]
		for at := k; at < len(own); at += len(steps) {
			if err := ctx.Err(); err != nil {
				return err
			}
			i := own[at]
			st.visit(p, i)
			if some, err := potentials(st); err != nil {
				return err
			} else if !some {
				continue
			}
			if p.Loss == engine.Quadratic {
				st.u.Like(&st.Theta)
				st.u.Set(0, &m.memory.u.Marginals, i)
				part := entriesOf(st.Theta.Structure)
				copy(st.u.Parts[part].Values, st.Theta.Parts[part].Values)
				st.beItsPotentials()
			} else {
				st.φ.Copy(&st.Theta)
				st.Oracle.(oracles.Summer).Exp(&st.φ, 1, st.value[:], &st.u)
				st.entropy = st.entropyOf(p)
			}
			m.memory.entropy[i], m.memory.step[i] = st.entropy, η
			st.accepted = true
			st.save(m.memory)
		}
		return nil
	})
	if err = p.SameOnAll(ctx, err); err != nil {
		return err
	}
	return m.memory.tell(ctx, p)
}
