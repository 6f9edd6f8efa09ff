package methods

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/ranks"
	"github.com/dsp-go/dsp/train/ranks/rankstest"
	"github.com/dsp-go/dsp/train/traintest"
)

// The dual of blocks never falls from round to round, even where ranks have the same examples and each works as if it
// were alone. Then rounds are undone, whose examples were visited some at a time, and w stays the dual point's.
func TestBlocksRaiseTheDual(t *testing.T) {
	type run struct {
		train.Method
		sigma func(a engine.Archive)
		round func(ctx context.Context, p *train.Problem) error
		state func() (dual float64, w []float32, u engine.DualPoint)
		point func(g, w []float32)
	}
	for name, begin := range map[string]func() run{
		"bcfw": func() run {
			m := &BCFW{Divide: true, Resync: 1000}
			return run{m, m.rounds.Archive, func(ctx context.Context, p *train.Problem) error {
				return m.sweepBlock(ctx, p, 1, p.Own(), 2, WeightedAverage)
			}, func() (float64, []float32, engine.DualPoint) { return m.dual, m.path.W, m.memory }, func(g, w []float32) { m.regulariser.Point(g, w) }}
		},
		"bcpfw": func() run {
			m := &BCPFW{Resync: 1000}
			return run{m, m.rounds.Archive, func(ctx context.Context, p *train.Problem) error {
				own, k := p.Own(), 0
				return m.sweepBlock(ctx, p, 1, 2*len(own), func() int { k++; return own[k%len(own)] })
			}, func() (float64, []float32, engine.DualPoint) { return m.dual, m.path.W, m.active }, func(g, w []float32) { m.regulariser.Point(g, w) }}
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := rankstest.InProcess(t.Context(), 3, func(ctx context.Context, g ranks.Group) error {
				p := traintest.AttributeProblem(t, 120, 12, 3, 0, engine.Hinge, 1e-3)
				o := *p.Objective
				var again []int
				for range 3 {
					again = append(again, p.All()...)
				}
				o.Data = o.Data.Subset(again)
				p.Engine = engine.NewEngine(&o, 1)
				if err := p.Join(g); err != nil {
					return err
				}
				m := begin()
				if err := m.Start(ctx, p, train.NewState(make([]float32, p.Scorer.Dim()))); err != nil {
					return err
				}
				last, undone := math.Inf(-1), 0
				for round := range 12 {
					if round%2 == 1 { // after a round that is safe, or follows the one before
						m.sigma(&traintest.Shelf{Restoring: true, Values: map[string]any{"rounds.sigma": 1.0}})
					}
					before := traintest.NewShelf(m.Method)
					if err := m.round(ctx, p); err != nil {
						return err
					}
					dual, w, u := m.state()
					if dual < last-8*p.Allowance(dual) {
						return fmt.Errorf("round %d: the dual fell from %g to %g", round, last, dual)
					}
					if after := traintest.NewShelf(m.Method); after.Values["rounds.sigma"] == 0.0 {
						undone++
						// Of an undone round only the mean of iterates and the order of the next visits know.
						if changed := after.Changed(before, "rounds.sigma", "mean", "mean.weight", "mean.iterates", "mean.linear", "gaps", "ages"); changed != nil {
							return fmt.Errorf("round %d was undone, but changed %q", round, changed)
						}
					}
					last = dual
					all, err := engine.AllGatherNumbers(ctx, p.Engine, []float64{dual})
					if err != nil {
						return err
					}
					for rank, x := range all {
						if x[0] != dual {
							return fmt.Errorf("round %d: the dual is %v on rank %d and %v on rank %d", round, x[0], rank, dual, g.Rank())
						}
					}
					now, err := p.Recompose(ctx, w, u)
					if err != nil {
						return err
					}
					want := make([]float32, len(w))
					m.point(now.Grad, want)
					if d := math.Sqrt(vec.Dist2(w, want) / vec.Norm2(want)); d > 1e-4 {
						return fmt.Errorf("round %d: w is %g away from the dual point's, relatively", round, d)
					}
				}
				if undone == 0 || undone == 12 {
					return fmt.Errorf("%d of 12 rounds were undone: the test needs other examples", undone)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}
