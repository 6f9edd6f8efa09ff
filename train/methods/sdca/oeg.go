package sdca

import (
	"context"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// Online exponentiated gradient (Collins, Globerson, Koo, Carreras and Bartlett 2008) takes the steps of SDCA with the
// paper's rules, for the hinge, too. There the dual has no entropy, D(u) = (1/n) Σ c_i [⟨u_i, a_i + ℓ_i⟩ − ⟨1_{y_i},
// a_i⟩] + …, but u_i stays the marginals of potentials φ_i, inside the domain, and a step is
//
//	φ_i ← φ_i + η(θ_i + ℓ_i).
//
// The rules are those of the experiments of Lacoste-Julien, Jaggi, Schmidt and Pletscher (2013, appendix F): u_i is
// uniform at first; every pass visits every example once, in random order; η of an example begins at ½ and is halved
// until the dual does not fall, at most twice in the first pass and five times later; an accepted step makes it 1.05
// times as long. Since the optimum of the hinge's dual is at the boundary, φ_i has to go to infinity, and the method
// ends slowly.
const (
	onlineStep     = 0.5
	onlineGrowth   = 1.05
	onlineFirst    = 3 // tries in the first pass
	onlineTries    = 6
	longestOnlineη = 1e6 // of the hinge
)

// checkOnline rejects a structure without marginals.
func checkOnline(p *train.Problem) error {
	if _, sums := p.Kind().Oracle().(oracles.Summer); sums {
		return nil
	}
	return train.Refuse("oeg", train.Sums, "needs sums over all outputs, which the oracle of a %s does not compute", p.Kind().Name())
}

// uniform begins at the uniform distributions over the outputs that the constraints allow.
func (m *SDCA) uniform(ctx context.Context, p *train.Problem, s *train.State) error {
	err := m.fillMemory(ctx, p, onlineStep, func(st *dualStep) (bool, error) {
		st.Theta.Resize(&st.Batch, p.Scorer.Form())
		for k := range st.Theta.Parts {
			clear(st.Theta.Parts[k].Values)
		}
		if p.Constraints != nil {
			p.Constraints.Apply(&st.Theta)
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	s.OracleCalls += p.Len()
	return m.resync(ctx, p, s)
}

// atWeights leaves θ_i + ℓ_i at w in a step.
func (m *SDCA) atWeights(p *train.Problem) func(st *dualStep) (bool, error) {
	return func(st *dualStep) (bool, error) { return true, p.Potentials(&st.Lane, engine.At(m.w)) }
}

// tries returns how often a step may be tried.
func (m *SDCA) tries() int {
	switch {
	case !m.Online:
		return tries
	case m.passes == 0:
		return onlineFirst
	}
	return onlineTries
}

// acceptOnline is accept for online exponentiated gradient.
func (st *dualStep) acceptOnline(p *train.Problem, memory *dualMemory) {
	longest := longestOnlineη
	if p.Loss.Smooth() {
		longest = 1 // φ_i becomes the scores
	}
	st.accepted = true
	memory.entropy[st.i] = st.entropy
	memory.step[st.i] = float32(min(longest, st.η*onlineGrowth))
}
