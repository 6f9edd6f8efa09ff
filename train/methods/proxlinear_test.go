package methods

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// The combined quadratic of a subproblem equals the sum of its two quadratics, and the model is tangent to F at w_k.
func TestSubproblem(t *testing.T) {
	p := traintest.NetProblem(30, 4, 2)
	p.Lambda = 0.1
	r := rand.New(rand.NewPCG(1, 2))
	for _, centred := range []bool{false, true} {
		if centred {
			traintest.Shifted(p)
		}
		var sub subproblem
		if err := sub.begin(p); err != nil {
			t.Fatal(err)
		}
		for _, η := range []float64{0.01, 1, 100} {
			wk := p.Scorer.(*traintest.Net).Glorot(3)
			for j := range wk {
				wk[j] += float32(r.NormFloat64()) / 4
			}
			if err := sub.pose(t.Context(), wk, η, oracles.Smoothing{}, 0); err != nil {
				t.Fatal(err)
			}
			traintest.Near(t, "F_η(w_k; w_k)", traintest.Value(t, sub.Engine, wk), traintest.Value(t, p.Engine, wk), 1e-6)

			v := slices.Clone(wk)
			for j := range v {
				v[j] += float32(r.NormFloat64()) / 4
			}
			bare := *sub.Objective
			bare.Lambda, bare.Center, bare.Constant = p.Lambda, p.Center, p.Constant
			plain := traintest.Value(t, engine.NewEngine(&bare, 1), v)
			got := &train.State{W: v, Primal: traintest.Value(t, sub.Engine, v)}
			traintest.Near(t, "F_η", got.Primal, plain+vec.Dist2(v, wk)/(2*η), 1e-5)
			traintest.Near(t, "model", sub.model(got), plain, 1e-5)

			ε := float32(1e-2)
			for range 5 { // halving the distance quarters the error of the model
				for j := range v {
					v[j] = wk[j] + ε*float32(math.Sin(float64(j)))
				}
				ε /= 2
			}
			traintest.Near(t, "F near w_k", traintest.Value(t, engine.NewEngine(&bare, 1), v), traintest.Value(t, p.Engine, v), 1e-5)
		}
	}
}

// F never rises, the state is accurate, and after the same number of passes F is below SGD's with the step size it
// finds.
func TestProxLinearOnNet(t *testing.T) {
	p := traintest.NetProblem(300, 8, 2)
	sgd := traintest.GlorotState(p)
	traintest.Begin(t, &SGD{}, p, sgd)
	g := &SGD{}
	traintest.Begin(t, g, p, sgd)
	traintest.Passes(t, g, p, sgd, 25)

	m, s := &ProxLinear{}, traintest.GlorotState(p)
	traintest.Begin(t, m, p, s)
	last := traintest.Value(t, p.Engine, s.W)
	for s.Passes < 25 {
		before := s.Passes
		traintest.Passes(t, m, p, s, 1)
		if s.Primal > last {
			t.Fatalf("F rose from %g to %g", last, s.Primal)
		}
		if f := traintest.Value(t, p.Engine, s.W); f != s.Primal {
			t.Fatalf("F is %g, the state says %g", f, s.Primal)
		}
		if s.Passes == before || s.InnerGap < 0 || before >= defaultWarmUp && !(s.ProxGradient > 0) {
			t.Fatalf("%+v", s)
		}
		last = s.Primal
	}
	t.Logf("SGD %.4f, prox-linear %.4f after %d and %d passes; %d rejected", sgd.Primal, s.Primal, sgd.Passes, s.Passes, s.Rejected)
	if s.Primal > sgd.Primal {
		t.Errorf("F is %g, SGD's %g", s.Primal, sgd.Primal)
	}
}

// Every inner method reduces F with every loss.
func TestProxLinearInner(t *testing.T) {
	inner := map[string]func(int) train.Method{
		"default": nil,
		"bcfw":    func(int) train.Method { return &BCFW{} },
		"svrg":    func(int) train.Method { return &SVRG{} },
		"saga":    func(int) train.Method { return &SAGA{} },
		"casimir": func(int) train.Method { return &Casimir{} },
		"given L": func(k int) train.Method { return &Casimir{Pace: Pace{Lipschitz: 30 * float64(k)}} },
	}
	for name, inner := range inner {
		for _, loss := range []engine.Loss{engine.Hinge, engine.CRF} {
			if name == "bcfw" && loss != engine.Hinge {
				continue
			}
			t.Run(name+" "+loss.String(), func(t *testing.T) {
				p := traintest.NetProblem(120, 4, 1)
				p.Loss = loss
				p.Smoothing = oracles.Smoothing{Kind: oracles.Entropy}
				if name == "given L" {
					p.Smoothing.Mu = 1
				}
				m, s := &ProxLinear{Inner: inner, InnerPasses: 2}, traintest.GlorotState(p)
				traintest.Begin(t, m, p, s)
				first := m.f
				for s.Passes < 14 {
					traintest.Passes(t, m, p, s, 1)
				}
				t.Logf("from %.4f to %.4f, η %.3g, μ %.3g", first, s.Primal, s.Step, s.Mu)
				if s.Primal > first/4 {
					t.Errorf("F went from %g to %g", first, s.Primal)
				}
			})
		}
	}
}

// With an affine scorer prox-linear is the proximal point method, and finds the optimum.
func TestProxLinearOnAffine(t *testing.T) {
	p := traintest.LinearProblem(60, 1, 0.05, 2)
	b := &BCFW{}
	sb := traintest.Start(t, b, p)
	traintest.Passes(t, b, p, sb, 300)
	m := &ProxLinear{}
	s := traintest.Start(t, m, p)
	for s.Passes < 200 {
		traintest.Passes(t, m, p, s, 1)
	}
	t.Logf("F %.5f, optimum in [%.5f, %.5f]", s.Primal, sb.Dual, sb.Primal)
	if s.Primal < sb.Dual-1e-6 || s.Primal > sb.Primal*1.002 {
		t.Errorf("F is %g, optimum in [%g, %g]", s.Primal, sb.Dual, sb.Primal)
	}
}

// A model that promises too much is not trusted: with a long fixed η, F still never rises.
func TestProxLinearRejects(t *testing.T) {
	p := traintest.NetProblem(40, 4, 1)
	m, s := &ProxLinear{Eta: 1e4}, traintest.GlorotState(p)
	for j := range s.W {
		s.W[j] *= 3 // far into the curved part of tanh
	}
	traintest.Begin(t, m, p, s)
	last, full := m.f, 0
	for range 12 {
		before := s.FullPasses
		traintest.Passes(t, m, p, s, 1)
		if s.Primal > last || m.η != 1e4 {
			t.Fatalf("F from %g to %g, η %g", last, s.Primal, m.η)
		}
		last = s.Primal
		full = max(full, s.FullPasses-before)
	}
	if full <= 4 {
		t.Errorf("at most %d full passes for an outer iteration: it never had to go back", full)
	}
}

func TestProxLinearAdaptsEta(t *testing.T) {
	for _, c := range []struct{ t, promise, decrease, way, want float64 }{
		{1, 1, 0.9, 1, 2},       // a good prediction
		{1, 1, 0.9, 0.3, 1},     // good, but η had little part in it
		{1, 1, 0.9, 0.01, 0.5},  // nor here: the subproblem is far from solved
		{1, 1, 0.5, 1, 1},       //
		{1, 1, 0.1, 1, 0.5},     // a bad prediction
		{0.5, 1, 0.4, 1, 0.5},   // accepted halfway
		{0.25, 1, 0.4, 1, 0.25}, //
		{0, 1, 0, 1, 0.25},      // rejected
		{0, 0, 0, 0, 0.25},      // no promised decrease
	} {
		m := &ProxLinear{η: 1}
		m.adapt(c.t, c.promise, c.decrease, c.way)
		if m.η != c.want {
			t.Errorf("%+v: η is %g", c, m.η)
		}
	}
}

// With a given ε_0, a subproblem ends as soon as its certificate allows.
func TestProxLinearTolerance(t *testing.T) {
	p := traintest.NetProblem(60, 1, 1)
	m, s := &ProxLinear{Eta: 0.05, InnerPasses: 400, Tolerance: 0.01}, traintest.GlorotState(p)
	traintest.Begin(t, m, p, s)
	for k := 1; k <= 4; k++ {
		before := s.Passes
		traintest.Passes(t, m, p, s, 1)
		if s.InnerGap > 0.01/float64(k) || s.Passes-before == 400 {
			t.Errorf("outer iteration %d: gap %g after %d passes", k, s.InnerGap, s.Passes-before)
		}
	}
}

// A dual point carried over to another problem is no worse than either end of the segment that is searched.
func TestBCFWGoesOn(t *testing.T) {
	p := traintest.LinearProblem(40, 1, 0.05, 1)
	first := &BCFW{}
	s := traintest.Start(t, first, p)
	traintest.Passes(t, first, p, s, 5)
	for _, λ := range []float64{0.05, 0.01, 1, 30} {
		o := *p.Objective
		o.Lambda = λ
		q := traintest.Shifted(&train.Problem{Engine: engine.NewEngine(&o, 1)})
		m := &BCFW{memory: &engine.Memory{}}
		m.memory.Copy(&first.memory.Marginals)
		m.memory = m.memory.Attach(q.Objective)
		g, b, err := traintest.Pulled(q.Recompose(t.Context(), q.Center, m.memory))
		if err != nil {
			t.Fatal(err)
		}
		w := slices.Clone(q.Center)
		vec.Axpy(float32(-1/λ), g, w)
		there := q.DualValue(b, w)
		s := train.NewState(make([]float32, len(w)))
		traintest.Begin(t, m, q, s)
		if m.dual < max(q.Constant, there)-1e-6*math.Abs(there) {
			t.Errorf("λ %g: dual %g, at the gold outputs %g, at the old point %g", λ, m.dual, q.Constant, there)
		}
		g, b, err = traintest.Pulled(q.Recompose(t.Context(), m.path.W, m.memory))
		if err != nil {
			t.Fatal(err)
		}
		copy(w, q.Center)
		vec.Axpy(float32(-1/λ), g, w)
		traintest.Near(t, "dual", m.dual, q.DualValue(b, w), 1e-5)
		traintest.Near(t, "b", m.linear, b, 1e-5)
	}
}

func TestSameBitsOnAnyThreads(t *testing.T) {
	for name, method := range map[string]func() train.Method{
		"sgd":         func() train.Method { return &SGD{} },
		"bcfw":        func() train.Method { return &BCFW{} },
		"n-slack":     func() train.Method { return &NSlack{} },
		"prox-linear": func() train.Method { return &ProxLinear{} },
	} {
		var want *train.State
		for _, threads := range []int{1, 2, 7} {
			p := traintest.NetProblem(60, 20, threads)
			if name != "sgd" && name != "prox-linear" {
				p = traintest.LinearProblem(60, 1, 0.05, threads)
				p.Batch = 20
			}
			s, m := traintest.GlorotState(p), method()
			traintest.Begin(t, m, p, s)
			traintest.Passes(t, m, p, s, 4)
			if want == nil {
				want = s
			} else if !slices.Equal(s.W, want.W) || s.Primal != want.Primal {
				t.Errorf("%s: other bits on %d threads", name, threads)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	ctx := context.Background()
	refuses := func(what string, m train.Method, p *train.Problem) {
		t.Helper()
		err := m.Start(ctx, p, train.NewState(make([]float32, p.Scorer.Dim())))
		if !structured.IsBadInput(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
	p := traintest.LinearProblem(5, 1, 0, 1)
	refuses("bcfw without λ", &BCFW{}, p)
	refuses("pegasos without λ", &SGD{Schedule: PegasosSchedule}, p)
	p = traintest.LinearProblem(5, 1, 1, 1)
	p.Loss = engine.CRF
	refuses("bcfw for crf", &BCFW{}, p)
	p = traintest.NetProblem(5, 1, 1)
	p.Scorer = rigid{p.Scorer.(*traintest.Net)}
	refuses("prox-linear without a linearisation", &ProxLinear{}, p)
}

// rigid hides a network's linearisation.
type rigid struct{ nets.Scorer }
