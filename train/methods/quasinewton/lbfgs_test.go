package quasinewton

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
	"github.com/dsp-go/dsp/train/traintest"
)

// L-BFGS finds the optimum that SVRG certifies, and its own certificate closes.
func TestLBFGSConverges(t *testing.T) {
	smoothed := oracles.Smoothing{Kind: oracles.Entropy, Mu: 0.5}
	for _, c := range []struct {
		name    string
		problem *train.Problem
		gap     float64 // relative, before the allowance for rounding is taken off the dual
	}{
		{"crf", traintest.NoisyProblem(80, engine.CRF, oracles.Smoothing{}, 1./80), 1e-6},
		{"crf, weak λ", traintest.NoisyProblem(80, engine.CRF, oracles.Smoothing{}, 1e-4), 1e-4},
		{"crf, shifted", traintest.Shifted(traintest.NoisyProblem(80, engine.CRF, oracles.Smoothing{}, 0.1)), 1e-6},
		{"softmax-margin", traintest.NoisyProblem(80, engine.SoftmaxMargin, oracles.Smoothing{}, 1./80), 1e-6},
		{"hinge, entropy", traintest.NoisyProblem(80, engine.Hinge, smoothed, 1./80), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := c.problem
			m := &LBFGS{}
			s := traintest.Start(t, m, p)
			for k := 0; k < 300 && !s.Done; k++ {
				before, calls := m.f, s.OracleCalls
				traintest.Passes(t, m, p, s, 1)
				if m.f > before {
					t.Fatalf("pass %d: F rose from %g to %g", s.Passes, before, m.f)
				}
				if s.OracleCalls <= calls || s.OracleCalls%p.Len() != 0 {
					t.Fatalf("pass %d: %d oracle calls after %d", s.Passes, s.OracleCalls, calls)
				}
			}
			f, rounded, err := p.Upper(context.Background(), s.W)
			if err != nil {
				t.Fatal(err)
			}
			traintest.Near(t, "F(W)", s.Primal, f, 1e-9)
			if rounded += s.Rounding; c.gap > 0 && !(s.Gap() >= 0 && s.Gap()-rounded <= c.gap*s.Primal) {
				t.Errorf("relative gap %g, of which rounding is allowed %g, after %d passes", s.Gap()/s.Primal, rounded/s.Primal, s.Passes)
			}
			reference := &methods.SVRG{}
			best := traintest.Start(t, reference, p)
			traintest.Passes(t, reference, p, best, 200)
			least := best.Primal
			if c.problem.Loss == engine.Hinge {
				least = best.Smoothed
			}
			if math.Abs(m.f-least) > 1e-5*least {
				t.Errorf("F is %.9g, svrg finds %.9g", m.f, least)
			}
		})
	}
}

// If rounding prevents any further progress, the method says so.
func TestLBFGSIsDone(t *testing.T) {
	p := traintest.NoisyProblem(30, engine.CRF, oracles.Smoothing{}, 0.5)
	m := &LBFGS{}
	s := traintest.Start(t, m, p)
	for range 500 {
		if traintest.Passes(t, m, p, s, 1); s.Done {
			return
		}
	}
	t.Error("not done after 500 passes")
}

func TestLBFGSRefusesHinge(t *testing.T) {
	for _, by := range []oracles.Smoothing{{}, traintest.Entropy} {
		p := traintest.NoisyProblem(10, engine.Hinge, by, 0.1)
		if err := (&LBFGS{}).Start(context.Background(), p, &train.State{W: make([]float32, p.Scorer.Dim())}); !structured.IsBadInput(err) {
			t.Errorf("the hinge without μ: %v", err)
		}
	}
}

func TestLBFGSThreads(t *testing.T) {
	var want []float32
	for _, threads := range []int{1, 2, 7} {
		p := traintest.NoisyProblem(60, engine.CRF, oracles.Smoothing{}, 0.05)
		p.Engine = engine.NewEngine(p.Objective, threads)
		m := &LBFGS{}
		s := traintest.Start(t, m, p)
		traintest.Passes(t, m, p, s, 12)
		if want == nil {
			want = s.W
		} else if !slices.Equal(want, s.W) {
			t.Errorf("other weights with %d threads", threads)
		}
	}
}
