package methods

import (
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// A run that resumes with more passes after its finish has begun goes on over batches from where it is, and finishes
// anew.
func TestMorePassesAfterTheFinish(t *testing.T) {
	for _, loss := range []engine.Loss{engine.Hinge, engine.CRF} {
		p := traintest.NetProblem(24, 4, 1)
		p.Loss = loss
		method := func(passes int) *BatchProxLinear {
			return &BatchProxLinear{ModelBatch: 4, Passes: passes, Finish: 2, Finisher: ProxLinear{InnerPasses: 1}}
		}
		m, s := method(4), train.NewState(traintest.Initial(p))
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

// Where an output is one choice, steps begin shorter unless a length is given, and models of fewer than 8 examples have
// so much of the regulariser that a pass has no more of it than one with models of 8. All other models have all of it.
func TestModelsOfOneChoice(t *testing.T) {
	const λ = 0.25
	problem := func(examples, batch int) *train.Problem {
		p := traintest.ChoiceProblem(examples, engine.Hinge, oracles.Smoothing{}, λ)
		p.Batch = batch
		return p
	}
	for _, c := range []struct {
		examples, batch int
		want            float64
	}{
		{40, 8, λ}, {40, 16, λ}, {40, 4, λ / 2}, {40, 1, λ / 8}, {41, 1, λ * 6 / 41}, {5, 8, λ}, {5, 5, λ}, {5, 1, λ / 5},
	} {
		p := problem(c.examples, c.batch)
		if got := modelLambda(p, p.Steps()); got != c.want {
			t.Errorf("models of %d among %d examples have λ = %v, want %v", c.batch, c.examples, got, c.want)
		}
	}
	sparse, chains := problem(40, 1), traintest.NetProblem(40, 1, 1)
	sparse.L1, chains.Lambda = 0.01, λ
	for name, p := range map[string]*train.Problem{"with λ₁‖w‖₁": sparse, "chains": chains} {
		if got := modelLambda(p, p.Steps()); got != λ {
			t.Errorf("%s: models have λ = %v, want %v", name, got, λ)
		}
	}
	for _, c := range []struct {
		p           *train.Problem
		given, want float64
	}{
		{sparse, 0, choiceEta}, {sparse, 0.5, 0.5}, {chains, 0, batchEta}, {chains, 0.5, 0.5},
	} {
		m := BatchProxLinear{Eta: c.given}
		if got := m.eta(c.p, 0); got != c.want {
			t.Errorf("%s, --eta %v: η is %v, want %v", c.p.Data.Name, c.given, got, c.want)
		}
	}
}
