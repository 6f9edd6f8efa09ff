package traintest

import (
	"strings"
	"testing"

	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/record"
)

// RecomposesItsGap runs a method to a relative gap. It checks that the run recomposed its dual although no Resync was
// due, and that an estimate alone does not stop it. point returns the weights, a dual point and its entropy; lie raises
// the estimate.
func RecomposesItsGap(t *testing.T, p *train.Problem, m train.Method, point func() (w []float32, u engine.DualPoint, entropy float64), lie func()) {
	t.Helper()
	const gap = 0.05
	h := &record.History{}
	s := train.NewState(make([]float32, p.Scorer.Dim()))
	r, err := (&train.Trainer{Problem: p, Method: m, Passes: 300, Gap: gap, Recorders: []record.Recorder{h}}).Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(r.Reason, "relative gap") || r.Last.RelativeGap() > gap {
		t.Fatalf("gap %g after %d passes: %s", r.Last.RelativeGap(), r.Last.Pass, r.Reason)
	}
	w, u, entropy := point()
	raw := DualOfMemory(t, p, w, u) + entropy
	Near(t, "certified dual", float64(r.Last.Dual), raw-s.Rounding, 1e-7)
	if first := h.Records[0]; r.Last.Pass > 1 && first.Dual != record.Number(p.Constant) {
		t.Errorf("after pass 1 the dual is %g, though nothing was recomposed", first.Dual)
	}
	lie()
	Passes(t, m, p, s, 1)
	Certify(t, m.(train.Certifier), p, s)
	if s.Dual > s.Primal || s.Gap() > 0.2*s.Primal {
		t.Errorf("dual %g, objective %g", s.Dual, s.Primal)
	}
}
