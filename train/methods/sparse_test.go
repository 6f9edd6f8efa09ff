package methods

import (
	"fmt"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// sparseMethods creates one of each method for the hinge on sparse inputs.
var sparseMethods = []func() train.Method{
	func() train.Method { return &SGD{Rate: 0.1} },
	func() train.Method { return &SGD{Rate: 0.2, Schedule: InverseSchedule} },
	func() train.Method { return &SGD{Schedule: PegasosSchedule, Averaging: UniformAverage} },
	func() train.Method { return &SGD{Rate: 0.1, Averaging: PassAverage} },
	func() train.Method { return &SGD{Rate: 0.1, Averaging: NoAverage} },
	func() train.Method { return &BCFW{} },
	func() train.Method { return &BCFW{Averaging: NoAverage, Resync: 2} },
	func() train.Method { return &SVRG{Pace: Pace{Lipschitz: 20}} },
	func() train.Method { return &Casimir{Pace: Pace{Lipschitz: 20}} },
	func() train.Method { return &Casimir{Adaptive: true, Pace: Pace{Lipschitz: 20}} },
	func() train.Method { return &SAGA{Pace: Pace{Lipschitz: 20}} },
}

// Every method gives the same results on sparse inputs as on the same inputs in dense form.
func TestSparseMethods(t *testing.T) {
	for k, method := range sparseMethods {
		for _, batch := range []int{1, 3, 20} {
			m, n := method(), method()
			t.Run(fmt.Sprintf("%d %s %d", k, m.Name(), batch), func(t *testing.T) {
				p := traintest.Shifted(traintest.SparseProblem(60, engine.Hinge, traintest.Entropy, 0.1))
				if m.Name() == "sgd" || m.Name() == "bcfw" {
					p.Smoothing = oracles.Smoothing{}
				}
				p.Batch = batch
				q := traintest.Densely(p)
				got, want := traintest.Start(t, m, p), traintest.Start(t, n, q)
				for range 3 {
					traintest.Passes(t, m, p, got, 1)
					traintest.Passes(t, n, q, want, 1)
					traintest.Near(t, "F", got.Primal, want.Primal, 2e-5)
					if want.Dual == want.Dual { // allowances for rounding differ: dense scorers of tests have no sums in float64
						traintest.Near(t, "dual before rounding", got.Dual+got.Rounding, want.Dual+want.Rounding, 1e-4)
					}
					traintest.NearAll(t, "weight", got.W, want.W, 3e-4)
				}
			})
		}
	}
}

// On sparse inputs, too, the bits are the same for any number of threads and for a resumed run.
func TestSparseMethodsThreads(t *testing.T) {
	for k, method := range append(sparseMethods, func() train.Method { return &BCPFW{} }, func() train.Method { return &SGD{} }) {
		var want []float32
		for _, threads := range []int{1, 2, 7} {
			p := traintest.SparseProblem(80, engine.Hinge, traintest.Entropy, 0.1)
			p.Engine = engine.NewEngine(p.Objective, threads)
			p.Batch = 20
			m := method()
			s := traintest.Start(t, m, p)
			traintest.Passes(t, m, p, s, 3)
			if want == nil {
				want = s.W
			} else if !slices.Equal(s.W, want) {
				t.Errorf("%d %s: other weights with %d threads", k, m.Name(), threads)
			}
		}
	}
}

// All methods certify the same optimum of a sparse problem, with step sizes of their own choice.
func TestSparseCertificates(t *testing.T) {
	p := traintest.SparseProblem(100, engine.Hinge, traintest.Entropy, 1./100)
	lo, hi := 0.0, 1e9
	for _, m := range append(convexMethods(), &BCFW{}) {
		if m.Name() == "bcfw" {
			p.Smoothing = oracles.Smoothing{}
		}
		s := traintest.Start(t, m, p)
		traintest.Passes(t, m, p, s, 80)
		t.Logf("%s: F %.6f, relative gap %.2g", m.Name(), s.Primal, s.Gap()/s.Primal)
		if gap := s.Gap() / s.Primal; !(gap >= -1e-6 && gap < 0.05) {
			t.Errorf("%s: relative gap %g", m.Name(), gap)
		}
		lo, hi = max(lo, s.Dual), min(hi, s.Primal)
	}
	if lo > hi+1e-6*hi {
		t.Errorf("the intervals do not overlap: dual %.9g, primal %.9g", lo, hi)
	}
}

// If most attributes are rare, the step size that SGD finds is about as good as the best of a grid.
func TestSparseSGDRate(t *testing.T) {
	p := traintest.SparseProblem(150, engine.Hinge, oracles.Smoothing{}, 1./150)
	p.Data = traintest.SparseChains(5, 150, 2000, 4, false)
	net, err := sparse.NewChain(2000, 0, 4, nets.EdgesTransition)
	if err != nil {
		t.Fatal(err)
	}
	p.Engine = engine.NewEngine(&engine.Objective{Scorer: net, Data: p.Data, Lambda: 1. / 150}, 1)
	value := func(rate float64) float64 {
		m := &SGD{Rate: rate}
		s := traintest.Start(t, m, p)
		traintest.Passes(t, m, p, s, 6)
		return s.Primal
	}
	best := value(1e-3)
	for _, rate := range []float64{4e-3, 0.016, 0.06, 0.25} {
		best = min(best, value(rate))
	}
	got := value(0)
	t.Logf("F %g by its own step, %g by the best of the grid", got, best)
	if got > 1.25*best {
		t.Errorf("F is %g by its own step, %g by the best of the grid", got, best)
	}
}
