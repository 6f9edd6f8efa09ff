package kindstest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
	"github.com/dsp-go/dsp/train/ranks"
	"github.com/dsp-go/dsp/train/ranks/rankstest"
	"github.com/dsp-go/dsp/train/traintest"
)

// localRuns are runs in which ranks step on their own examples, and average after some steps. Batches are so many times
// as large.
func localRuns(t *testing.T, times int) map[string]joined {
	batch := func(p *train.Problem, n int) *train.Problem { p.Batch = times * n; return p }
	attributes := func() *train.Problem {
		return batch(traintest.AttributeProblem(t, 600, 12, 3, 0, engine.CRF, 0.05), 10)
	}
	embedding := func() *train.Problem { return batch(traintest.EmbeddingProblem(400, engine.CRF, 1e-3), 20) }
	tokens := func() *train.Problem { p := embedding(); p.Tokens = times * 60; return p }
	return map[string]joined{
		"sgd, attributes": {attributes, func() train.Method { return &methods.SGD{Local: 7, Rate: 0.1} }, 4},
		"sgd, momentum":   {embedding, func() train.Method { return &methods.SGD{Local: 2, Rate: 0.05, Momentum: 0.9} }, 4},
		"adam":            {embedding, func() train.Method { return &methods.Adam{Local: 5, Rate: 0.01} }, 4},
		"adam, tokens":    {tokens, func() train.Method { return &methods.Adam{Local: 100, Rate: 0.01} }, 4},
		"prox-linear":     {embedding, func() train.Method { return &methods.BatchProxLinear{Local: 3, ModelBatch: times * 20, Passes: 4} }, 4},
	}
}

// localOutcome runs passes of n ranks, from a shelf unless that is nil. It returns the state and what the method
// archives, which are the same on all ranks.
func localOutcome(t *testing.T, c joined, n, passes int, from *train.State, shelf map[string]any) (*train.State, map[string]any) {
	t.Helper()
	states, shelves := make([]*train.State, n), make([]map[string]any, n)
	err := rankstest.InProcess(t.Context(), n, func(ctx context.Context, g ranks.Group) error {
		p := c.problem()
		s, m := train.NewState(traintest.Initial(p)), c.method()
		p.Engine = engine.NewEngine(p.Objective, 1+(g.Rank()+n)%2)
		if err := p.Join(g); err != nil {
			return err
		}
		if shelf != nil {
			*s = *from
			s.W = slices.Clone(from.W)
			m.Archive(&traintest.Shelf{Restoring: true, Values: maps.Clone(shelf)})
		}
		if err := m.Start(ctx, p, s); err != nil {
			return err
		}
		for range passes {
			if err := train.Pass(ctx, m, p, s); err != nil {
				return err
			}
		}
		all := &traintest.Shelf{Values: map[string]any{}}
		m.Archive(all)
		states[g.Rank()], shelves[g.Rank()] = s, all.Values
		return nil
	})
	if err != nil {
		t.Fatalf("%d ranks: %v", n, err)
	}
	for r := range states {
		if err := same(states[0], states[r]); err != nil {
			t.Errorf("rank %d of %d: %v", r, n, err)
		}
		for name, x := range shelves[0] {
			if fmt.Sprint(x) != fmt.Sprint(shelves[r][name]) {
				t.Errorf("rank %d of %d archives another %q than rank 0", r, n, name)
			}
		}
	}
	return states[0], shelves[0]
}

// Ranks that step on their own have the same weights and memories at the end of a pass, come down as one process does
// whose batches are as large as theirs together, and have the same bits after a break. Another number of ranks goes on.
func TestLocalSteps(t *testing.T) {
	together := localRuns(t, 3)
	for name, c := range localRuns(t, 1) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := c.problem()
			begin, err := p.Value(t.Context(), traintest.Initial(p))
			if err != nil {
				t.Fatal(err)
			}
			one, _ := localOutcome(t, together[name], 1, c.passes, nil, nil)
			whole, _ := localOutcome(t, c, 3, c.passes, nil, nil)
			if fall := begin - whole.Primal; !(fall > 0.5*(begin-one.Primal)) {
				t.Errorf("3 ranks come from %v to %v, one process to %v", begin, whole.Primal, one.Primal)

			}
			half, shelf := localOutcome(t, c, 3, 2, nil, nil)
			again, _ := localOutcome(t, c, 3, c.passes-2, half, shelf)
			if err := same(whole, again); err != nil {
				t.Errorf("after a break: %v", err)
			}
			if two, _ := localOutcome(t, c, 2, c.passes-2, half, shelf); !(two.Primal < begin) {
				t.Errorf("3 ranks, then 2, come from %v to %v", begin, two.Primal)
			}
		})
	}
}

// A pass of sgd in which ranks step on their own is what its definition says: each rank's steps on its batches, and the
// mean of the weights after each few.
func TestLocalStepsByDefinition(t *testing.T) {
	const n, h, size, γ, λ = 3, 4, 10, 0.1, 0.01
	problem := func() *train.Problem {
		p := traintest.NoisyProblem(500, engine.CRF, oracles.Smoothing{}, λ)
		p.Batch = size
		return p
	}
	got := make([][]float32, n)
	batches := make([][][]int, n)
	err := rankstest.InProcess(t.Context(), n, func(ctx context.Context, g ranks.Group) error {
		p := problem()
		if err := p.Join(g); err != nil {
			return err
		}
		least, most := p.Len(), 0
		for r := range n {
			least, most = min(least, len(p.OwnOf(r))), max(most, len(p.OwnOf(r)))
		}
		steps, own := min(least, (most+size-1)/size), p.Own()
		order := p.Rand(0).Perm(len(own))
		for k := range steps {
			var batch []int
			for _, i := range order[len(order)*k/steps : len(order)*(k+1)/steps] {
				batch = append(batch, own[i])
			}
			batches[g.Rank()] = append(batches[g.Rank()], batch)
		}
		s := train.NewState(make([]float32, p.Scorer.Dim()))
		m := &methods.SGD{Rate: γ, Schedule: methods.ConstantSchedule, Averaging: methods.NoAverage, Local: h}
		if err := m.Start(ctx, p, s); err != nil {
			return err
		}
		err := train.Pass(ctx, m, p, s)
		got[g.Rank()] = s.W
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	p := problem()
	w := make([]float32, p.Scorer.Dim())
	if len(batches[0])%h == 0 {
		t.Fatalf("%d steps: the last average should come after fewer than %d", len(batches[0]), h)
	}
	for lo := 0; lo < len(batches[0]); lo += h {
		sum := make([]float32, len(w))
		for r := range n {
			var path engine.AffinePath
			path.Start(p.Engine, w, nil)
			for _, batch := range batches[r][lo:min(lo+h, len(batches[r]))] {
				st, err := p.Step(t.Context(), path.W, batch, oracles.Smoothing{}, nil)
				if err != nil {
					t.Fatal(err)
				}
				path.Step(1-γ*λ, 0, -γ/float64(len(batch)), 0, st.Grad)
			}
			for j, x := range path.W {
				sum[j] += x
			}
		}
		for j := range w {
			w[j] = sum[j] * float32(1./n)
		}
	}
	for r := range n {
		for j := range w {
			if got[r][j] != w[j] {
				t.Fatalf("rank %d, weight %d of %d: %v, expected %v", r, j, len(w), got[r][j], w[j])
			}
		}
	}
}
