package sdca

import (
	"math"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// The entropy of mixtures with the gold outputs is that of all outputs, one by one.
func TestMixedEntropy(t *testing.T) {
	p, m := traintest.AttributeProblem(t, 30, 4, 3, 0, engine.CRF, 0), &SDCA{}
	p.L1 = 0.02
	s := traintest.Start(t, m, p)
	traintest.Passes(t, m, p, s, 3)
	m.memory.step[0] = 0 // as if it were not visited yet: its u is the gold output
	mixed := m.memory.mixed(p)
	for _, share := range []float64{0, 0.1, 0.9, 0.999, 1} {
		want := 0.0
		for i := 1; i < p.Len(); i++ {
			var φ structured.Potentials
			m.memory.φ.AsPotentials(i, p.Data.OutputLength(i), &φ)
			gold := p.Data.Gold(i)
			scores, right, sum := []float64{}, -1, 0.0
			y := make([]int32, len(gold))
			for k := range int(math.Pow(3, float64(len(y)))) {
				same := true
				for at := range y {
					y[at] = int32(k % 3)
					k /= 3
					same = same && y[at] == gold[at]
				}
				if same {
					right = len(scores)
				}
				scores = append(scores, math.Exp(φ.Score(0, y)))
				sum += scores[len(scores)-1]
			}
			for k, x := range scores {
				q := share * x / sum
				if k == right {
					q += 1 - share
				}
				if q > 0 {
					want -= q * math.Log(q) / float64(p.Len())
				}
			}
		}
		got, err := mixed(t.Context(), share)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got-want) > 1e-5*(1+want) {
			t.Errorf("share %g: entropy %.9g, want %.9g", share, got, want)
		}
	}
}

// With λ = 0 the bound is that of the mixture with its own entropy: above the one from a share of the entropy, and
// below the optimum.
func TestMixedBound(t *testing.T) {
	p, m := traintest.AttributeProblem(t, 60, 8, 3, 0, engine.CRF, 0), &SDCA{}
	p.L1 = 1. / 60
	s := traintest.Start(t, m, p)
	traintest.Passes(t, m, p, s, 12)
	var whole, share train.LowerBound
	entropy, err := m.memory.boundedEntropy(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	w := p.Soften(m.w, m.τ)
	u, err := whole.Recompose(t.Context(), p, s, w, &m.memory.u, entropy, 1)
	if err != nil {
		t.Fatal(err)
	}
	entropy.Mixed = nil
	share.Record(p, u, entropy, 1)
	if feasible := p.FeasibleShare(u.Grad); feasible == 1 || whole.Value <= share.Value {
		t.Errorf("share %g: bound %g from the mixtures' entropy, %g from a share of the entropy", feasible, whole.Value, share.Value)
	}
	traintest.Passes(t, m, p, s, 100)
	if whole.Value > s.Primal {
		t.Errorf("bound %g, but F is %g", whole.Value, s.Primal)
	}
}
