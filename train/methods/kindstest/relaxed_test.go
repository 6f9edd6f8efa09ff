package kindstest

import (
	"math"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
	"github.com/dsp-go/dsp/train/methods/quasinewton"
	"github.com/dsp-go/dsp/train/methods/sdca"
	"github.com/dsp-go/dsp/train/traintest"
)

// On grids, all methods certify the same optimum of the relaxed objective, which is at least that of the exact one.
func TestRelaxedObjective(t *testing.T) {
	if testing.Short() {
		t.Skip("long; the race detector runs shorter tests of the same code")
	}
	for _, c := range []struct {
		name    string
		loss    engine.Loss
		n       int // examples
		methods func() []train.Method
		gap     float64
	}{
		{"hinge", engine.Hinge, 20, func() []train.Method { return []train.Method{&methods.SVRG{}, &methods.SAGA{}} },
			2e-2},
		{"crf", engine.CRF, 8, func() []train.Method {
			return []train.Method{&methods.SVRG{}, &quasinewton.LBFGS{}, &sdca.SDCA{}}
		}, 1e-3},
	} {
		t.Run(c.name, func(t *testing.T) {
			var bounds [2][2]float64 // of the exact and of the relaxed optimum
			for k, by := range []graphs.Inference{graphs.Exact, graphs.Relaxed} {
				lo, hi := math.Inf(-1), math.Inf(1)
				for _, m := range c.methods() {
					p := traintest.TypedGridProblem(c.n, by, c.loss, traintest.Entropy, 1/float64(c.n))
					if relaxed := p.Relaxed() != ""; relaxed != (by == graphs.Relaxed) {
						t.Errorf("%v inference: relaxed %v", by, relaxed)
					}
					if err := p.Check(); err != nil {
						t.Fatal(err)
					}
					s := traintest.Start(t, m, p)
					traintest.Passes(t, m, p, s, 60)
					if certifier, ok := m.(train.Certifier); ok {
						traintest.Certify(t, certifier, p, s)
					}
					t.Logf("%v, %s: %.6g to %.6g", by, m.Name(), s.Dual, s.Primal)
					if !(s.Gap() <= c.gap*s.Primal) {
						t.Errorf("%v, %s: relative gap %g", by, m.Name(), s.Gap()/s.Primal)
					}
					lo, hi = max(lo, s.Dual), min(hi, s.Primal)
				}
				if lo > hi+1e-5*hi {
					t.Errorf("%v: the intervals do not overlap: dual %.9g, primal %.9g", by, lo, hi)
				}
				bounds[k] = [2]float64{lo, hi}
			}
			if !(bounds[1][1] >= bounds[0][0]) {
				t.Errorf("the relaxed optimum is at most %g, the exact one at least %g", bounds[1][1], bounds[0][0])
			}
		})
	}
}

// Without smoothing, labels give the subgradients and bounds the values: the interval contains the optimum of the exact
// hinge objective.
func TestRelaxedHingeBoundsExact(t *testing.T) {
	const n = 30
	var s [2]*train.State
	for k, by := range []graphs.Inference{graphs.Exact, graphs.Relaxed} {
		m, p := &methods.BCFW{}, traintest.TypedGridProblem(n, by, engine.Hinge, oracles.Smoothing{}, 1./n)
		s[k] = traintest.Start(t, m, p)
		traintest.Passes(t, m, p, s[k], 100)
		traintest.Certify(t, m, p, s[k])
		t.Logf("%v: %.6g to %.6g", by, s[k].Dual, s[k].Primal)
	}
	if exact, relaxed := s[0], s[1]; !(relaxed.Dual <= exact.Primal) || !(relaxed.Primal >= exact.Dual) || !(relaxed.Gap() <= 0.05*relaxed.Primal) {
		t.Errorf("exact [%g, %g], relaxed [%g, %g]", exact.Dual, exact.Primal, relaxed.Dual, relaxed.Primal)
	}
}

// A difference of two bounds is no bound: relaxed training refuses partial labels.
func TestRelaxedRefusesPartialLabels(t *testing.T) {
	p := traintest.TypedGridProblem(3, graphs.Relaxed, engine.CRF, traintest.Entropy, 0.1)
	p.Data.Labels[4], p.Data.LabelSets = -1, [][]int32{nil}
	if err := p.Check(); !structured.IsBadInput(err) {
		t.Errorf("got %v", err)
	}
}
