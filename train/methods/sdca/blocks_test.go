package sdca

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/ranks"
	"github.com/dsp-go/dsp/train/ranks/rankstest"
	"github.com/dsp-go/dsp/train/traintest"
)

// The dual never falls from round to round, even where ranks have the same examples, so that all pull in the same
// direction, and each works as if it were alone. Then rounds are undone, and w stays the dual point's.
func TestRoundsRaiseTheDual(t *testing.T) {
	for _, l1 := range []float64{0, 0.01} {
		t.Run(fmt.Sprintf("λ₁ = %g", l1), func(t *testing.T) {
			err := rankstest.InProcess(t.Context(), 3, func(ctx context.Context, g ranks.Group) error {
				p := traintest.AttributeProblem(t, 120, 12, 3, 0, engine.CRF, 1e-3)
				o := *p.Objective
				o.L1 = l1
				var again []int
				for range 3 {
					again = append(again, p.All()...)
				}
				o.Data = o.Data.Subset(again)
				p.Engine = engine.NewEngine(&o, 1)
				if err := p.Join(g); err != nil {
					return err
				}
				m, s := &SDCA{Resync: 1000}, train.NewState(make([]float32, p.Scorer.Dim()))
				if err := m.Start(ctx, p, s); err != nil {
					return err
				}
				own, λ := p.Own(), m.regulariser.Lambda
				value := func() float64 { return m.linear + m.entropy - λ/2*vec.Norm2(p.Soften(m.w, m.τ)) }
				last, undone := value(), 0
				for round := range 12 {
					before := traintest.NewShelf(m)
					m.rounds.Archive(&traintest.Shelf{Restoring: true, Values: map[string]any{"rounds.sigma": 1.0}})
					err := m.rounds.Round(ctx, p.Engine, λ, m.τ, m, func(σ float64, visit func([]int)) error {
						m.λ = λ / σ
						team := newDualTeam(m, p)
						defer team.close()
						for _, now := range [][]int{own[:len(own)/2], own} {
							visit(now)
							if err := team.sweep(ctx, now, 4); err != nil {
								return err
							}
						}
						return nil
					})
					if err != nil {
						return err
					}
					dual := value()
					if dual < last-8*p.Allowance(m.linear, m.entropy) {
						return fmt.Errorf("round %d: the dual fell from %g to %g", round, last, dual)
					}
					if after := traintest.NewShelf(m); after.Values["rounds.sigma"] == 0.0 {
						undone++
						// Of an undone round only the order of the next visits knows.
						if changed := after.Changed(before, "rounds.sigma", "gaps", "ages"); changed != nil {
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
					u, err := p.Recompose(ctx, p.Soften(m.w, m.τ), &m.memory.u)
					if err != nil {
						return err
					}
					w := make([]float32, len(m.w))
					m.regulariser.Point(u.Grad, w)
					if d := math.Sqrt(vec.Dist2(w, m.w) / vec.Norm2(w)); d > 1e-4 {
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

// A rank that owns fewer examples than a pass has rounds visits none in some, the first one among them, and takes part
// all the same: all ranks have the same weights after each pass.
func TestRoundsWithoutVisits(t *testing.T) {
	var weights [3][]float32
	err := rankstest.InProcess(t.Context(), len(weights), func(ctx context.Context, g ranks.Group) error {
		p := traintest.AttributeProblem(t, 12, 400, 3, 0, engine.CRF, 1e-2)
		p.Engine = engine.NewEngine(p.Objective, 1)
		if err := p.Join(g); err != nil {
			return err
		}
		m, s := &SDCA{Resync: 1000}, train.NewState(make([]float32, p.Scorer.Dim()))
		if err := m.Start(ctx, p, s); err != nil {
			return err
		}
		for range 2 {
			if err := train.Pass(ctx, m, p, s); err != nil {
				return err
			}
		}
		weights[g.Rank()] = slices.Clone(m.w)
		if g.Rank() == len(weights)-1 && len(p.Own()) >= m.rounds.PerPass(p.Engine) {
			return fmt.Errorf("the last rank has %d examples, enough for each round", len(p.Own()))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for rank, w := range weights {
		if !slices.Equal(w, weights[0]) {
			t.Errorf("rank %d has other weights than rank 0", rank)
		}
	}
}

// Where one rank meets potentials that are not finite, all ranks say where.
func TestRoundsFailAlike(t *testing.T) {
	err := rankstest.InProcess(t.Context(), 3, func(ctx context.Context, g ranks.Group) error {
		p := traintest.AttributeProblem(t, 240, 12, 3, 0, engine.CRF, 1e-3)
		if err := p.Join(g); err != nil {
			return err
		}
		m := &SDCA{}
		if err := m.Start(ctx, p, train.NewState(make([]float32, p.Scorer.Dim()))); err != nil {
			return err
		}
		err := m.rounds.Round(ctx, p.Engine, m.regulariser.Lambda, m.τ, m, func(float64, func([]int)) error {
			if g.Rank() == 1 {
				return &engine.NonFiniteError{Where: "here"}
			}
			return nil
		})
		if bad := new(engine.NonFiniteError); !errors.As(err, &bad) || bad.Where != "here" {
			return fmt.Errorf("rank %d: %v", g.Rank(), err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
