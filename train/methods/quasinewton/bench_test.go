package quasinewton

import (
	"testing"

	"github.com/dsp-go/dsp/train/traintest"
)

// L-BFGS on correlated dense inputs to a certified gap of 1e-3, in the metric and without. It reports evaluations of
// the objective.
func BenchmarkLBFGSOnCorrelatedInputs(b *testing.B) {
	for name, plain := range map[string]bool{"metric": false, "plain": true} {
		b.Run(name, func(b *testing.B) {
			calls := 0
			for b.Loop() {
				p := correlated(b, 1)
				m := &LBFGS{Plain: plain}
				s := traintest.Start(b, m, p)
				for s.Passes < 2000 && s.Gap() > 1e-3*s.Primal {
					traintest.Passes(b, m, p, s, 1)
				}
				calls = s.OracleCalls / p.Len()
			}
			b.ReportMetric(float64(calls), "evaluations")
		})
	}
}
