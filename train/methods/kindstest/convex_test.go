package kindstest

import (
	"math"
	"testing"

	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/methods"
	"github.com/dsp-go/dsp/train/traintest"
)

// convexMethods creates one of each convex method that smooths.
func convexMethods() []train.Method {
	return []train.Method{&methods.SVRG{}, &methods.Casimir{}, &methods.Casimir{Adaptive: true}, &methods.SAGA{}}
}

// agree trains a problem by each of these methods, and expects relative gaps of at most gap, objectives that hold to
// tolerance, and one optimum in all intervals [dual, objective]. A method has as many passes as it is given, but ends
// where rounding to float32 is most of the gap.
func agree(t *testing.T, p *train.Problem, ms []train.Method, passes func(train.Method) int, gap, tolerance float64) {
	t.Helper()
	const rounding = 2e-5
	lo, hi := math.Inf(-1), math.Inf(1)
	for _, m := range ms {
		s, done := traintest.Start(t, m, p), 0
		for n := passes(m); done < n && !(done > 0 && s.Gap() <= rounding*s.Primal); done++ {
			traintest.Passes(t, m, p, s, 1)
		}
		if certifier, ok := m.(train.Certifier); ok {
			traintest.Certify(t, certifier, p, s)
		}
		t.Logf("%s: %.6g to %.6g after %d passes", m.Name(), s.Dual, s.Primal, done)
		if !(s.Gap() <= gap*s.Primal && s.Gap() >= 0) || !(s.Primal > 0) {
			t.Errorf("%s: relative gap %g after %d passes", m.Name(), s.Gap()/s.Primal, done)
		}
		traintest.Near(t, m.Name()+": F(W)", s.Primal, traintest.Upper(t, p.Engine, s.W), tolerance)
		lo, hi = max(lo, s.Dual), min(hi, s.Primal)
	}
	if lo > hi+1e-6*hi {
		t.Errorf("the intervals do not overlap: dual %.9g, primal %.9g", lo, hi)
	}
}
