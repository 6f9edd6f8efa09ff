package engine_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/ranks"
	"github.com/dsp-go/dsp/train/ranks/rankstest"
	"github.com/dsp-go/dsp/train/traintest"
)

// Sums over ranges have the same bits for any number of threads and ranks, although they depend on the order of the
// summands, and what ranks compute of their ranges comes together.
func TestRanges(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, 200_000)
	for j := range x {
		x[j] = math.Ldexp(r.NormFloat64(), r.IntN(60))
	}
	sums := func(ctx context.Context, g ranks.Group, threads int) ([]float64, error) {
		e := engine.NewEngine(traintest.NoisyProblem(600, engine.CRF, oracles.Smoothing{}, 1).Objective, threads)
		if err := e.Join(g); err != nil {
			return nil, err
		}
		y := make([]float64, len(x))
		total, err := e.OverRanges(ctx, len(x), 2, true, func(lo, hi int, sums []float64) {
			for j := lo; j < hi; j++ {
				y[j] = 2 * x[j]
				sums[0] += x[j]
				sums[1] += y[j] * x[j]
			}
		})
		if err != nil {
			return nil, err
		}
		if err := engine.AllGatherRanges(ctx, e, y); err != nil {
			return nil, err
		}
		for j := range y {
			if y[j] != 2*x[j] {
				return nil, fmt.Errorf("number %d is %g, expected %g", j, y[j], 2*x[j])
			}
		}
		return total, nil
	}
	want, err := sums(t.Context(), ranks.Alone{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 2, 3} {
		err := rankstest.InProcess(t.Context(), n, func(ctx context.Context, g ranks.Group) error {
			got, err := sums(ctx, g, 1+g.Rank())
			if err == nil && (got[0] != want[0] || got[1] != want[1]) {
				err = fmt.Errorf("%v, expected %v", got, want)
			}
			return err
		})
		if err != nil {
			t.Errorf("%d ranks: %v", n, err)
		}
	}
}

// Every rank has the answers to all examples after a full pass, as one process has them: of sparse inputs, whose shards
// are shared in runs, and of dense ones, whose lanes are.
func TestMemoryOfRanks(t *testing.T) {
	for name, problem := range map[string]func() *train.Problem{
		"sparse": func() *train.Problem { return traintest.SparseProblem(300, engine.CRF, oracles.Smoothing{}, 1) },
		"dense":  func() *train.Problem { return traintest.NoisyProblem(300, engine.CRF, oracles.Smoothing{}, 1) },
	} {
		answers := func(ctx context.Context, g ranks.Group) (*engine.Memory, error) {
			p := problem()
			e := engine.NewEngine(p.Objective, 2)
			if err := e.Join(g); err != nil {
				return nil, err
			}
			w := traintest.DrawWeights(rand.New(rand.NewPCG(3, 4)), p.Scorer.Dim(), 0.3)
			m := engine.NewMemory(p.Objective)
			_, err := e.FullPass(ctx, w, oracles.Smoothing{}, m)
			return m, err
		}
		want, err := answers(t.Context(), ranks.Alone{})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{2, 3, 4} {
			err := rankstest.InProcess(t.Context(), n, func(ctx context.Context, g ranks.Group) error {
				got, err := answers(ctx, g)
				for k := range want.Parts {
					if err == nil && !slices.Equal(got.Parts[k].Values, want.Parts[k].Values) {
						err = fmt.Errorf("rank %d has other answers in part %d", g.Rank(), k)
					}
				}
				return err
			})
			if err != nil {
				t.Errorf("%s, %d ranks: %v", name, n, err)
			}
		}
	}
}
