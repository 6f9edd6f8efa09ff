package methods

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods/quasinewton"
	"github.com/dsp-go/dsp/train/methods/sdca"
	"github.com/dsp-go/dsp/train/traintest"
)

// convexMethods creates one of each.
func convexMethods() []train.Method {
	return []train.Method{&SVRG{}, &Casimir{}, &Casimir{Adaptive: true}, &SAGA{}}
}

// Every method certifies the same optimum. The value of its mixture of dual points never falls, and is at most the
// least F up to rounding. F is the objective at its weights.
func TestConvexMethodsAgree(t *testing.T) {
	top5 := oracles.Smoothing{Kind: oracles.L2, K: 5}
	for _, c := range []struct {
		name    string
		problem *train.Problem
		gap     float64 // relative, after 80 passes
	}{
		{"hinge, entropy", traintest.NoisyProblem(80, engine.Hinge, traintest.Entropy, 1./80), 4e-3},
		{"hinge, l2", traintest.NoisyProblem(80, engine.Hinge, traintest.L2, 1./80), 4e-3},
		{"hinge, l2 on 5", traintest.NoisyProblem(80, engine.Hinge, top5, 1./80), 2e-2},
		{"hinge, strong λ", traintest.NoisyProblem(80, engine.Hinge, traintest.Entropy, 0.5), 1e-3},
		{"hinge, shifted", traintest.Shifted(traintest.NoisyProblem(80, engine.Hinge, traintest.Entropy, 0.1)), 4e-3},
		{"crf", traintest.NoisyProblem(80, engine.CRF, traintest.Entropy, 1./80), 1e-4},
		{"crf, shifted", traintest.Shifted(traintest.NoisyProblem(80, engine.CRF, traintest.Entropy, 0.1)), 1e-4},
		{"softmax-margin", traintest.NoisyProblem(80, engine.SoftmaxMargin, traintest.Entropy, 1./80), 1e-4},
		{"choice, hinge, entropy", traintest.ChoiceProblem(80, engine.Hinge, traintest.Entropy, 1./80), 4e-3},
		{"choice, hinge, l2", traintest.ChoiceProblem(80, engine.Hinge, traintest.L2, 1./80), 4e-3},
		{"choice, crf", traintest.ChoiceProblem(80, engine.CRF, traintest.Entropy, 1./80), 1e-4},
		{"window, hinge, l2", traintest.WindowProblem(40, traintest.L2, 1./40), 2e-2},
		{"window, hinge, l2 on 5", traintest.WindowProblem(40, top5, 1./40), 2e-2},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := c.problem
			lo, hi := math.Inf(-1), math.Inf(1)
			for _, m := range convexMethods() {
				s := traintest.Start(t, m, p)
				dual := math.Inf(-1)
				for range 80 {
					traintest.Passes(t, m, p, s, 1)
					raw := traintest.Mixture(m, p.Lambda)
					if raw < dual-1e-6*(1+math.Abs(dual)) {
						t.Fatalf("%s, pass %d: the dual fell from %g to %g", m.Name(), s.Passes, dual, raw)
					}
					if !(s.Primal-raw >= -s.Rounding) || !(s.Rounding > 0 && s.Rounding < 1e-5*(1+math.Abs(s.Dual))) {
						t.Fatalf("%s, pass %d: gap %g, allowance %g", m.Name(), s.Passes, s.Primal-raw, s.Rounding)
					}
					dual = raw
				}
				f, _, err := p.Upper(context.Background(), s.W)
				if err != nil {
					t.Fatal(err)
				}
				traintest.Near(t, m.Name()+": F(W)", s.Primal, f, 1e-9)
				if gap := s.Gap() / s.Primal; gap > c.gap {
					t.Errorf("%s: relative gap %g after 80 passes", m.Name(), gap)
				}
				lo, hi = max(lo, s.Dual), min(hi, s.Primal)
			}
			if lo > hi+1e-6*hi {
				t.Errorf("the intervals do not overlap: dual %.9g, primal %.9g", lo, hi)
			}
		})
	}
}

// With automatic settings Casimir certifies a relative gap of 1e-3 on the dense, noisy hinge problem in 80 passes.
func TestDenseHingeIsCertified(t *testing.T) {
	o := &engine.Objective{Scorer: &traintest.Net{Inputs: 8, Labels: 6}, Data: traintest.NoisyChains(2, 150, 8, 6), Lambda: 1. / 150}
	p := &train.Problem{Engine: engine.NewEngine(o, 2), Smoothing: traintest.Entropy, Seed: 1}
	gap := map[string]float64{}
	for _, m := range []train.Method{&SVRG{}, &Casimir{}} {
		s := traintest.Start(t, m, p)
		traintest.Passes(t, m, p, s, 80)
		gap[m.Name()] = s.Gap() / s.Primal
	}
	t.Log(gap)
	if gap["casimir"] > 1e-3 || gap["casimir"] > gap["svrg"]/2 {
		t.Errorf("relative gaps %v: casimir is accelerated", gap)
	}
}

// Given settings are used.
func TestGivenSteps(t *testing.T) {
	p := traintest.NoisyProblem(40, engine.Hinge, oracles.Smoothing{Kind: oracles.Entropy, Mu: 0.5}, 0.1)
	for _, c := range []struct {
		m           train.Method
		γ, μ, κ     float64
		curvature   bool
		oracleCalls int
	}{
		{m: &SVRG{Pace: Pace{Step: 0.003}}, γ: 0.003, μ: 0.5},
		{m: &SVRG{Pace: Pace{Lipschitz: 50}}, γ: 1 / 50.1, μ: 0.5},
		{m: &SAGA{Pace: Pace{Lipschitz: 50}}, γ: 1 / 150.1, μ: 0.5},
		{m: &SVRG{Pace: Pace{Curvature: 10}}, γ: 1 / 20.1, μ: 0.5},
		{m: &Casimir{Pace: Pace{Lipschitz: 50}}, γ: 1 / (50 + 50./40), μ: 0.5, κ: 50./40 - 0.1},
		{m: &Casimir{Pace: Pace{Lipschitz: 10}}, γ: 1 / 10.2, μ: 0.5, κ: 0.1},
		{m: &Casimir{Kappa: 3, Pace: Pace{Step: 0.01}}, γ: 0.01, μ: 0.5, κ: 3},
		{m: &Casimir{Adaptive: true, Pace: Pace{Step: 0.01}}, γ: 0.01, μ: 0.5 * math.Sqrt(1-math.Sqrt(0.5)/2), κ: 0.1},
	} {
		s := traintest.Start(t, c.m, p)
		if s.OracleCalls != 0 {
			t.Errorf("%s: %d oracle calls to find a given step", c.m.Name(), s.OracleCalls)
		}
		traintest.Passes(t, c.m, p, s, 1)
		traintest.Near(t, c.m.Name()+": step", s.Step, c.γ, 1e-12)
		traintest.Near(t, c.m.Name()+": μ", s.Mu, c.μ, 1e-12)
		traintest.Near(t, c.m.Name()+": κ", s.Kappa, c.κ, 1e-12)
	}
}

// The results have the same bits for any number of threads.
func TestConvexThreads(t *testing.T) {
	for i := range convexMethods() {
		var want []float32
		for _, threads := range []int{1, 2, 7} {
			p := traintest.NoisyProblem(60, engine.Hinge, traintest.Entropy, 0.05)
			p.Engine = engine.NewEngine(p.Objective, threads)
			p.Batch = 20
			m := convexMethods()[i]
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

// A run that was archived and restored in another process ends in the same state as an uninterrupted run.
func TestConvexResumes(t *testing.T) {
	more := []func() train.Method{
		func() train.Method { return &SVRG{} },
		func() train.Method { return &Casimir{} },
		func() train.Method { return &Casimir{ByNorm: true, WarmStart: Extrapolation} },
		func() train.Method { return &Casimir{Adaptive: true, WarmStart: PrevIterate} },
		func() train.Method { return &SAGA{} },
	}
	for _, make := range more {
		for _, smoothing := range []oracles.Smoothing{traintest.Entropy, traintest.L2} {
			p := traintest.Shifted(traintest.NoisyProblem(40, engine.Hinge, smoothing, 0.1))
			m := make()
			s := traintest.Start(t, m, p)
			traintest.Passes(t, m, p, s, 20)
			saved := &traintest.Shelf{Values: map[string]any{}}
			m.Archive(saved)
			at := *s
			at.W = slices.Clone(s.W)
			traintest.Passes(t, m, p, s, 5)

			again := make()
			saved.Restoring = true
			again.Archive(saved)
			if err := again.Start(context.Background(), p, &at); err != nil {
				t.Fatal(err)
			}
			traintest.Passes(t, again, p, &at, 5)
			if got, want := fmt.Sprint(at), fmt.Sprint(*s); got != want {
				t.Errorf("%s resumed:\n%s\nwant\n%s", m.Name(), got, want)
			}
		}
	}
}

// Without a regulariser there is no certificate, but F still falls.
func TestWithoutRegulariser(t *testing.T) {
	reference := &Casimir{}
	regularised := traintest.NoisyProblem(60, engine.Hinge, traintest.Entropy, 1e-4)
	best := traintest.Start(t, reference, regularised)
	traintest.Passes(t, reference, regularised, best, 100)
	for _, m := range append(convexMethods(), &Casimir{ByNorm: true}) {
		p := traintest.NoisyProblem(60, engine.Hinge, traintest.Entropy, 0)
		s := traintest.Start(t, m, p)
		traintest.Passes(t, m, p, s, 40)
		if !math.IsNaN(s.Dual) || !math.IsNaN(s.Gap()) {
			t.Errorf("%s: dual %g without a regulariser", m.Name(), s.Dual)
		}
		if s.Primal > 1.01*best.Primal {
			t.Errorf("%s: F is %g; a regularised optimum has %g", m.Name(), s.Primal, best.Primal)
		}
	}
}

// On separable data without a regulariser a method reaches the objective's minimum 0 with finite smoothing, and stops
// there.
func TestSeparableDataWithoutRegulariser(t *testing.T) {
	for _, smoothing := range []oracles.Smoothing{traintest.L2, traintest.Entropy} {
		for _, m := range convexMethods() {
			o := &engine.Objective{Scorer: &traintest.Net{Inputs: 6, Labels: 3}, Data: traintest.Chains(8, 6, 3, 0, 1)}
			p := &train.Problem{Engine: engine.NewEngine(o, 1), Smoothing: smoothing, Seed: 3}
			s := train.NewState(make([]float32, p.Scorer.Dim()))
			r, err := (&train.Trainer{Problem: p, Method: m, Passes: 3000}).Run(t.Context(), s)
			if err != nil {
				t.Fatalf("%s, %v: %v", m.Name(), smoothing.Kind, err)
			}
			if !s.Done || r.Last.Objective != 0 || !(r.Last.Mu > 0) {
				t.Errorf("%s, %v: F is %g after %d passes, μ %g: %s", m.Name(), smoothing.Kind, r.Last.Objective, r.Last.Pass, r.Last.Mu, r.Reason)
			}
		}
	}
}

// Smoothing stays once both its bias and the optimisation error are zero.
func TestSmoothingStaysAtTheOptimum(t *testing.T) {
	p := traintest.NoisyProblem(5, engine.Hinge, traintest.L2, 0)
	an := annealing{μ: 2}
	zero := make([]float32, p.Scorer.Dim())
	an.consider(p, zero, &engine.FullPass{Grad: zero, Exact: 1})
	if an.fall != 1 {
		t.Errorf("μ falls to %g of itself", an.fall)
	}
}

// Casimir reaches the optimum with every warm start and stopping rule.
func TestCasimirVariants(t *testing.T) {
	p := traintest.NoisyProblem(80, engine.CRF, traintest.Entropy, 1e-3)
	for _, m := range []*Casimir{
		{WarmStart: Extrapolation},
		{WarmStart: PrevIterate},
		{ByNorm: true},
		{ByNorm: true, Adaptive: true, WarmStart: PrevIterate},
		{Kappa: 0.1},
		{Budget: 40},
		{Budget: 200},
	} {
		s := traintest.Start(t, m, p)
		traintest.Passes(t, m, p, s, 80)
		t.Logf("%+v %v: gap %.2g, %d oracle calls", m.WarmStart, m.ByNorm, s.Gap()/s.Primal, s.OracleCalls)
		if s.Gap() > 1e-3*s.Primal {
			t.Errorf("%s %v: relative gap %g", m.Name(), m.WarmStart, s.Gap()/s.Primal)
		}
	}
}

// The numbers of Algorithm 4: α_k solves its equation and stays within [√q, α_{k−1}], with q = λ/(λ+κ).
func TestCasimirAlpha(t *testing.T) {
	p := traintest.NoisyProblem(40, engine.CRF, traintest.Entropy, 0.01)
	m := &Casimir{Kappa: 0.5}
	traintest.Start(t, m, p)
	m.α = 0.9
	for range 20 {
		before := m.α
		m.extrapolate(p, m.w)
		λ, κ := p.Lambda, m.κ
		traintest.Near(t, "α²(κ+λ)", m.α*m.α*(κ+λ), (1-m.α)*before*before*(κ+λ)+m.α*λ, 1e-12)
		if m.α > before || m.α < math.Sqrt(λ/(λ+κ)) {
			t.Errorf("α went from %g to %g", before, m.α)
		}
	}
}

// An inner problem counts as solved at its minimiser, and not at the start.
func TestCasimirNormTest(t *testing.T) {
	p := traintest.Shifted(traintest.NoisyProblem(40, engine.CRF, traintest.Entropy, 0.5))
	m := &Casimir{Kappa: 0.01, ByNorm: true}
	traintest.Start(t, m, p)
	m.z = traintest.DrawWeights(rand.New(rand.NewPCG(1, 1)), len(m.z), 0.1)
	if m.solved(p) {
		t.Error("solved at the start")
	}
	inner := *p.Objective
	inner.Lambda = p.Lambda + m.κ
	inner.Center = slices.Clone(p.Center)
	vec.Axpby(float32(m.κ/inner.Lambda), m.z, float32(p.Lambda/inner.Lambda), inner.Center)
	q := &train.Problem{Engine: engine.NewEngine(&inner, 1)}
	svrg := &SVRG{}
	s := traintest.Start(t, svrg, q)
	traintest.Passes(t, svrg, q, s, 60)
	if _, err := m.anchor.place(context.Background(), p, s.W, m.smoothing(p)); err != nil {
		t.Fatal(err)
	}
	if !m.solved(p) {
		t.Error("not solved at the minimiser")
	}
	s.W[0] += 1
	if _, err := m.anchor.place(context.Background(), p, s.W, m.smoothing(p)); err != nil {
		t.Fatal(err)
	}
	if m.solved(p) {
		t.Error("solved beside the minimiser")
	}
}

// An inner problem that no pass solves gets the largest allowed number of passes.
func TestCasimirGivesUp(t *testing.T) {
	p := traintest.NoisyProblem(40, engine.Hinge, traintest.Entropy, 0.05)
	m := &Casimir{Kappa: 1e-9, ByNorm: true, Most: 3}
	s := traintest.Start(t, m, p)
	traintest.Passes(t, m, p, s, 7)
	if m.k != 3 {
		t.Errorf("inner problem %d after 7 passes, want 3", m.k)
	}
}

// Without a regulariser the adaptive schedule uses μ/k and κk (Prop. 32).
func TestCasimirAdaptsWithoutRegulariser(t *testing.T) {
	p := traintest.NoisyProblem(40, engine.Hinge, oracles.Smoothing{Kind: oracles.Entropy, Mu: 2}, 0)
	m := &Casimir{Adaptive: true, Kappa: 0.3}
	s := traintest.Start(t, m, p)
	for k := range 4 {
		traintest.Passes(t, m, p, s, 1)
		traintest.Near(t, "κ_k", s.Kappa, 0.3*float64(k+1), 1e-12)
		traintest.Near(t, "μ_{k+1}", s.Mu, 2/float64(k+2), 1e-12)
	}
}

// A convex method on a network returns an error that says what to use instead.
func TestConvexRefusals(t *testing.T) {
	p := traintest.NetProblem(10, 1, 1)
	p.Smoothing = traintest.Entropy
	for _, m := range convexMethods() {
		err := m.Start(context.Background(), p, train.NewState(make([]float32, p.Scorer.Dim())))
		if !structured.IsBadInput(err) {
			t.Errorf("%s on a network: %v", m.Name(), err)
		}
		q := traintest.NoisyProblem(10, engine.Hinge, oracles.Smoothing{}, 0.1)
		if err := m.Start(context.Background(), q, train.NewState(make([]float32, q.Scorer.Dim()))); !structured.IsBadInput(err) {
			t.Errorf("%s without smoothing: %v", m.Name(), err)
		}
	}
	smooth := traintest.NetProblem(10, 1, 1)
	smooth.Loss = engine.CRF
	for m, on := range map[train.Method]*train.Problem{&BCFW{}: p, &BCPFW{}: p, &quasinewton.LBFGS{}: smooth, &sdca.SDCA{}: smooth} {
		err := m.Start(context.Background(), on, train.NewState(make([]float32, on.Scorer.Dim())))
		if want := train.CheckConvex(m.Name(), on.Scorer); err == nil || err.Error() != want.Error() {
			t.Errorf("%s on a network: %v, want %v", m.Name(), err, want)
		}
	}
}

// SAGA's ḡ, updated step by step, is the mean gradient at its memory.
func TestSAGAMean(t *testing.T) {
	ctx := context.Background()
	p := traintest.Shifted(traintest.NoisyProblem(50, engine.Hinge, oracles.Smoothing{Kind: oracles.Entropy, Mu: 0.3}, 0.1))
	m := &SAGA{}
	s := traintest.Start(t, m, p)
	traintest.Passes(t, m, p, s, 2)
	const γ = 0.01
	m.depart(p, γ)
	for lo := range 10 {
		if err := m.move(ctx, p, m.smoothing(p), []int{5 * lo, 5*lo + 1, 5*lo + 2}, γ); err != nil {
			t.Fatal(err)
		}
	}
	g, _, err := traintest.Pulled(p.Recompose(ctx, m.path.W, m.memory))
	if err != nil {
		t.Fatal(err)
	}
	for j := range g {
		traintest.Near(t, "ḡ", p.Lambda*float64(p.Center[j])-float64(m.drift[j])/γ, float64(g[j]), 1e-6)
	}
}

// A convex method is refused for scores that are not linear in the weights.
func TestConvexMethodsNeedLinearScores(t *testing.T) {
	net := traintest.NetProblem(10, 1, 1).Objective
	var refused *train.RequirementError
	err := train.CheckConvex("bcfw", net.Scorer)
	if !errors.As(err, &refused) || refused.Method != "bcfw" || refused.Needs != train.AffineScores || !structured.IsBadInput(err) {
		t.Errorf("%v", err)
	}
}
