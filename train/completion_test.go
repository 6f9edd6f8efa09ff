package train

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/vec"
)

// The completed objective touches F where it was completed, with its slope, and is nowhere less.
func TestCompletion(t *testing.T) {
	ctx := context.Background()
	for _, loss := range []Loss{Hinge, CRF, SoftmaxMargin} {
		for name, p := range partialProblems(t, loss) {
			t.Run(loss.String()+", "+name, func(t *testing.T) {
				r := rand.New(rand.NewPCG(5, 7))
				w := drawWeights(r, p.Scorer.Dim(), 0.7)
				o := *p.Objective
				o.Completion = NewMemory(p.Objective)
				rest, err := p.complete(ctx, w, o.Completion)
				if err != nil {
					t.Fatal(err)
				}
				o.Constant += rest
				bound := NewEngine(&o, 2)
				if bound.Partial() {
					t.Error("not convex")
				}
				near(t, "F(w)", value(t, bound, w), value(t, p.Engine, w), 1e-6)
				here, err := p.FullPass(ctx, w, oracles.Smoothing{}, nil)
				if err != nil {
					t.Fatal(err)
				}
				there, err := bound.FullPass(ctx, w, oracles.Smoothing{}, nil)
				if err != nil {
					t.Fatal(err)
				}
				near(t, "F(w) by a full pass", there.Primal, here.Primal, 1e-6)
				nearAll(t, "gradient", there.Grad, here.Grad, 1e-5)
				for range 10 {
					v := slices.Clone(w)
					vec.Axpy(float32(r.Float64()), drawWeights(r, len(w), 1), v)
					if a, b := value(t, bound, v), value(t, p.Engine, v); a < b-1e-6*b {
						t.Errorf("the bound is %g, F %g", a, b)
					}
				}

				// Its memory begins where the gradient is zero.
				g, b, err := pulled(bound.Recompose(ctx, w, NewMemory(&o)))
				if err != nil || vec.Norm2(g) > 1e-10 || math.Abs(b) > 1e-6 {
					t.Errorf("gradient %g, value %g (%v) at the completion", vec.Norm2(g), b, err)
				}
			})
		}
	}
}

// Methods for objectives that are not convex learn from labels half of which are hidden, and the others refuse.
func TestLearningFromPartialLabels(t *testing.T) {
	for _, loss := range []Loss{CRF, Hinge, SoftmaxMargin} {
		p := noisyProblem(80, loss, oracles.Smoothing{}, 1./80)
		right := slices.Clone(p.Data.Labels)
		wrong := func(w []float32) float64 {
			ln, wrong := p.lanes[0], 0
			for i := range p.Len() {
				ln.batch.Reset(p.Data, []int{i})
				if err := ln.worker.Score(w, &ln.batch, &ln.θ); err != nil {
					t.Fatal(err)
				}
				y, score := make([]int32, p.Data.Length(i)), make([]float64, 1)
				ln.oracle.Max(&ln.θ, y, score)
				for t, l := range y {
					if l != right[p.Data.Offsets[i]+t] {
						wrong++
					}
				}
			}
			return float64(wrong) / float64(len(right))
		}
		full := &SGD{}
		s := start(t, full, p)
		passes(t, full, p, s, 20)
		least := wrong(s.W)

		hide(p.Data, 0.67, 3) // of three quarters of the chains
		methods := []Method{&SGD{}, &ProxLinear{}, &ProxLinear{Inner: func(int) Method { return &Casimir{} }, WarmUp: -1}, &LBFGS{}}
		for k, m := range methods {
			p.Smoothing = oracles.Smoothing{}
			if loss == Hinge && k >= 2 {
				p.Smoothing = oracles.Smoothing{Kind: oracles.Entropy, Mu: 0.3}
			}
			s := start(t, m, p)
			before := math.Inf(1)
			for range 30 {
				passes(t, m, p, s, 1)
				if k > 0 && s.Primal > before {
					t.Errorf("%v, %s: F rose from %g to %g", loss, m.Name(), before, s.Primal)
				}
				before = s.Primal
			}
			near(t, m.Name()+": F(W)", s.Primal, value(t, p.Engine, s.W), 1e-9)
			if !math.IsNaN(s.Dual) {
				t.Errorf("%v, %s: a dual value, %g, of what is not convex", loss, m.Name(), s.Dual)
			}
			got := wrong(s.W)
			t.Logf("%v, %s: F %.4g, %.3f of the labels wrong, %.3f where all were known", loss, m.Name(), s.Primal, got, least)
			if got > least+0.05 {
				t.Errorf("%v, %s: %.3f of the labels are wrong, %.3f where all were known", loss, m.Name(), got, least)
			}
		}
		for _, m := range append(convexMethods(), &BCFW{}, &BCPFW{}, &SDCA{}) {
			s := &State{W: make([]float32, p.Scorer.Dim())}
			if err := m.Start(t.Context(), p, s); !structured.IsBadInput(err) {
				t.Errorf("%v, %s: %v, want a refusal", loss, m.Name(), err)
			}
		}
	}
}

// Labels known in part leave the bits alike for any number of threads.
func TestPartialThreads(t *testing.T) {
	for _, method := range []func() Method{func() Method { return &SGD{} }, func() Method { return &ProxLinear{} }, func() Method { return &LBFGS{} }} {
		for name, p := range partialProblems(t, SoftmaxMargin) {
			var want []float32
			for _, threads := range []int{1, 3} {
				p.Engine, p.Batch = NewEngine(p.Objective, threads), 10
				m := method()
				s := start(t, m, p)
				passes(t, m, p, s, 3)
				if want == nil {
					want = s.W
				} else if !slices.Equal(s.W, want) {
					t.Errorf("%s, %s: other weights with %d threads", m.Name(), name, threads)
				}
			}
		}
	}
}
