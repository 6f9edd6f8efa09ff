package train

import (
	"strings"
	"testing"

	"github.com/dsp-go/dsp/oracles"
)

// A run that stops at a gap has recomposed its dual, though no Resync was due. An estimate alone stops nothing.
func TestGapIsRecomposed(t *testing.T) {
	for name, c := range map[string]struct {
		p     *Problem
		m     Method
		point func(m Method) (w []float32, u dualPoint, entropy float64)
		lie   func(m Method)
	}{
		"bcfw": {linearProblem(60, 1, 0.05, 1), &BCFW{Resync: 1000},
			func(m Method) ([]float32, dualPoint, float64) { b := m.(*BCFW); return b.path.w, b.memory, 0 },
			func(m Method) { m.(*BCFW).best = 1e3 }},
		"bcpfw": {linearProblem(60, 1, 0.05, 1), &BCPFW{Resync: 1000},
			func(m Method) ([]float32, dualPoint, float64) { b := m.(*BCPFW); return b.path.w, b.corners, 0 },
			func(m Method) { m.(*BCPFW).best = 1e3 }},
		"sdca": {noisyProblem(60, CRF, oracles.Smoothing{}, 0.05), &SDCA{Resync: 1000},
			func(m Method) ([]float32, dualPoint, float64) {
				b := m.(*SDCA)
				return b.w, &b.memory.u, b.memory.meanEntropy(&Objective{Data: b.memory.u.data})
			},
			func(m Method) { m.(*SDCA).dual = 1e3 }},
	} {
		t.Run(name, func(t *testing.T) {
			const gap = 0.05
			h := &History{}
			s := &State{W: make([]float32, c.p.Scorer.Dim())}
			r, err := (&Trainer{Problem: c.p, Method: c.m, Passes: 300, Gap: gap, Recorders: []Recorder{h}}).Run(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(r.Reason, "relative gap") || r.Last.RelativeGap() > gap {
				t.Fatalf("gap %g after %d passes: %s", r.Last.RelativeGap(), r.Last.Pass, r.Reason)
			}
			w, u, entropy := c.point(c.m)
			raw := dualOfMemory(t, c.p, w, u) + entropy
			near(t, "certified dual", float64(r.Last.Dual), raw-s.Rounding, 1e-7)
			if first := h.Records[0]; r.Last.Pass > 1 && first.Dual != Number(c.p.Constant) {
				t.Errorf("after pass 1 the dual is %g, though nothing was recomposed", first.Dual)
			}
			c.lie(c.m)
			passes(t, c.m, c.p, s, 1)
			certify(t, c.m.(certifier), c.p, s)
			if s.Dual > s.Primal || s.Gap() > 0.2*s.Primal {
				t.Errorf("dual %g, objective %g", s.Dual, s.Primal)
			}
		})
	}
}
