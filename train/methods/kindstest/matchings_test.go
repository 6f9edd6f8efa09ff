package kindstest

import (
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/matchings"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
	"github.com/dsp-go/dsp/train/traintest"
)

// Every convex method that needs no sums over outputs certifies the same optimum on matchings, complete or not.
func TestMatchingsAreCertified(t *testing.T) {
	if testing.Short() {
		t.Skip("long; the race detector runs shorter tests of the same code")
	}
	for _, complete := range []bool{false, true} {
		name := matchings.Matching{Complete: complete}.Name()
		t.Run(name, func(t *testing.T) {
			p := traintest.MatchingProblem(12, complete, traintest.L2, 0.1)
			if err := p.Check(); err != nil {
				t.Fatal(err)
			}
			all := append(convexMethods(), &methods.BCFW{}, &methods.BCPFW{}, &methods.FrankWolfe{}, &methods.CuttingPlane{}, &methods.NSlack{}, &methods.AGM{})
			agree(t, p, all, func(m train.Method) int {
				switch m.(type) {
				case *methods.SVRG: // not accelerated
					return 120
				case *methods.FrankWolfe, *methods.CuttingPlane: // of all examples at once
					return 400
				case *methods.AGM:
					return 100
				}
				return 60
			}, 2e-2, 1e-9)
		})
	}
}

// The results on matchings have the same bits for any number of threads.
func TestMatchingThreads(t *testing.T) {
	for _, make := range []func() train.Method{func() train.Method { return &methods.Casimir{} }, func() train.Method { return &methods.BCPFW{} }} {
		var want []float32
		for _, threads := range []int{1, 2, 7} {
			p := traintest.MatchingProblem(20, false, oracles.Smoothing{Kind: oracles.L2, K: 5}, 0.05)
			p.Engine = engine.NewEngine(p.Objective, threads)
			p.Batch = 10
			m := make()
			s := traintest.Start(t, m, p)
			traintest.Passes(t, m, p, s, 4)
			if want == nil {
				want = s.W
			} else if !slices.Equal(want, s.W) {
				t.Errorf("%s: other weights with %d threads", m.Name(), threads)
			}
		}
	}
}
