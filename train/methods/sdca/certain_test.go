package sdca

import (
	"math"
	"testing"

	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// certain allows each example its gold output alone: 3, or 0 1 … 1 2. Longer ones begin in several ways that cannot
// end.
func certain(t *testing.T, n int, loss engine.Loss) *train.Problem {
	t.Helper()
	p := traintest.AttributeProblem(t, n, 8, 4, 0, loss, 0.1)
	for i := range p.Len() {
		gold := p.Data.Gold(i)
		for k := range gold {
			gold[k] = 1
		}
		gold[0], gold[len(gold)-1] = 0, 2
		if len(gold) == 1 {
			gold[0] = 3
		}
	}
	const no, ok = true, false
	p.Constraints = &chains.Constraints{
		Start:      []bool{ok, no, no, ok},
		Transition: []bool{no, ok, ok, no, no, ok, ok, no, no, no, no, no, no, no, no, no},
		End:        []bool{no, no, ok, ok},
	}
	return p
}

// Where each example allows one output, the objective and every dual are 0, but for the rounding of log Z. Rounding in
// the entropy of the dual potentials, which are not 0, is no contradiction.
func TestOneAllowedOutput(t *testing.T) {
	for _, loss := range []engine.Loss{engine.CRF, engine.SoftmaxMargin} {
		for n := 1; n <= 40; n++ {
			p, m := certain(t, n, loss), &SDCA{}
			s := train.NewState(make([]float32, p.Scorer.Dim()))
			if _, err := (&train.Trainer{Problem: p, Method: m, Passes: 3, Gap: 1e-3}).Run(t.Context(), s); err != nil {
				t.Fatalf("%v, %d examples: %v", loss, n, err)
			}
			if math.Abs(s.Primal) > 1e-6+m.rounded || s.Gap() > 1e-4 {
				t.Errorf("%v, %d examples: objective %g, dual %g", loss, n, s.Primal, s.Dual)
			}
		}
	}
}
