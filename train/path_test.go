package train

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/oracles"
)

// A path on sparse inputs, whose untouched rows cost nothing, goes where the recursion that it stands for goes, coordinate
// by coordinate in float64, whatever the shrinkage, drift and weights.
func TestPath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		p := sparseProblem(20, Hinge, oracles.Smoothing{}, 0.1)
		if rapid.Bool().Draw(t, "dense") {
			p = densely(p)
		}
		shrink := rapid.SampledFrom([]float64{1, 0.999, 0.7, 0.05}).Draw(t, "ρ")
		drifts, moves := rapid.Bool().Draw(t, "drifts"), rapid.Bool().Draw(t, "moves")
		kind := rapid.SampledFrom([]Averaging{NoAverage, UniformAverage, WeightedAverage}).Draw(t, "average")

		start := drawWeights(r, p.Scorer.Dim(), 1)
		w, b, sum := doubles(start), make([]float64, len(start)), make([]float64, len(start))
		var drift []float32
		if drifts {
			drift = drawWeights(r, len(start), 0.01)
			b = doubles(drift)
		}
		var x path
		x.start(p, start, drift)
		total := 0.0
		for k := range rapid.IntRange(1, 40).Draw(t, "steps") {
			st, err := p.stepAt(t.Context(), x.at(), []int{r.IntN(p.Len())}, oracles.Smoothing{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			d := make([]float32, len(w))
			st.Grad.AddTo(1, d)
			ρ, q, c, β := shrink, 0.0, 0.1*r.NormFloat64(), 0.0
			if r.IntN(10) == 0 {
				ρ = 0
			}
			if drifts {
				q = r.NormFloat64()
			}
			if drifts && moves {
				β = 0.01 * r.NormFloat64()
			}
			x.step(ρ, q, c, β, st.Grad)
			for j := range w {
				w[j] = ρ*w[j] + q*b[j] + c*float64(d[j])
				b[j] += β * float64(d[j])
			}
			if kind != NoAverage {
				a := kind.weight(k)
				total += a
				if share := x.add(a); share != a/total {
					t.Fatalf("share %g, want %g", share, a/total)
				}
				for j := range w {
					sum[j] += a * w[j]
				}
			}
			if r.IntN(5) == 0 {
				x.settle()
			}
		}
		x.settle()
		check := func(what string, got []float32, want []float64, total float64) {
			for j := range want {
				if e := float64(got[j]) - want[j]/total; e > 2e-4 || e < -2e-4 {
					t.Fatalf("%s[%d] is %g, want %g", what, j, got[j], want[j]/total)
				}
			}
		}
		check("w", x.w, w, 1)
		if kind != NoAverage {
			check("mean", x.mean, sum, total)
		}
		if drifts {
			check("b", x.b, b, 1)
		}
	})
}

func doubles(x []float32) []float64 {
	d := make([]float64, len(x))
	for j, v := range x {
		d[j] = float64(v)
	}
	return d
}

// sparseMethods makes one of each that works on the hinge of sparse inputs.
var sparseMethods = []func() Method{
	func() Method { return &SGD{Rate: 0.1} },
	func() Method { return &SGD{Rate: 0.2, Schedule: InverseSchedule} },
	func() Method { return &SGD{Schedule: PegasosSchedule, Averaging: UniformAverage} },
	func() Method { return &SGD{Rate: 0.1, Averaging: PassAverage} },
	func() Method { return &SGD{Rate: 0.1, Averaging: NoAverage} },
	func() Method { return &BCFW{} },
	func() Method { return &BCFW{Averaging: NoAverage, Resync: 2} },
	func() Method { return &SVRG{Pace: Pace{Lipschitz: 20}} },
	func() Method { return &Casimir{Pace: Pace{Lipschitz: 20}} },
	func() Method { return &Casimir{Adaptive: true, Pace: Pace{Lipschitz: 20}} },
	func() Method { return &SAGA{Pace: Pace{Lipschitz: 20}} },
}

// On sparse inputs every method does what it does on the same inputs written densely.
func TestSparseMethods(t *testing.T) {
	for k, method := range sparseMethods {
		for _, batch := range []int{1, 3, 20} {
			m, n := method(), method()
			t.Run(fmt.Sprintf("%d %s %d", k, m.Name(), batch), func(t *testing.T) {
				p := shifted(sparseProblem(60, Hinge, entropy, 0.1))
				if m.Name() == "sgd" || m.Name() == "bcfw" {
					p.Smoothing = oracles.Smoothing{}
				}
				p.Batch = batch
				q := densely(p)
				got, want := start(t, m, p), start(t, n, q)
				for range 3 {
					passes(t, m, p, got, 1)
					passes(t, n, q, want, 1)
					near(t, "F", got.Primal, want.Primal, 2e-5)
					if want.Dual == want.Dual {
						near(t, "dual", got.Dual, want.Dual, 1e-4)
					}
					nearAll(t, "weight", got.W, want.W, 3e-4)
				}
			})
		}
	}
}

// Any number of threads, and a run that resumes, give the same bits on sparse inputs too.
func TestSparseMethodsThreads(t *testing.T) {
	for k, method := range append(sparseMethods, func() Method { return &BCPFW{} }, func() Method { return &SGD{} }) {
		var want []float32
		for _, threads := range []int{1, 2, 7} {
			p := sparseProblem(80, Hinge, entropy, 0.1)
			p.Engine = NewEngine(p.Objective, threads)
			p.Batch = 20
			m := method()
			s := start(t, m, p)
			passes(t, m, p, s, 3)
			if want == nil {
				want = s.W
			} else if !slices.Equal(s.W, want) {
				t.Errorf("%d %s: other weights with %d threads", k, m.Name(), threads)
			}
		}
	}
}

// All methods certify the same optimum of a sparse problem, with steps of their own choice.
func TestSparseCertificates(t *testing.T) {
	p := sparseProblem(100, Hinge, entropy, 1./100)
	lo, hi := 0.0, 1e9
	for _, m := range append(convexMethods(), &BCFW{}) {
		if m.Name() == "bcfw" {
			p.Smoothing = oracles.Smoothing{}
		}
		s := start(t, m, p)
		passes(t, m, p, s, 80)
		t.Logf("%s: F %.6f, relative gap %.2g", m.Name(), s.Primal, s.Gap()/s.Primal)
		if gap := s.Gap() / s.Primal; !(gap >= -1e-6 && gap < 0.05) {
			t.Errorf("%s: relative gap %g", m.Name(), gap)
		}
		lo, hi = max(lo, s.Dual), min(hi, s.Primal)
	}
	if lo > hi+1e-6*hi {
		t.Errorf("the intervals do not overlap: dual %.9g, primal %.9g", lo, hi)
	}
}

// With attributes most of which are rare, SGD's own step is worth about as much as the best of a grid.
func TestSparseSGDRate(t *testing.T) {
	p := sparseProblem(150, Hinge, oracles.Smoothing{}, 1./150)
	p.Data = sparseChains(5, 150, 2000, 4, false)
	net, err := sparse.NewChain(2000, 0, 4, nets.EdgesTransition)
	if err != nil {
		t.Fatal(err)
	}
	p.Engine = NewEngine(&Objective{Scorer: net, Data: p.Data, Lambda: 1. / 150}, 1)
	value := func(rate float64) float64 {
		m := &SGD{Rate: rate}
		s := start(t, m, p)
		passes(t, m, p, s, 6)
		return s.Primal
	}
	best := value(1e-3)
	for _, rate := range []float64{4e-3, 0.016, 0.06, 0.25} {
		best = min(best, value(rate))
	}
	got := value(0)
	t.Logf("F %g by its own step, %g by the best of the grid", got, best)
	if got > 1.25*best {
		t.Errorf("F is %g by its own step, %g by the best of the grid", got, best)
	}
}
