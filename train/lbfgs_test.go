package train

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
)

// L-BFGS finds the optimum that SVRG certifies, and its own certificate closes.
func TestLBFGSConverges(t *testing.T) {
	smoothed := oracles.Smoothing{Kind: oracles.Entropy, Mu: 0.5}
	for _, c := range []struct {
		name    string
		problem *Problem
		gap     float64 // relative
	}{
		{"crf", noisyProblem(80, CRF, oracles.Smoothing{}, 1./80), 2e-6},
		{"crf, weak λ", noisyProblem(80, CRF, oracles.Smoothing{}, 1e-4), 1e-4},
		{"crf, shifted", shifted(noisyProblem(80, CRF, oracles.Smoothing{}, 0.1)), 2e-6},
		{"softmax-margin", noisyProblem(80, SoftmaxMargin, oracles.Smoothing{}, 1./80), 2e-6},
		{"hinge, entropy", noisyProblem(80, Hinge, smoothed, 1./80), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := c.problem
			m := &LBFGS{}
			s := start(t, m, p)
			for k := 0; k < 300 && !s.Done; k++ {
				before, calls := m.f, s.OracleCalls
				passes(t, m, p, s, 1)
				if m.f > before {
					t.Fatalf("pass %d: F rose from %g to %g", s.Passes, before, m.f)
				}
				if s.OracleCalls <= calls || s.OracleCalls%p.Len() != 0 {
					t.Fatalf("pass %d: %d oracle calls after %d", s.Passes, s.OracleCalls, calls)
				}
			}
			f, err := p.Value(context.Background(), s.W)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "F(W)", s.Primal, f, 1e-9)
			if c.gap > 0 && !(s.Gap() >= 0 && s.Gap() <= c.gap*s.Primal) {
				t.Errorf("relative gap %g after %d passes", s.Gap()/s.Primal, s.Passes)
			}
			reference := &SVRG{}
			best := start(t, reference, p)
			passes(t, reference, p, best, 200)
			least := best.Primal
			if c.problem.Loss == Hinge {
				least = best.Smoothed
			}
			if math.Abs(m.f-least) > 1e-5*least {
				t.Errorf("F is %.9g, svrg finds %.9g", m.f, least)
			}
		})
	}
}

// Where rounding lets it go no further, it says so.
func TestLBFGSIsDone(t *testing.T) {
	p := noisyProblem(30, CRF, oracles.Smoothing{}, 0.5)
	m := &LBFGS{}
	s := start(t, m, p)
	for range 500 {
		if passes(t, m, p, s, 1); s.Done {
			return
		}
	}
	t.Error("not done after 500 passes")
}

func TestLBFGSRefusesHinge(t *testing.T) {
	for _, by := range []oracles.Smoothing{{}, entropy} {
		p := noisyProblem(10, Hinge, by, 0.1)
		if err := (&LBFGS{}).Start(context.Background(), p, &State{W: make([]float32, p.Scorer.Dim())}); !structured.IsBadInput(err) {
			t.Errorf("the hinge without μ: %v", err)
		}
	}
}

func TestLBFGSThreads(t *testing.T) {
	var want []float32
	for _, threads := range []int{1, 2, 7} {
		p := noisyProblem(60, CRF, oracles.Smoothing{}, 0.05)
		p.Engine = NewEngine(p.Objective, threads)
		m := &LBFGS{}
		s := start(t, m, p)
		passes(t, m, p, s, 12)
		if want == nil {
			want = s.W
		} else if !slices.Equal(want, s.W) {
			t.Errorf("other weights with %d threads", threads)
		}
	}
}
