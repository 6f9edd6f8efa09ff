package methods

import (
	"slices"
	"testing"

	"github.com/dsp-go/dsp/structured/machine/vec"
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

// Models of fewer than 8 examples have so much of the regulariser that a pass has no more of it than one with models of 8; models as large
// as that have all of it.
func TestSmallModelsHaveAPartOfTheRegulariser(t *testing.T) {
	const λ = 0.25
	for _, c := range []struct {
		examples, batch int
		want            float64
	}{
		{40, 8, λ}, {40, 16, λ}, {40, 4, λ / 2}, {40, 1, λ / 8}, {41, 1, λ * 6 / 41}, {5, 8, λ}, {5, 5, λ}, {5, 1, λ / 5},
	} {
		p := traintest.NetProblem(c.examples, c.batch, 1)
		p.Lambda = λ
		if got := modelLambda(p, p.Steps()); got != c.want {
			t.Errorf("models of %d among %d examples have λ = %v, want %v", c.batch, c.examples, got, c.want)
		}
	}
	p := traintest.NetProblem(40, 1, 1)
	p.Lambda, p.L1 = λ, 0.01
	if got := modelLambda(p, p.Steps()); got != λ {
		t.Errorf("with λ₁‖w‖₁ models have λ = %v, want %v", got, λ)
	}
}

// The weights of a network do not vanish in the many steps on small models: after a pass they are no shorter than
// with models of 8.
func TestSmallModelsLeaveWeights(t *testing.T) {
	for _, inner := range []int{1, 2} {
		norm := func(batch int) float64 {
			p := traintest.NetProblem(48, batch, 1)
			p.Lambda = 0.1
			m, s := &BatchProxLinear{ModelBatch: batch, InnerSteps: inner, Passes: 4}, &train.State{W: traintest.Initial(p)}
			traintest.Begin(t, m, p, s)
			traintest.Passes(t, m, p, s, 1)
			return vec.Norm2(m.descent.W)
		}
		if one, eight := norm(1), norm(8); one < eight {
			t.Errorf("%d steps on a model: ‖w‖² is %v with models of one example, %v with models of 8", inner, one, eight)
		}
	}
}
