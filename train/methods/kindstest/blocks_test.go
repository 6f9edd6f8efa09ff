package kindstest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
	"github.com/dsp-go/dsp/train/methods/sdca"
	"github.com/dsp-go/dsp/train/ranks"
	"github.com/dsp-go/dsp/train/ranks/rankstest"
	"github.com/dsp-go/dsp/train/traintest"
)

// blockRun is a run in which each rank owns the dual variables of its own examples.
type blockRun struct {
	problem func() *train.Problem
	method  func() train.Method
	gap     float64 // relative, after so many passes at most
	passes  int
}

func blockRuns(t *testing.T) map[string]blockRun {
	attributes := func(loss engine.Loss, l1 float64) func() *train.Problem { // several shards
		return func() *train.Problem {
			p := traintest.AttributeProblem(t, 240, 12, 3, 0, loss, 0.05)
			p.L1 = l1
			return p
		}
	}
	dense := func(loss engine.Loss) func() *train.Problem {
		return func() *train.Problem {
			return traintest.Shifted(traintest.NoisyProblem(240, loss, oracles.Smoothing{}, 0.2))
		}
	}
	return map[string]blockRun{
		"sdca, attributes":          {attributes(engine.CRF, 0), func() train.Method { return &sdca.SDCA{} }, 1e-2, 20},
		"sdca, attributes, λ₁":      {attributes(engine.CRF, 0.01), func() train.Method { return &sdca.SDCA{} }, 2e-2, 20},
		"sdca, dense":               {dense(engine.SoftmaxMargin), func() train.Method { return &sdca.SDCA{} }, 1e-2, 20},
		"sdca, from given weights":  {attributes(engine.CRF, 0), func() train.Method { return &sdca.SDCA{Warm: true} }, 1e-2, 20},
		"oeg, hinge":                {attributes(engine.Hinge, 0), func() train.Method { return &sdca.SDCA{Online: true} }, 0.2, 20},
		"bcfw, attributes":          {attributes(engine.Hinge, 0), func() train.Method { return &methods.BCFW{Divide: true} }, 0.1, 20},
		"bcfw, attributes, λ₁":      {attributes(engine.Hinge, 0.01), func() train.Method { return &methods.BCFW{Divide: true} }, 0.1, 20},
		"bcfw, dense, batches":      {func() *train.Problem { p := dense(engine.Hinge)(); p.Batch = 20; return p }, func() train.Method { return &methods.BCFW{Divide: true} }, 0.1, 20},
		"bcpfw, attributes":         {attributes(engine.Hinge, 0), func() train.Method { return &methods.BCPFW{} }, 0.05, 20},
		"bcpfw, attributes, cache":  {attributes(engine.Hinge, 0), func() train.Method { return &methods.BCPFW{CacheLocal: 0.25, CacheGlobal: 0.01} }, 0.05, 40},
		"bcpfw, dense, drawn":       {dense(engine.Hinge), func() train.Method { return &methods.BCPFW{Draw: true} }, 0.05, 20},
		"bcpfw, from given weights": {attributes(engine.Hinge, 0), func() train.Method { return &methods.BCPFW{Warm: true} }, 0.05, 20},
	}
}

// blockOutcome runs some passes of n ranks, from a shelf unless that is nil, and returns the state and a shelf with
// what rank 0 has archived.
func blockOutcome(t *testing.T, c blockRun, n, threads, passes int, from *train.State, shelf *traintest.Shelf) (*train.State, *traintest.Shelf) {
	t.Helper()
	states, shelves := make([]*train.State, n), make([]*traintest.Shelf, n)
	err := rankstest.InProcess(t.Context(), n, func(ctx context.Context, g ranks.Group) error {
		p := c.problem()
		p.Engine = engine.NewEngine(p.Objective, threads+g.Rank()%2)
		if err := p.Join(g); err != nil {
			return err
		}
		s, m := train.NewState(make([]float32, p.Scorer.Dim())), c.method()
		if shelf != nil {
			*s = *from
			s.W = append([]float32(nil), from.W...)
			m.Archive(&traintest.Shelf{Restoring: true, Values: shelf.Values})
		}
		if err := m.Start(ctx, p, s); err != nil {
			return err
		}
		for range passes {
			if err := train.Pass(ctx, m, p, s); err != nil {
				return err
			}
		}
		if err := m.(train.Certifier).Certify(ctx, p, s, false); err != nil {
			return err
		}
		if err := m.(train.Divided).Assemble(ctx, p); err != nil {
			return err
		}
		if n > 1 && g.Traffic().Messages == 0 {
			return errors.New("no messages: each rank did all of the work")
		}
		all := &traintest.Shelf{Values: map[string]any{}}
		m.Archive(all)
		states[g.Rank()], shelves[g.Rank()] = s, all
		return nil
	})
	if err != nil {
		t.Fatalf("%d ranks: %v", n, err)
	}
	for r := range states {
		if err := same(states[0], states[r]); err != nil {
			t.Errorf("rank %d of %d: %v", r, n, err)
		}
		for name, x := range shelves[0].Values {
			if fmt.Sprint(x) != fmt.Sprint(shelves[r].Values[name]) {
				t.Errorf("rank %d of %d archives another %q than rank 0", r, n, name)
			}
		}
	}
	return states[0], shelves[0]
}

// Ranks that own examples end with a certified gap whose interval holds the optimum that one process certifies. The
// same number of ranks has the same bits, also after a break; after a break another number goes on from the same dual
// point.
func TestRanksOwnBlocks(t *testing.T) {
	for name, c := range blockRuns(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, _ := blockOutcome(t, c, 1, 1, c.passes, nil, nil)
			check := func(what string, s *train.State) {
				t.Helper()
				if !(s.Gap() <= c.gap*s.Primal) {
					t.Errorf("%s: relative gap %g, expected %g; one process has %g", what, s.Gap()/s.Primal, c.gap, one.Gap()/one.Primal)
				}
				if s.Dual > one.Primal || one.Dual > s.Primal {
					t.Errorf("%s certify that the optimum is in [%g, %g], one process in [%g, %g]", what, s.Dual, s.Primal, one.Dual, one.Primal)
				}
			}
			const before = 5
			three, _ := blockOutcome(t, c, 3, 1, c.passes, nil, nil)
			check("3 ranks", three)
			half, shelf := blockOutcome(t, c, 3, 2, before, nil, nil)
			kept := &traintest.Shelf{Values: maps.Clone(shelf.Values)}
			again, _ := blockOutcome(t, c, 3, 2, c.passes-before, half, kept)
			if err := same(three, again); err != nil {
				t.Errorf("3 ranks after a break: %v", err)
			}
			for _, n := range []int{1, 2} {
				other, _ := blockOutcome(t, c, n, 1, c.passes-before, half, kept)
				check(fmt.Sprintf("3 ranks, then %d", n), other)
				if other.Dual < half.Dual {
					t.Errorf("%d ranks go on from a dual of %g, and end with %g", n, half.Dual, other.Dual)
				}
			}
		})
	}
}
