package methods

import (
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods/sdca"
	"github.com/dsp-go/dsp/train/traintest"
)

// Threads that do not wait find the optimum of another method, within the gap that both certify, with λ₁ as without,
// and again after a restart.
func TestAsyncSAGA(t *testing.T) {
	for name, c := range map[string]struct {
		loss engine.Loss
		by   oracles.Smoothing
		l1   float64
		gap  float64
	}{
		"crf":     {engine.CRF, oracles.Smoothing{}, 0, 1e-3},
		"crf, λ₁": {engine.CRF, oracles.Smoothing{}, 0.01, 1e-2},
		"hinge":   {engine.Hinge, traintest.Entropy, 0, 5e-2},
	} {
		for _, threads := range []int{1, 4} {
			problem := func() *train.Problem {
				p := traintest.SparseProblem(40, c.loss, c.by, 0.1)
				o := *p.Objective
				o.L1 = c.l1
				p.Engine = engine.NewEngine(&o, threads)
				return p
			}
			var reference interface {
				train.Method
				train.Certifier
			} = &sdca.SDCA{}
			if c.loss == engine.Hinge {
				reference = &BCPFW{}
			}
			p := problem()
			best := traintest.Start(t, reference, p)
			traintest.Passes(t, reference, p, best, 100)
			traintest.Certify(t, reference, p, best)
			p = problem()
			m := &SAGA{Async: true}
			s := traintest.Start(t, m, p)
			for s.Passes < 300 && !(s.Gap() <= c.gap*s.Primal) {
				traintest.Passes(t, m, p, s, 1)
			}
			if !(s.Gap() >= 0 && s.Gap() <= c.gap*s.Primal) {
				t.Errorf("%s, %d threads: relative gap %g after %d passes", name, threads, s.Gap()/s.Primal, s.Passes)
			}
			if s.Dual > best.Primal || best.Dual > s.Primal {
				t.Errorf("%s, %d threads: certified [%.9g, %.9g], %s [%.9g, %.9g]", name, threads, s.Dual, s.Primal, reference.Name(), best.Dual, best.Primal)
			}
		}
	}
}

// However long steps may be otherwise, one example pulls a weight that it alone reads to the centre, and not beyond it.
func TestAsyncSAGADoesNotOvershoot(t *testing.T) {
	p := traintest.SparseProblem(40, engine.CRF, oracles.Smoothing{}, 10)
	m := &SAGA{Async: true}
	s := traintest.Start(t, m, p)
	traintest.Passes(t, m, p, s, 1)
	if most := 1 / (10 * 40.); !(s.Step <= most) {
		t.Errorf("the step is %g, expected at most %g", s.Step, most)
	}
}

// Where a step changes all weights, threads have nothing to gain, and so it is refused.
func TestAsyncSAGARefuses(t *testing.T) {
	bounded := traintest.SparseProblem(10, engine.CRF, oracles.Smoothing{}, 0.1)
	bounded.Bounds = &engine.Bounds{Low: -1, High: 1}
	for name, p := range map[string]*train.Problem{
		"dense":  traintest.LinearProblem(10, 1, 0.1, 2),
		"joint":  traintest.JointProblem(t, 10, 2, 3, engine.CRF, 0.1),
		"bounds": bounded,
	} {
		p.Smoothing = traintest.Entropy
		if err := (&SAGA{Async: true}).Start(t.Context(), p, train.NewState(make([]float32, p.Scorer.Dim()))); err == nil {
			t.Errorf("%s: it starts", name)
		}
	}
}
