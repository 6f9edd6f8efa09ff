package kindstest

import (
	"math"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/methods"
	"github.com/dsp-go/dsp/train/traintest"
)

// On grids with submodular edges, methods that maximise by cuts certify the optimum that others certify with junction
// trees.
func TestCutsCertify(t *testing.T) {
	var cuts []oracles.Truncator // all oracles that the runs create
	all := registry.All
	t.Cleanup(func() { registry.All = all })
	registry.All = append([]registry.Kind(nil), all...)
	for k := range registry.All {
		if oracle := all[k].Oracle; all[k].Structure == (graphs.Pairwise{Edges: graphs.Potts, By: graphs.Cut}) {
			registry.All[k].Oracle = func() oracles.Maximiser {
				o := oracle()
				cuts = append(cuts, o.(oracles.Truncator))
				return o
			}
		}
	}
	lo, hi := math.Inf(-1), math.Inf(1)
	for _, c := range []struct {
		name      string
		by        graphs.Inference
		method    train.Method
		smoothing oracles.Smoothing
		gap       float64 // relative, after 40 passes
	}{
		{"bcfw", graphs.Cut, &methods.BCFW{}, oracles.Smoothing{}, 1e-2},
		{"casimir, l2", graphs.Cut, &methods.Casimir{}, traintest.L2, 1e-2},
		{"saga, l2 on 5", graphs.Cut, &methods.SAGA{}, oracles.Smoothing{Kind: oracles.L2, K: 5}, 2e-2},
		{"bcfw, exact", graphs.Exact, &methods.BCFW{}, oracles.Smoothing{}, 1e-2},
		{"casimir, exact, entropy", graphs.Exact, &methods.Casimir{}, traintest.Entropy, 1e-2},
	} {
		p := traintest.GridProblem(30, c.by, c.smoothing, 1./30)
		s := traintest.Start(t, c.method, p)
		traintest.Passes(t, c.method, p, s, 40)
		if m, ok := c.method.(train.Certifier); ok {
			traintest.Certify(t, m, p, s)
		}
		traintest.Near(t, c.name+": F(W)", s.Primal, traintest.Upper(t, p.Engine, s.W), 1e-9)
		t.Logf("%s: [%g, %g], gap %g, edge weight %g", c.name, s.Dual, s.Primal, s.Gap()/s.Primal, s.W[len(s.W)-1])
		if gap := s.Gap() / s.Primal; !(gap <= c.gap) {
			t.Errorf("%s: relative gap %g", c.name, gap)
		}
		lo, hi = max(lo, s.Dual), min(hi, s.Primal)
	}
	if lo > hi+1e-6*hi {
		t.Errorf("the intervals do not overlap: dual %.9g, primal %.9g", lo, hi)
	}
	if len(cuts) == 0 {
		t.Error("no run used cuts")
	}
	for _, o := range cuts {
		if o.Truncated() > 0 {
			t.Errorf("%d edges were truncated", o.Truncated())
		}
	}
}
