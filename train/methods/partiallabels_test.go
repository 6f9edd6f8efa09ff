package methods

import (
	"math"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods/quasinewton"
	"github.com/dsp-go/dsp/train/methods/sdca"
	"github.com/dsp-go/dsp/train/traintest"
)

// Methods for nonconvex objectives learn from labels of which half are hidden, and the other methods reject them.
func TestLearningFromPartialLabels(t *testing.T) {
	for _, loss := range []engine.Loss{engine.CRF, engine.Hinge, engine.SoftmaxMargin} {
		p := traintest.NoisyProblem(80, loss, oracles.Smoothing{}, 1./80)
		right := slices.Clone(p.Data.Labels)
		wrong := func(w []float32) float64 {
			worker, oracle, wrong := p.Scorer.NewWorker(), p.Kind().Oracle(), 0
			var batch structured.Batch
			var θ structured.Potentials
			for i := range p.Len() {
				batch.Reset(p.Data, []int{i})
				if err := worker.Score(w, &batch, &θ); err != nil {
					t.Fatal(err)
				}
				y, score := make([]int32, p.Data.Length(i)), make([]float64, 1)
				oracle.Max(&θ, y, score)
				for t, l := range y {
					if l != right[p.Data.Offsets[i]+t] {
						wrong++
					}
				}
			}
			return float64(wrong) / float64(len(right))
		}
		full := &SGD{}
		s := traintest.Start(t, full, p)
		traintest.Passes(t, full, p, s, 20)
		least := wrong(s.W)

		traintest.Hide(p.Data, 0.67, 3) // in three quarters of the chains
		methods := []train.Method{&SGD{}, &ProxLinear{}, &ProxLinear{Inner: func(int) train.Method { return &Casimir{} }, WarmUp: -1}, &quasinewton.LBFGS{}}
		for k, m := range methods {
			p.Smoothing = oracles.Smoothing{}
			if loss == engine.Hinge && k >= 2 {
				p.Smoothing = oracles.Smoothing{Kind: oracles.Entropy, Mu: 0.3}
			}
			s := traintest.Start(t, m, p)
			before := math.Inf(1)
			for range 30 {
				traintest.Passes(t, m, p, s, 1)
				if k > 0 && s.Primal > before {
					t.Errorf("%v, %s: F rose from %g to %g", loss, m.Name(), before, s.Primal)
				}
				before = s.Primal
			}
			traintest.Near(t, m.Name()+": F(W)", s.Primal, traintest.Upper(t, p.Engine, s.W), 1e-9)
			if !math.IsNaN(s.Dual) {
				t.Errorf("%v, %s: a dual value, %g, of what is not convex", loss, m.Name(), s.Dual)
			}
			got := wrong(s.W)
			t.Logf("%v, %s: F %.4g, %.3f of the labels wrong, %.3f where all were known", loss, m.Name(), s.Primal, got, least)
			if got > least+0.05 {
				t.Errorf("%v, %s: %.3f of the labels are wrong, %.3f where all were known", loss, m.Name(), got, least)
			}
		}
		for _, m := range append(convexMethods(), &BCFW{}, &BCPFW{}) {
			s := train.NewState(make([]float32, p.Scorer.Dim()))
			if err := m.Start(t.Context(), p, s); !structured.IsBadInput(err) {
				t.Errorf("%v, %s: %v, want a refusal", loss, m.Name(), err)
			}
		}
	}
}

// Methods that begin with the gold outputs themselves solve no model of prox-linear's where these are known in part.
func TestModelsOfPartialLabels(t *testing.T) {
	for loss, inner := range map[engine.Loss][]train.Method{engine.CRF: {&sdca.SDCA{}}, engine.Hinge: {&BCPFW{}, &NSlack{}}} {
		for _, by := range inner {
			p := traintest.NoisyProblem(8, loss, oracles.Smoothing{}, 1./8)
			traintest.Hide(p.Data, 0.67, 3)
			m := &ProxLinear{Inner: func(int) train.Method { return by }, WarmUp: -1}
			s := traintest.Start(t, m, p)
			if err := m.Pass(t.Context(), p, s); !structured.IsBadInput(err) {
				t.Errorf("%s: %v, want a refusal", by.Name(), err)
			}
		}
	}
}

// With partial labels the results have the same bits for any number of threads.
func TestPartialThreads(t *testing.T) {
	for _, method := range []func() train.Method{func() train.Method { return &SGD{} }, func() train.Method { return &ProxLinear{} }, func() train.Method { return &quasinewton.LBFGS{} }} {
		for name, p := range traintest.PartialProblems(t, engine.SoftmaxMargin) {
			var want []float32
			for _, threads := range []int{1, 3} {
				p.Engine, p.Batch = engine.NewEngine(p.Objective, threads), 10
				m := method()
				s := traintest.Start(t, m, p)
				traintest.Passes(t, m, p, s, 3)
				if want == nil {
					want = s.W
				} else if !slices.Equal(s.W, want) {
					t.Errorf("%s, %s: other weights with %d threads", m.Name(), name, threads)
				}
			}
		}
	}
}
