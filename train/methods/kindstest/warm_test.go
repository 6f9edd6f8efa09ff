package kindstest

import (
	"math"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
	"github.com/dsp-go/dsp/train/methods/sdca"
	"github.com/dsp-go/dsp/train/traintest"
)

// Dual methods that start from weights: the state is never worse than these, bounds are valid from the first pass, and
// the optimum is that of a cold start. A restored method goes on with the same bits, at once or after a pass. So it is
// with another centre, too.
func TestWarmStarts(t *testing.T) {
	for name, c := range map[string]struct {
		p          *train.Problem
		cold, warm func() train.Method
	}{
		"sdca": {traintest.SparseProblem(24, engine.CRF, oracles.Smoothing{}, 0.05), func() train.Method { return &sdca.SDCA{} }, func() train.Method { return &sdca.SDCA{Warm: true} }},
		"sdca, shifted": {traintest.Shifted(traintest.NoisyProblem(24, engine.CRF, oracles.Smoothing{}, 0.05)), func() train.Method { return &sdca.SDCA{} },
			func() train.Method { return &sdca.SDCA{Warm: true} }},
		"bcfw": {traintest.NoisyProblem(24, engine.Hinge, oracles.Smoothing{}, 0.1), func() train.Method { return &methods.BCFW{} }, func() train.Method { return &methods.BCFW{Warm: true} }},
		"bcpfw": {traintest.Shifted(traintest.NoisyProblem(24, engine.Hinge, oracles.Smoothing{}, 0.1)), func() train.Method { return &methods.BCPFW{} },
			func() train.Method { return &methods.BCPFW{Warm: true} }},
		"fw": {traintest.NoisyProblem(24, engine.Hinge, oracles.Smoothing{}, 0.1), func() train.Method { return &methods.FrankWolfe{} },
			func() train.Method { return &methods.FrankWolfe{Warm: true} }},
		"cutting-plane": {traintest.Shifted(traintest.NoisyProblem(24, engine.Hinge, oracles.Smoothing{}, 0.1)), func() train.Method { return &methods.CuttingPlane{} },
			func() train.Method { return &methods.CuttingPlane{Warm: true} }},
		"n-slack": {traintest.Shifted(traintest.NoisyProblem(24, engine.Hinge, oracles.Smoothing{}, 0.1)), func() train.Method { return &methods.NSlack{} },
			func() train.Method { return &methods.NSlack{Warm: true} }},
		"oeg": {traintest.SparseProblem(24, engine.CRF, oracles.Smoothing{}, 0.05), func() train.Method { return &sdca.SDCA{Online: true} },
			func() train.Method { return &sdca.SDCA{Online: true, Warm: true} }},
		"oeg, hinge": {traintest.NoisyProblem(24, engine.Hinge, oracles.Smoothing{}, 0.1), func() train.Method { return &sdca.SDCA{Online: true} },
			func() train.Method { return &sdca.SDCA{Online: true, Warm: true} }},
	} {
		t.Run(name, func(t *testing.T) {
			p := c.p
			λ := p.Lambda
			p.Lambda = 1.5 * λ // the weights to start from are those of another regulariser
			first := c.cold()
			s := traintest.Start(t, first, p)
			traintest.Passes(t, first, p, s, 30)
			from := slices.Clone(s.W)
			p.Lambda = λ
			cold := c.cold()
			best := traintest.Start(t, cold, p)
			traintest.Passes(t, cold, p, best, 200)

			m := c.warm()
			s = train.NewState(slices.Clone(from))
			traintest.Begin(t, m, p, s)
			start := traintest.Upper(t, p.Engine, from)
			for pass := range 200 {
				var other *train.State
				if pass < 2 {
					other = resumed(t, c.warm, m, p, s)
				}
				traintest.Passes(t, m, p, s, 1)
				if other != nil && (!slices.Equal(other.W, s.W) || other.Primal != s.Primal || other.Dual != s.Dual && !math.IsNaN(s.Dual) || other.Estimate != s.Estimate && !math.IsNaN(s.Estimate)) {
					t.Errorf("pass %d: a restored method goes on with other bits", pass)
				}
				bound := *s
				if certifier, ok := m.(train.Certifier); ok {
					if err := certifier.Certify(t.Context(), p, &bound, false); err != nil {
						t.Fatal(err)
					}
				}
				if f := traintest.Upper(t, p.Engine, s.W); math.Abs(f-s.Primal) > 1e-6*math.Abs(f) || s.Primal > start+1e-6 {
					t.Fatalf("pass %d: the state says %v of weights at %v, the start was at %v", pass, s.Primal, f, start)
				}
				if bound.Dual > best.Primal+1e-6 {
					t.Fatalf("pass %d: bound %v above %v", pass, bound.Dual, best.Primal)
				}
			}
			if math.Abs(s.Primal-best.Primal) > 0.02*best.Primal {
				t.Errorf("ends at %v, a cold start at %v", s.Primal, best.Primal)
			}
		})
	}
}

// resumed restores the state of a method into a new one and returns the state after a pass of that.
func resumed(t *testing.T, again func() train.Method, m train.Method, p *train.Problem, s *train.State) *train.State {
	t.Helper()
	shelf := &traintest.Shelf{Values: map[string]any{}}
	m.Archive(shelf)
	shelf.Restoring = true
	other, at := again(), *s
	other.Archive(shelf)
	at.W = slices.Clone(s.W)
	traintest.Begin(t, other, p, &at)
	traintest.Passes(t, other, p, &at, 1)
	return &at
}
