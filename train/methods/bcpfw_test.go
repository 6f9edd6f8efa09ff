package methods

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// The dual rises with every step, and it and w match the active outputs.
func TestBCPFWSteps(t *testing.T) {
	ctx := context.Background()
	for name, p := range map[string]*train.Problem{
		"dense":           traintest.LinearProblem(30, 1, 0.05, 1),
		"dense, shifted":  traintest.Shifted(traintest.LinearProblem(30, 1, 0.2, 1)),
		"sparse":          traintest.SparseProblem(30, engine.Hinge, oracles.Smoothing{}, 0.05),
		"sparse, shifted": traintest.Shifted(traintest.SparseProblem(30, engine.Hinge, oracles.Smoothing{}, 0.2)),
		"weak λ":          traintest.SparseProblem(30, engine.Hinge, oracles.Smoothing{}, 1e-3),
	} {
		for _, away := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, away %v", name, away), func(t *testing.T) {
				m := &BCPFW{Away: away}
				traintest.Start(t, m, p)
				r := rand.New(rand.NewPCG(1, 2))
				for k := range 200 {
					before := m.dual
					if err := m.visit(ctx, p, r.IntN(p.Len())); err != nil {
						t.Fatal(err)
					}
					if m.dual < before {
						t.Fatalf("visit %d: the dual fell from %g to %g", k, before, m.dual)
					}
				}
				m.path.Finish()
				for i, of := range m.active {
					total := 0.0
					for k, c := range of {
						if total += c.α; c.α <= 0 {
							t.Fatalf("example %d keeps an output with share %g", i, c.α)
						}
						if slices.ContainsFunc(of[:k], func(d activeOutput) bool { return slices.Equal(d.labels, c.labels) }) {
							t.Fatalf("example %d keeps an output twice", i)
						}
					}
					traintest.Near(t, "sum of shares", total, 1, 1e-9)
				}
				g, b, err := traintest.Pulled(p.Recompose(ctx, m.path.W, m.active))
				if err != nil {
					t.Fatal(err)
				}
				w := make([]float32, len(m.path.W))
				copy(w, p.Center)
				vec.Axpy(float32(-1/p.Lambda), g, w)
				traintest.NearAll(t, "recomposed weight", m.path.W, w, 1e-5+1e-7/p.Lambda)
				traintest.Near(t, "dual", m.dual, b+p.Constant+p.Lambda/2*(vec.Norm2(p.Center)-vec.Norm2(w)), 1e-5)

				// The block gaps add up to the duality gap.
				total := 0.0
				for i := range p.Len() {
					m.example[0], m.fresh = i, true
					if _, err := p.OverBatch(ctx, m.path.At(), m.example[:], false, m.choose); err != nil {
						t.Fatal(err)
					}
					total += m.pair.gap
				}
				primal, err := p.Value(ctx, m.path.W)
				if err != nil {
					t.Fatal(err)
				}
				traintest.Near(t, "sum of block gaps", total/float64(p.Len()), primal-m.dual, 1e-5)
			})
		}
	}
}

// All ways to visit and to step certify the same optimum, with λ₁ and without.
func TestBCPFWVariants(t *testing.T) {
	for _, λ1 := range []float64{0, 0.01} {
		p := traintest.SparseProblem(60, engine.Hinge, oracles.Smoothing{}, 0.05)
		p.L1 = λ1
		low, high := math.Inf(-1), math.Inf(1)
		for _, m := range []*BCPFW{
			{}, {Draw: true}, {Away: true}, {Draw: true, Away: true},
			{CacheLocal: 0.25, CacheGlobal: 0.01}, {CacheLocal: 0.25, CacheGlobal: 0.01, Draw: true, Away: true},
		} {
			s := traintest.Start(t, m, p)
			traintest.Passes(t, m, p, s, 60)
			traintest.Certify(t, m, p, s)
			name := fmt.Sprintf("λ₁ %g, drawn %v, away %v, cached %v", λ1, m.Draw, m.Away, m.caches())
			t.Logf("%s: [%g, %g], gap %.2g, %d oracle calls", name, s.Dual, s.Primal, s.Gap()/s.Primal, s.OracleCalls)
			if gap := s.Gap() / s.Primal; !(gap >= 0 && gap < 2e-2) {
				t.Errorf("%s: relative gap %g", name, gap)
			}
			low, high = max(low, s.Dual), min(high, s.Primal)
		}
		if low > high {
			t.Errorf("the intervals do not overlap: dual %g, objective %g", low, high)
		}
	}
}

// A cache saves oracle calls at the same gap. Where nothing passes the criterion, the oracle is asked at every visit;
// where everything does, it is asked in every tenth pass, whatever the cache says.
func TestOracleCache(t *testing.T) {
	p := traintest.SparseProblem(60, engine.Hinge, oracles.Smoothing{}, 0.05)
	run := func(m *BCPFW, passes int) *train.State {
		s := traintest.Start(t, m, p)
		traintest.Passes(t, m, p, s, passes)
		traintest.Certify(t, m, p, s)
		return s
	}
	const passes = 40
	none := run(&BCPFW{}, passes)
	for _, never := range []*BCPFW{{}, {CacheLocal: math.Inf(1)}, {CacheGlobal: math.Inf(1)}} {
		if calls, all := run(never, passes).OracleCalls, passes*p.Len(); calls != all {
			t.Errorf("local %v, global %v: %d oracle calls, want one for each of %d visits", never.CacheLocal, never.CacheGlobal, calls, all)
		}
	}
	cached := run(&BCPFW{CacheLocal: 0.25, CacheGlobal: 0.01}, 3*passes)
	if cached.OracleCalls > none.OracleCalls*3/4 || cached.Gap() > none.Gap() {
		t.Errorf("with a cache %d calls, gap %g; without %d, %g", cached.OracleCalls, cached.Gap(), none.OracleCalls, none.Gap())
	}
	for _, m := range []*BCPFW{{CacheLocal: 1e-30}, {CacheGlobal: 1e-30}} {
		s := traintest.Start(t, m, p)
		for k := range 2*everyGap + 1 {
			if k%everyGap == 0 && len(m.due(p.All())) != p.Len() {
				t.Errorf("pass %d does not visit all examples", k)
			}
			before := s.OracleCalls
			traintest.Passes(t, m, p, s, 1)
			if calls := s.OracleCalls - before; (calls == p.Len()) != (k%everyGap == 0) {
				t.Errorf("pass %d asked %d times of %d visits, expected all in every %dth and fewer in others", k, calls, p.Len(), everyGap)
			}
		}
	}
}

// What is left of the outputs of an example is all that have a share, in their order, and the last found of the others.
func TestTrim(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shares, most := rapid.SliceOfN(rapid.IntRange(0, 2), 0, 12).Draw(t, "shares"), rapid.IntRange(0, 12).Draw(t, "most")
		c, with := activeOutputs{nil}, 0
		for k, α := range shares {
			c[0] = append(c[0], activeOutput{[]int32{int32(k)}, float64(α)})
			with += min(α, 1)
		}
		var want []int32
		for k, spare := len(shares)-1, max(0, most-with); k >= 0; k-- {
			if shares[k] == 0 {
				if spare--; spare < 0 {
					continue
				}
			}
			want = append([]int32{int32(k)}, want...)
		}
		c.trim(0, most)
		var left []int32
		for _, k := range c[0] {
			left = append(left, k.labels[0])
		}
		if !slices.Equal(left, want) {
			t.Fatalf("left %v, want %v", left, want)
		}
	})
}

// The tree draws examples in proportion to their gaps, and never one without.
func TestGapTree(t *testing.T) {
	tree := newGapTree([]float32{1, 0, 5, 2, 0})
	tree.set(2, 1)
	counts := make([]int, 5)
	for k := range 4000 {
		counts[tree.find((float64(k)+0.5)/4000*tree.total())]++
	}
	for i, want := range []int{1000, 0, 1000, 2000, 0} {
		if counts[i] != want {
			t.Errorf("example %d was drawn %d times of 4000, want %d", i, counts[i], want)
		}
	}
	if i := tree.find(tree.total()); i != 3 { // by rounding
		t.Errorf("the end of all gaps is in example %d, want the last with one", i)
	}
	for i := range 5 {
		tree.set(i, 0)
	}
	if tree.total() != 0 {
		t.Error("no gaps add up to something")
	}
}

// BCPFW certifies the same optimum of a sparse problem as BCFW, with far fewer oracle calls.
func TestBCPFWCertifies(t *testing.T) {
	p := traintest.SparseProblem(100, engine.Hinge, oracles.Smoothing{}, 1./100)
	state := map[string]*train.State{}
	for _, m := range []train.Method{&BCPFW{}, &BCFW{}} {
		s := traintest.Start(t, m, p)
		dual := math.Inf(-1)
		for range 40 {
			traintest.Passes(t, m, p, s, 1)
			var raw float64
			switch m := m.(type) {
			case *BCPFW:
				raw = traintest.DualOfMemory(t, p, m.path.W, m.active)
			case *BCFW:
				raw = traintest.DualOfMemory(t, p, m.path.W, m.memory)
			}
			if raw < dual-1e-6 || s.Primal-raw < -1e-6 {
				t.Fatalf("%s: dual %g after %g, gap %g", m.Name(), raw, dual, s.Primal-raw)
			}
			dual = raw
		}
		traintest.Certify(t, m.(train.Certifier), p, s)
		traintest.Near(t, "certified dual", s.Dual, dual, 1e-5)
		f, _, err := p.Upper(context.Background(), s.W)
		if err != nil {
			t.Fatal(err)
		}
		traintest.Near(t, "F(W)", s.Primal, f, 1e-9)
		t.Logf("%s: F %.6f, relative gap %.2g", m.Name(), s.Primal, s.Gap()/s.Primal)
		state[m.Name()] = s
	}
	pairwise, plain := state["bcpfw"], state["bcfw"]
	if pairwise.Gap() > 1e-2*pairwise.Primal || pairwise.Gap() > plain.Gap()/3 {
		t.Errorf("gaps %g and %g", pairwise.Gap(), plain.Gap())
	}
	// The bounds of the two methods are consistent with a single optimum.
	if pairwise.Dual > plain.Primal || plain.Dual > pairwise.Primal {
		t.Error("the intervals do not overlap")
	}
}

func TestBCPFWRecomposesItsGap(t *testing.T) {
	p, m := traintest.LinearProblem(60, 1, 0.05, 1), &BCPFW{Resync: 1000}
	point := func() ([]float32, engine.DualPoint, float64) { return m.path.W, m.active, 0 }
	traintest.RecomposesItsGap(t, p, m, point, func() { m.best = 1e3 })
}
