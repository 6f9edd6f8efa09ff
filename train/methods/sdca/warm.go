package sdca

import (
	"context"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// warmChunks is the number of parts of the first pass of a warm start, after each of which w moves on towards the dual point's own.
const warmChunks = 16

// warmBonus is firstBonus of a warm start. Weights that fit most examples already give their gold outputs high scores.
const warmBonus = 3

// warm begins at s.W = w₀. A dual point u has weights of its own,
//
//	w(u) = c − (1/λn) Σ c_i J_iᵀ(u_i − 1_{y_i}),
//
// which are not w₀. So the first pass starts at w₀ and drops the difference w₀ − w(u) in equal parts as it goes: it takes steps on the objective whose centre is off by
// that difference; each part changes that objective a little, and the steps follow. At the end of the pass w is the dual point's again.
//
// The dual point is that of a cold start, the gold outputs, whose weights are c. Steps of the first pass move it to the answers near w₀ one after the other, so that each sees
// what the ones before have changed. The answers at w₀ itself would do so only if w₀ were optimal: examples that w₀ does not fit all pull at once, and further than any should.
// They are the dual point where no gold output is known, or its place is taken (Objective.Origin), of the quadratic loss, whose steps are in closed form, and Online.
func (m *SDCA) warm(ctx context.Context, p *train.Problem, s *train.State) error {
	primal, rounded, err := p.Upper(ctx, s.W)
	if err != nil {
		return err
	}
	s.FullPasses++
	m.primal, m.rounded = primal, rounded
	copy(m.w, s.W)
	m.drop = make([]float32, len(s.W))
	if m.fromGold(p) {
		copy(m.drop, m.regulariser.Center)
	} else if err := m.beAnswers(ctx, p, s); err != nil {
		return err
	}
	vec.Axpby(1, s.W, -1, m.drop)
	return nil
}

// fromGold reports whether the dual point of a warm start is that of the gold outputs.
func (m *SDCA) fromGold(p *train.Problem) bool { return m.Warm && !m.Online && !p.Soft && p.Loss != engine.Quadratic }

// beAnswers makes the dual point the answers at w₀, φ_i = θ_i(w₀) + ℓ_i, or where Objective.Origin says, and sets drop to its weights.
func (m *SDCA) beAnswers(ctx context.Context, p *train.Problem, s *train.State) error {
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
		return err
	}
	s.OracleCalls += p.Len()
	u, err := p.Recompose(ctx, m.w, &m.memory.u)
	if err != nil {
		return err
	}
	s.FullPasses++
	m.regulariser.Point(u.Grad, m.drop)
	return nil
}

// fillMemory sets φ_i, and what belongs to it, to the potentials that a function leaves in a step's θ, unless it says that there are none. η of the
// next visits is the given one. A rank does so for its own examples.
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
