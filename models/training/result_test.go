package training

import (
	"math"
	"testing"

	"github.com/dsp-go/dsp/train/record"
)

// The bound of the last pass certifies the weights of an earlier one.
func TestKeptPassIsCertifiedByTheLastBound(t *testing.T) {
	nan := record.Number(math.NaN())
	last := record.Record{Pass: 9, Objective: 0.5, Dual: 0.49, Gap: 0.01}
	for name, c := range map[string]struct {
		best, last record.Record
		dual, gap  float64
	}{
		"an older bound":  {record.Record{Pass: 2, Objective: 0.8, Gap: 0.8}, last, 0.49, 0.31},
		"no bound":        {record.Record{Pass: 2, Objective: 0.8, Dual: nan, Gap: nan}, last, 0.49, 0.31},
		"a better bound":  {record.Record{Pass: 2, Objective: 0.8, Dual: 0.495, Gap: 0.305}, last, 0.495, 0.305},
		"never certified": {record.Record{Pass: 2, Objective: 0.8, Dual: nan, Gap: nan}, record.Record{Objective: 0.5, Dual: nan, Gap: nan}, math.NaN(), math.NaN()},
	} {
		k := keptOf(c.best, c.last)
		same := func(a record.Number, b float64) bool {
			return math.Abs(float64(a)-b) < 1e-12 || math.IsNaN(float64(a)) && math.IsNaN(b)
		}
		if k.Pass != 2 || k.Objective != 0.8 || !same(k.Dual, c.dual) || !same(k.Gap, c.gap) || !same(k.RelativeGap, c.gap/0.8) {
			t.Errorf("%s: got %+v", name, k)
		}
	}
}

// The last line of a run says where its certificate says nothing.
func TestFarFromOptimum(t *testing.T) {
	for gap, says := range map[float64]bool{1: true, 0.999: true, 0.02: false, math.NaN(): false} {
		r := Result{Certificate: Certificate{RelativeGap: record.Number(gap)}}
		if (r.farFromOptimum() != "") != says {
			t.Errorf("a gap of %v: %q", gap, r.farFromOptimum())
		}
	}
}
