package methods

import (
	"slices"
	"testing"

	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// A run that resumes with more passes after its finish has begun goes on over batches from where it is, and finishes anew.
func TestMorePassesAfterTheFinish(t *testing.T) {
	for _, loss := range []engine.Loss{engine.Hinge, engine.CRF} {
		p := traintest.NetProblem(24, 4, 1)
		p.Loss = loss
		method := func(passes int) *BatchProxLinear {
			return &BatchProxLinear{ModelBatch: 4, Passes: passes, Finish: 2, Finisher: ProxLinear{InnerPasses: 1}}
		}
		m, s := method(4), &train.State{W: traintest.Initial(p)}
		traintest.Begin(t, m, p, s)
		traintest.Passes(t, m, p, s, 4)
		kept := &traintest.Shelf{Values: map[string]any{}}
		m.Archive(kept)

		run := func(m *BatchProxLinear) *train.State {
			at := *s
			at.W = slices.Clone(s.W)
			traintest.Begin(t, m, p, &at)
			if err := m.FetchMemory(p); err != nil {
				t.Fatal(err)
			}
			traintest.Passes(t, m, p, &at, 4)
			return &at
		}
		resumed := method(8)
		kept.Restoring = true
		resumed.Archive(kept)
		got, want := run(resumed), run(method(8))
		if !slices.Equal(got.W, want.W) || got.Primal != want.Primal {
			t.Errorf("%v: F is %v, and %v for a run that begins at the same weights", loss, got.Primal, want.Primal)
		}
	}
}
