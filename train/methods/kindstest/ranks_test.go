package kindstest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
	"github.com/dsp-go/dsp/train/methods/quasinewton"
	"github.com/dsp-go/dsp/train/ranks"
	"github.com/dsp-go/dsp/train/ranks/rankstest"
	"github.com/dsp-go/dsp/train/traintest"
)

// joined is a run for ranks: any number of them ends with the bits of one process.
type joined struct {
	problem func() *train.Problem
	method  func() train.Method
	passes  int
}

func joinedRuns(t *testing.T) map[string]joined {
	entropy := oracles.Smoothing{Kind: oracles.Entropy}
	batch := func(p *train.Problem, n int) *train.Problem { p.Batch = n; return p }
	l1 := func(p *train.Problem) *train.Problem { p.L1 = 1e-3; return p }
	attributes := func(edges int, loss engine.Loss) func() *train.Problem { // more shards than lanes
		return func() *train.Problem { return traintest.AttributeProblem(t, 1500, 12, 5, edges, loss, 0.01) }
	}
	embedding := func() *train.Problem { return traintest.EmbeddingProblem(700, engine.CRF, 1e-3) }
	net := func() *train.Problem { return traintest.NetProblem(300, 40, 1) }
	return map[string]joined{
		"lbfgs, attributes":          {attributes(0, engine.CRF), func() train.Method { return &quasinewton.LBFGS{} }, 6},
		"lbfgs, attributes of edges": {attributes(6, engine.CRF), func() train.Method { return &quasinewton.LBFGS{} }, 3},
		"lbfgs, hinge":               {func() *train.Problem { p := attributes(0, engine.Hinge)(); p.Smoothing = entropy; return p }, func() train.Method { return &quasinewton.LBFGS{} }, 4},
		"lbfgs, joint":               {func() *train.Problem { return traintest.JointProblem(t, 500, 0, 4, engine.CRF, 0.01) }, func() train.Method { return &quasinewton.LBFGS{} }, 4},
		"lbfgs, dense": {func() *train.Problem {
			return traintest.Shifted(traintest.NoisyProblem(2000, engine.CRF, oracles.Smoothing{}, 0.01))
		}, func() train.Method { return &quasinewton.LBFGS{} }, 4},
		"owlqn, attributes":         {func() *train.Problem { return l1(attributes(0, engine.CRF)()) }, func() train.Method { return &quasinewton.OWLQN{} }, 5},
		"svrg, attributes":          {func() *train.Problem { return batch(attributes(0, engine.CRF)(), 30) }, func() train.Method { return &methods.SVRG{} }, 2},
		"saga, attributes":          {func() *train.Problem { return batch(attributes(0, engine.CRF)(), 30) }, func() train.Method { return &methods.SAGA{} }, 2},
		"saga, dense":               {func() *train.Problem { return batch(traintest.NoisyProblem(300, engine.Hinge, entropy, 0.01), 30) }, func() train.Method { return &methods.SAGA{} }, 2},
		"casimir, dense":            {func() *train.Problem { return batch(traintest.NoisyProblem(300, engine.Hinge, entropy, 0.01), 30) }, func() train.Method { return &methods.Casimir{} }, 2},
		"fw, attributes":            {attributes(0, engine.Hinge), func() train.Method { return &methods.FrankWolfe{} }, 4},
		"cutting-plane, dense":      {func() *train.Problem { return traintest.NoisyProblem(600, engine.Hinge, oracles.Smoothing{}, 0.01) }, func() train.Method { return &methods.CuttingPlane{} }, 4},
		"n-slack, dense":            {func() *train.Problem { return traintest.NoisyProblem(600, engine.Hinge, oracles.Smoothing{}, 0.01) }, func() train.Method { return &methods.NSlack{} }, 4},
		"n-slack, attributes":       {attributes(6, engine.Hinge), func() train.Method { return &methods.NSlack{} }, 3},
		"casimir-adapt, attributes": {func() *train.Problem { p := batch(attributes(6, engine.Hinge)(), 30); p.Smoothing = entropy; return p }, func() train.Method { return &methods.Casimir{Adaptive: true} }, 2},
		"sgd, attributes":           {func() *train.Problem { return batch(attributes(0, engine.CRF)(), 50) }, func() train.Method { return &methods.SGD{} }, 2},
		"sgd, embeddings":           {func() *train.Problem { return batch(embedding(), 50) }, func() train.Method { return &methods.SGD{Rate: 0.1} }, 2},
		"sgd, an outlier":           {outlier, func() train.Method { return &methods.SGD{} }, 1},
		"adam, embeddings":          {func() *train.Problem { return batch(embedding(), 50) }, func() train.Method { return &methods.Adam{} }, 2},
		"adam, net":                 {net, func() train.Method { return &methods.Adam{} }, 2},
		"adam, small batches":       {func() *train.Problem { return traintest.NetProblem(300, 10, 1) }, func() train.Method { return &methods.Adam{} }, 2}, // the first of three ranks has no shard
		"prox-linear, batches":      {embedding, func() train.Method { return &methods.BatchProxLinear{ModelBatch: 60} }, 2},
		"prox-linear, inner steps":  {embedding, func() train.Method { return &methods.BatchProxLinear{ModelBatch: 20, InnerSteps: 3} }, 1},
		"prox-linear, net":          {net, func() train.Method { return &methods.ProxLinear{} }, 3},
		"prox-linear, attributes, partial labels": {func() *train.Problem {
			p := batch(traintest.AttributeProblem(t, 500, 12, 5, 0, engine.CRF, 0.01), 40)
			hideSome(p.Data)
			return p
		}, func() train.Method { return &methods.ProxLinear{} }, 2},
		"prox-linear, partial labels": {func() *train.Problem {
			p := traintest.NetProblem(300, 40, 1)
			hideSome(p.Data)
			p.Loss = engine.CRF
			return p
		}, func() train.Method { return &methods.ProxLinear{} }, 2},
	}
}

// outlier has one example whose potentials overflow in most trials of a step, so that one rank alone meets numbers that
// are not finite.
func outlier() *train.Problem {
	p := traintest.NoisyProblem(600, engine.Hinge, oracles.Smoothing{}, 0.01)
	p.Batch = 40
	d := p.Data
	for k := d.Offsets[7] * d.Dim; k < d.Offsets[8]*d.Dim; k++ {
		d.Features[k] *= 1e22
	}
	return p
}

// hideSome makes half of the labels unknown.
func hideSome(d *structured.Dataset) { traintest.Hide(d, 0.5, 3) }

// outcome runs a method and returns all that a record shows, and the weights.
func outcome(ctx context.Context, c joined, threads int, g ranks.Group) (*train.State, error) {
	p := c.problem()
	p.Engine = engine.NewEngine(p.Objective, threads)
	if err := p.Join(g); err != nil {
		return nil, err
	}
	w := make([]float32, p.Scorer.Dim())
	if !p.Scorer.Affine() {
		w = traintest.DrawWeights(rand.New(rand.NewPCG(1, 2)), p.Scorer.Dim(), 0.3)
	}
	m, s := c.method(), train.NewState(w)
	if err := m.Start(ctx, p, s); err != nil {
		return nil, err
	}
	for range c.passes {
		if err := train.Pass(ctx, m, p, s); err != nil {
			return nil, err
		}
	}
	var err error
	if math.IsNaN(s.Primal) {
		s.Primal, err = p.Value(ctx, s.W)
	}
	return s, err
}

// same reports the first difference of two outcomes.
func same(a, b *train.State) error {
	for j := range a.W {
		if math.Float32bits(a.W[j]) != math.Float32bits(b.W[j]) {
			return fmt.Errorf("weight %d of %d: %v, expected %v", j, len(a.W), b.W[j], a.W[j])
		}
	}
	of := func(s *train.State) []float64 {
		return []float64{s.Primal, s.Dual, s.Rounding, s.Smoothed, s.Step, s.Exact, float64(s.OracleCalls)}
	}
	bits := func(x float64) uint64 { return math.Float64bits(x) }
	if x, y := of(a), of(b); !slices.EqualFunc(x, y, func(x, y float64) bool { return bits(x) == bits(y) }) {
		return fmt.Errorf("%v, expected %v", y, x)
	}
	return nil
}

// Any number of ranks, each with any number of threads, ends with the bits of one process.
func TestRanksHaveTheBitsOfOne(t *testing.T) {
	for name, c := range joinedRuns(t) {
		t.Run(name, func(t *testing.T) {
			want, err := outcome(t.Context(), c, 1, ranks.Alone{})
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range []int{2, 3} {
				err := rankstest.InProcess(t.Context(), n, func(ctx context.Context, g ranks.Group) error {
					got, err := outcome(ctx, c, 1+(g.Rank()+n)%3, g)
					if err != nil {
						return err
					}
					if g.Traffic().Messages == 0 {
						return errors.New("no messages: each rank did all of the work")
					}
					return same(want, got)
				})
				if err != nil {
					t.Errorf("%d ranks: %v", n, err)
				}
			}
		})
	}
}

// The bits of full passes do not depend on the number of ranks where they depend on the order of the summands. Some
// examples have weights so large that others are lost in rounding when they are added, and come again with the other
// label, so that they cancel.
func TestOrderOfSums(t *testing.T) {
	const n = 700
	for name, problem := range map[string]func() *train.Problem{
		"attributes": func() *train.Problem { return traintest.AttributeProblem(t, n, 12, 2, 3, engine.CRF, 0.01) },
		"dense": func() *train.Problem {
			o := &engine.Objective{Scorer: &traintest.Net{Inputs: 5, Labels: 2}, Data: traintest.NoisyChains(1, n, 5, 2), Loss: engine.CRF, Lambda: 0.01}
			return &train.Problem{Engine: engine.NewEngine(o, 1)}
		},
		"linear": func() *train.Problem {
			net, err := nets.Make(nets.Config{Net: "linear", Edges: nets.EdgesTransition}, graph.Input{Dim: 5}, nets.ChainOutput(2, nets.EdgesTransition))
			if err != nil {
				panic(err)
			}
			o := &engine.Objective{Scorer: net, Data: traintest.NoisyChains(1, n, 5, 2), Loss: engine.CRF, Lambda: 0.01}
			return &train.Problem{Engine: engine.NewEngine(o, 1)}
		},
		"joint": func() *train.Problem { return traintest.JointProblem(t, n, 0, 4, engine.CRF, 0.01) },
	} {
		t.Run(name, func(t *testing.T) {
			pass := func(ctx context.Context, g ranks.Group) ([]uint64, error) {
				p := problem()
				o, twice := *p.Objective, make([]int, 2*n)
				for i := range twice {
					twice[i] = i % n
				}
				o.Data = o.Data.Subset(twice)
				o.Data.Weights = make([]float64, 2*n)
				for i := range twice {
					if o.Data.Weights[i] = 1 + float64(i%5)/3; i%n/100 == 1 {
						o.Data.Weights[i] = 0x1p60
					}
					for k := range o.Data.Gold(i) {
						if i >= n {
							o.Data.Gold(i)[k] = 1 - min(o.Data.Gold(i)[k], 1)
						}
					}
				}
				p.Engine = engine.NewEngine(&o, 1+g.Rank()%2)
				w := make([]float32, p.Scorer.Dim())
				if err := p.Join(g); err != nil {
					return nil, err
				}
				full, err := p.FullPass(ctx, w, oracles.Smoothing{Kind: oracles.Entropy, Mu: 1}, nil)
				if err != nil {
					return nil, err
				}
				memory, err := p.NewMemory()
				if err != nil {
					return nil, err
				}
				u, err := p.Recompose(ctx, w, memory)
				if err != nil {
					return nil, err
				}
				upper, rounded, err := p.Upper(ctx, w)
				var bits []uint64
				for _, x := range []float64{full.Primal, full.Upper, full.Smoothed, full.Exact, full.Linear, full.Central, full.Rounded, u.Linear, u.Central, u.Rounded, upper, rounded} {
					bits = append(bits, math.Float64bits(x))
				}
				for j := range full.Grad {
					bits = append(bits, uint64(math.Float32bits(full.Grad[j])), uint64(math.Float32bits(u.Grad[j])))
				}
				return bits, err
			}
			want, err := pass(t.Context(), ranks.Alone{})
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range []int{2, 5} {
				err := rankstest.InProcess(t.Context(), n, func(ctx context.Context, g ranks.Group) error {
					got, err := pass(ctx, g)
					for k := range got {
						if got[k] != want[k] && err == nil {
							err = fmt.Errorf("rank %d: number %d is %x, expected %x", g.Rank(), k, got[k], want[k])
						}
					}
					return err
				})
				if err != nil {
					t.Errorf("%d ranks: %v", n, err)
				}
			}
		})
	}
}

// More ranks than strands of sums are refused.
func TestTooManyRanks(t *testing.T) {
	p := traintest.NetProblem(300, 1, 1)
	most := p.MostRanks()
	err := rankstest.InProcess(t.Context(), most+1, func(_ context.Context, g ranks.Group) error {
		return engine.NewEngine(p.Objective, 1).Join(g)
	})
	if !structured.IsBadInput(err) || most < 2 {
		t.Errorf("%d ranks where at most %d have work: %v", most+1, most, err)
	}
}

// All ranks on devices see the same bits of an objective, and potentials that are not finite even where those of
// another rank's examples are: then all go on alike.
func TestValuesOnDevices(t *testing.T) {
	const n = 300
	for _, bad := range []int{-1, 0, n - 1} {
		p := traintest.NetProblem(n, 1, 1)
		w := traintest.DrawWeights(p.Rand(1), p.Scorer.Dim(), 0.1)
		data := *p.Data
		if bad >= 0 {
			data.Features = slices.Clone(data.Features)
			data.Features[data.Offsets[bad]*data.Dim] = float32(math.NaN())
		}
		values := make([]float64, 2)
		err := rankstest.InProcess(t.Context(), len(values), func(ctx context.Context, g ranks.Group) error {
			o := *p.Objective
			o.Data = &data
			e := traintest.Accelerated(&train.Problem{Engine: engine.NewEngine(&o, 1)}).Engine
			err := e.Join(g)
			if err != nil {
				return err
			}
			values[g.Rank()], err = e.Value(ctx, w)
			if not := (*engine.NonFiniteError)(nil); errors.As(err, &not) == (bad >= 0) {
				return g.Barrier(ctx) // no rank is a call behind
			}
			return fmt.Errorf("rank %d: %w", g.Rank(), err)
		})
		if err != nil {
			t.Errorf("example %d is not finite: %v", bad, err)
		}
		if bad >= 0 {
			continue
		}
		want, err := p.Value(t.Context(), w)
		if err != nil || values[0] != values[1] || math.Abs(values[0]-want) > 1e-6*want {
			t.Errorf("values %v, want %g: %v", values, want, err)
		}
	}
}
