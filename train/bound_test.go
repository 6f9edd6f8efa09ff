package train

import (
	"math"
	"testing"

	"github.com/dsp-go/dsp/train/record"
)

// A record has the larger of the dual and its floor, and an estimated gap only where the estimate is ahead of it.
func TestBoundOfRecords(t *testing.T) {
	for _, c := range []struct{ primal, dual, estimate, floor, wantDual, wantEstimated float64 }{
		{2, 1, 0, math.Inf(-1), 1, 0}, {2, 1, 1, 0.5, 1, 0}, {2, 1, 1.75, 0.5, 1, 0.25}, {2, 1, 1.25, 1.5, 1.5, 0}, {2, math.Inf(-1), math.Inf(-1), math.Inf(-1), math.NaN(), 0},
	} {
		s := &State{Primal: c.primal, Dual: c.dual, Estimate: c.estimate}
		r := record.Record{EstimatedGap: 7}
		s.bound(&r, c.floor)
		if got := float64(r.Dual); got != c.wantDual && !(math.IsNaN(got) && math.IsNaN(c.wantDual)) || float64(r.EstimatedGap) != c.wantEstimated {
			t.Errorf("%+v: dual %v, estimated gap %v", c, r.Dual, r.EstimatedGap)
		}
	}
}
