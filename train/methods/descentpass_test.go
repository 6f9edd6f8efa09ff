package methods

import (
	"math"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// walking returns the methods that step by a descent, for a run of so many passes.
func walking(passes int) map[string]func() train.Method {
	span := Span{Passes: passes}
	return map[string]func() train.Method{
		"prox-linear": func() train.Method { return &BatchProxLinear{ModelBatch: 4, Passes: passes} },
		"adam":        func() train.Method { return &Adam{Rate: 0.02, Schedule: CosineSchedule, Span: span} },
		"adam, ema": func() train.Method {
			return &Adam{Rate: 0.02, Schedule: GeometricSchedule, Span: Span{passes, 2}, Averaging: ExponentialAverage, Clip: 10}
		},
		"momentum": func() train.Method { return &SGD{Momentum: 0.9, Schedule: CosineSchedule, Span: span} },
		"nesterov": func() train.Method {
			return &SGD{Momentum: 0.8, Nesterov: true, Schedule: GeometricSchedule, Span: span, Clip: 5}
		},
		"weighted": func() train.Method { return &SGD{Momentum: 0.5, Averaging: WeightedAverage} },
	}
}

// Every method that walks comes near the optimum of convex problems that BCFW has certified. AdamW decays
// weights apart from the loss and so has its own optimum, further away.
func TestWalkersReachTheOptimum(t *testing.T) {
	const passes = 80
	p := traintest.LinearProblem(80, 1, 0.05, 2)
	b := &BCFW{}
	best := traintest.Start(t, b, p)
	traintest.Passes(t, b, p, best, 300)
	p.Batch = 4
	for name, method := range walking(passes) {
		t.Run(name, func(t *testing.T) {
			m := method()
			s := traintest.Start(t, m, p)
			traintest.Passes(t, m, p, s, passes)
			within := 1.03
			if m.Name() == "adam" {
				within = 1.3
			}
			if !(s.Primal >= best.Dual-1e-6 && s.Primal <= best.Primal*within) {
				t.Errorf("objective %g, optimum in [%g, %g]", s.Primal, best.Dual, best.Primal)
			}
		})
	}
}

// The number of threads does not change a bit, whether inputs are dense or sparse.
func TestWalkersIgnoreThreads(t *testing.T) {
	for name, method := range walking(3) {
		for kind, problem := range map[string]*train.Problem{
			"net":    traintest.NetProblem(60, 20, 1),
			"sparse": traintest.SparseProblem(60, engine.CRF, oracles.Smoothing{}, 0.05),
		} {
			if name == "prox-linear" {
				problem.Batch = 0
			}
			var want []float32
			for _, threads := range []int{1, 2, 5} {
				p := *problem
				p.Engine = engine.NewEngine(problem.Objective, threads)
				m, s := method(), train.NewState(make([]float32, p.Scorer.Dim()))
				if kind == "net" {
					s = traintest.GlorotState(&p)
				}
				traintest.Begin(t, m, &p, s)
				traintest.Passes(t, m, &p, s, 3)
				if want == nil {
					want = slices.Clone(s.W)
				} else if !slices.Equal(s.W, want) {
					t.Errorf("%s on %s: other weights with %d threads", name, kind, threads)
				}
			}
		}
	}
}

// After passes on batches, prox-linear on all examples lowers the objective further, and says how stationary the
// weights are.
func TestProxLinearFinish(t *testing.T) {
	p := traintest.NetProblem(120, 8, 2)
	m, s := &BatchProxLinear{ModelBatch: 8, Passes: 20, Finish: 10}, traintest.GlorotState(p)
	traintest.Begin(t, m, p, s)
	traintest.Passes(t, m, p, s, 10)
	batches := s.Primal
	if !math.IsNaN(s.ProxGradient) {
		t.Errorf("a model of a batch says that the prox gradient is %g", s.ProxGradient)
	}
	for s.Passes < 20 {
		traintest.Passes(t, m, p, s, 1)
	}
	if !(s.Primal < batches) || math.IsNaN(s.ProxGradient) {
		t.Errorf("objective %g after the passes on batches, %g after the finish; prox gradient %g", batches, s.Primal, s.ProxGradient)
	}
}

// Schedules that end with the run refuse a run of unknown length, and follow their formulas.
func TestSchedules(t *testing.T) {
	p := traintest.LinearProblem(20, 1, 0.05, 1)
	for _, m := range []train.Method{&SGD{Schedule: CosineSchedule}, &Adam{Schedule: GeometricSchedule}, &Adam{Schedule: PegasosSchedule, Span: Span{Passes: 2}}} {
		if err := m.Start(t.Context(), p, train.NewState(make([]float32, p.Scorer.Dim()))); err == nil {
			t.Errorf("%+v starts", m)
		}
	}
	for _, c := range []struct {
		s    Schedule
		t    float64
		want float64
	}{{CosineSchedule, 0, 1}, {CosineSchedule, 50, 0.5}, {CosineSchedule, 100, 0}, {GeometricSchedule, 50, 0.1}, {GeometricSchedule, 100, 0.01}, {SqrtSchedule, 30, 0.5}, {StairsSchedule, 25, 1. / 3}} {
		if got := c.s.factor(c.t, 10, 0, 10); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v after %g of 100 steps: %g, want %g", c.s, c.t, got, c.want)
		}
	}
	if got := (Span{WarmUp: 2}).rise(9, 10); got != 0.5 {
		t.Errorf("after half of the warm-up the step is %g of its size", got)
	}
}
