package sdca

import (
	"math"
	"testing"

	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// Asynchronous threads find the optimum of the deterministic mode, within the gap that both certify, and w matches the
// memory.
func TestAsyncSDCA(t *testing.T) {
	for name, p := range sdcaProblems(t) {
		if _, rows := p.Rows(); !rows {
			continue
		}
		t.Run(name, func(t *testing.T) {
			reference := &SDCA{}
			best := traintest.Start(t, reference, p)
			for k := 0; k < 200 && (k == 0 || best.Gap() > 1e-5*best.Primal); k++ {
				traintest.Passes(t, reference, p, best, 1)
				traintest.Certify(t, reference, p, best)
			}
			p.Engine = engine.NewEngine(p.Objective, 4)
			m := &SDCA{Resync: 1000, Async: true}
			s := traintest.Start(t, m, p)
			for k := 0; k < 400 && (k == 0 || s.Gap() > 1e-4*s.Primal); k++ {
				traintest.Passes(t, m, p, s, 1)
				traintest.Certify(t, m, p, s)
			}
			if !(s.Gap() >= 0 && s.Gap() <= 1e-4*s.Primal) {
				t.Errorf("relative gap %g after %d passes", s.Gap()/s.Primal, s.Passes)
			}
			if s.Dual > best.Primal*(1+1e-6) || best.Dual > s.Primal*(1+1e-6) {
				t.Errorf("certified [%.9g, %.9g], deterministic [%.9g, %.9g]", s.Dual, s.Primal, best.Dual, best.Primal)
			}
			g, b, err := traintest.Pulled(p.Recompose(t.Context(), m.w, &m.memory.u))
			if err != nil {
				t.Fatal(err)
			}
			w := make([]float32, len(m.w))
			copy(w, p.Center)
			vec.Axpy(float32(-1/p.Lambda), g, w)
			if d := math.Sqrt(vec.Dist2(w, m.w) / vec.Norm2(w)); d > 1e-4 {
				t.Errorf("w is %g away from the memory's, relatively", d)
			}
			traintest.Near(t, "linear part", m.linear, b, 1e-5)
			traintest.Near(t, "entropy", m.entropy, m.memory.meanEntropy(p.Objective), 1e-6)
		})
	}
}
