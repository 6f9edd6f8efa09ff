package query

import (
	"testing"

	"github.com/dsp-go/dsp/oracles/factors"
)

// A gap that is small beside the value is still a gap: three variables of which two must be equal, and a large
// constant.
func TestGapBesideLargeConstant(t *testing.T) {
	differ := []float64{0, 1e-4, 1e-4, 0}
	m := &factors.Model{States: []int{2, 2, 2}, Factors: []factors.Factor{
		{Table: []float64{1e6}},
		{Scope: []int{0, 1}, Table: differ}, {Scope: []int{1, 2}, Table: differ}, {Scope: []int{2, 0}, Table: differ},
	}}
	a := relaxedBest(m, Settings{Passes: 50}, never)
	if a.Exact || a.Bound-a.Value < 0.9e-4 {
		t.Errorf("value %.9f, bound %.9f, exact %v: the relaxation is not tight", a.Value, a.Bound, a.Exact)
	}
	m.Factors = m.Factors[:3] // without the loop it is
	if a := relaxedBest(m, Settings{Passes: 50}, never); !a.Exact {
		t.Errorf("value %.9f, bound %.9f, exact %v", a.Value, a.Bound, a.Exact)
	}
}

func never() bool { return false }
