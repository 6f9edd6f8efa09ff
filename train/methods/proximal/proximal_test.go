package proximal_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
	"github.com/dsp-go/dsp/train/methods/quasinewton"
	"github.com/dsp-go/dsp/train/methods/sdca"
	"github.com/dsp-go/dsp/train/traintest"
)

func withL1(p *train.Problem, λ, λ1 float64) *train.Problem {
	p.Lambda, p.L1 = λ, λ1
	return p
}

func smoothProblems(t *testing.T) map[string]*train.Problem {
	sparse := func(edges int) *train.Problem {
		return traintest.AttributeProblem(t, 60, 8, 3, edges, engine.CRF, 0)
	}
	dense := func() *train.Problem { return traintest.NoisyProblem(60, engine.CRF, oracles.Smoothing{}, 0) }
	return map[string]*train.Problem{
		"dense":            withL1(dense(), 1./60, 1./60),
		"dense, shifted":   withL1(traintest.Shifted(dense()), 0.1, 0.05),
		"sparse":           withL1(sparse(0), 0.1, 0.05),
		"sparse, weak λ":   withL1(sparse(0), 1e-3, 1./60),
		"sparse, edges":    withL1(sparse(5), 0.05, 1./60),
		"sparse, shifted":  withL1(traintest.Shifted(sparse(0)), 0.02, 0.03),
		"sparse, λ = 0":    withL1(sparse(0), 0, 1./60),
		"dense, λ = 0":     withL1(dense(), 0, 1./60),
		"softmax-margin":   withL1(traintest.AttributeProblem(t, 60, 8, 4, 0, engine.SoftmaxMargin, 0), 0.05, 0.02),
		"nothing survives": withL1(sparse(0), 0.1, 10),
	}
}

// run trains until the certified relative gap is at most gap.
func run(t *testing.T, m train.Method, p *train.Problem, gap float64, passes int) *train.State {
	t.Helper()
	s := traintest.Start(t, m, p)
	for k := 0; k < passes && !s.Done && !(k > 0 && s.Gap() <= gap*s.Primal); k++ {
		traintest.Passes(t, m, p, s, 1)
		if c, ok := m.(train.Certifier); ok {
			if err := c.Certify(context.Background(), p, s, true); err != nil {
				t.Fatal(err)
			}
		}
		if s.Gap() < 0 {
			t.Fatalf("%s, pass %d: negative gap %g", m.Name(), s.Passes, s.Gap())
		}
	}
	return s
}

// reference minimises F by proximal gradient steps with backtracking and extrapolation (Beck and Teboulle 2009), in
// float64 apart from the scores.
func reference(t *testing.T, p *train.Problem, steps int) float64 {
	t.Helper()
	bare := *p.Objective
	bare.Lambda, bare.L1, bare.Center, bare.Constant = 0, 0, nil, 0
	e := engine.NewEngine(&bare, 1)
	dim := p.Scorer.Dim()
	w, last, y, next := make([]float32, dim), make([]float32, dim), make([]float32, dim), make([]float32, dim)
	L, best := 1.0, math.Inf(1)
	for k := range steps {
		pass, err := e.FullPass(context.Background(), y, oracles.Smoothing{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for {
			bound := pass.Primal
			for j, x := range y { // the quadratic term is handled exactly
				c := 0.0
				if p.Center != nil {
					c = float64(p.Center[j])
				}
				v := (L*float64(x) - float64(pass.Grad[j]) + p.Lambda*c) / (L + p.Lambda)
				to := math.Copysign(max(math.Abs(v)-p.L1/(L+p.Lambda), 0), v)
				next[j] = float32(to)
				δ := float64(next[j]) - float64(x)
				bound += float64(pass.Grad[j])*δ + L/2*δ*δ
			}
			f, err := e.Value(context.Background(), next)
			if err != nil {
				t.Fatal(err)
			}
			if f <= bound+1e-7*bound {
				break
			}
			L *= 2
		}
		copy(last, w)
		copy(w, next)
		β := float32(k%50) / float32(k%50+3)
		copy(y, w)
		vec.Axpy(β, w, y)
		vec.Axpy(-β, last, y)
		f, err := p.Value(context.Background(), w)
		if err != nil {
			t.Fatal(err)
		}
		best = min(best, f)
	}
	return best
}

// SDCA and OWL-QN find the optimum of a reference within their certified gaps, and it fulfils the conditions of Karush,
// Kuhn and Tucker.
func TestSmoothLosses(t *testing.T) {
	for name, p := range smoothProblems(t) {
		t.Run(name, func(t *testing.T) {
			best := reference(t, p, 500)
			for _, m := range []train.Method{&sdca.SDCA{}, &quasinewton.OWLQN{}, &methods.SVRG{}, &methods.SAGA{}} {
				gap := 1e-4
				if p.Lambda == 0 {
					gap = 5e-3
				}
				s := run(t, m, p, gap/20, 200)
				t.Logf("%s: %d passes, F %.7g, reference %.7g, gap %.2g, %d of %d not zero", m.Name(), s.Passes, s.Primal, best, s.Gap()/s.Primal, engine.Nonzeros(s.W), len(s.W))
				if !(s.Gap() <= gap*s.Primal) {
					t.Errorf("%s: relative gap %g after %d passes", m.Name(), s.Gap()/s.Primal, s.Passes)
				}
				if s.Dual > best*(1+1e-6) || s.Primal < best*(1-1e-5) || s.Primal > best*(1+2e-4) {
					t.Errorf("%s: certified [%.8g, %.8g], the reference finds %.8g", m.Name(), s.Dual, s.Primal, best)
				}
				f, _, err := p.Upper(context.Background(), s.W)
				if err != nil {
					t.Fatal(err)
				}
				traintest.Near(t, "F(W)", s.Primal, f, 1e-9)
				checkKKT(t, p, s.W)
			}
		})
	}
}

// checkKKT checks that −(g + λ(w−c)) is a subgradient of λ₁‖w‖₁, roughly: rounding and the remaining gap leave slopes.
func checkKKT(t *testing.T, p *train.Problem, w []float32) {
	t.Helper()
	pass, err := p.FullPass(context.Background(), w, oracles.Smoothing{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const tolerance = 5e-3
	for j, x := range w {
		c := 0.0
		if p.Center != nil {
			c = float64(p.Center[j])
		}
		slope := float64(pass.Grad[j]) + p.Lambda*(float64(x)-c)
		switch {
		case x == 0 && math.Abs(slope) > p.L1+tolerance:
			t.Errorf("weight %d is zero, but the slope there is %g, beyond λ₁ = %g", j, slope, p.L1)
		case x != 0 && math.Abs(slope+math.Copysign(p.L1, float64(x))) > tolerance:
			t.Errorf("weight %d is %g, but the slope there is %g, expected λ₁ = %g against it", j, x, slope, p.L1)
		}
	}
}

// BCFW, BCPFW, SVRG and SAGA agree on the hinge within their certified gaps, and most weights are zero.
func TestHinge(t *testing.T) {
	sparse := func() *train.Problem { return traintest.AttributeProblem(t, 60, 8, 3, 0, engine.Hinge, 0) }
	for name, p := range map[string]*train.Problem{
		"sparse":          withL1(sparse(), 0.1, 0.05),
		"sparse, shifted": withL1(traintest.Shifted(sparse()), 0.1, 0.03),
		"sparse, weak λ":  withL1(sparse(), 0.01, 0.03),
		"sparse, λ = 0":   withL1(sparse(), 0, 0.05),
		"dense":           withL1(traintest.NoisyProblem(60, engine.Hinge, oracles.Smoothing{}, 0), 0.1, 0.1),
		"dense, λ = 0":    withL1(traintest.NoisyProblem(60, engine.Hinge, oracles.Smoothing{}, 0), 0, 0.1),
	} {
		t.Run(name, func(t *testing.T) {
			var found []*train.State
			for _, m := range []train.Method{&methods.BCFW{}, &methods.BCPFW{}, &methods.SVRG{}, &methods.SAGA{}} {
				q := *p
				if !slices.Contains([]string{"bcfw", "bcpfw"}, m.Name()) {
					q.Smoothing = traintest.Entropy
				}
				s := run(t, m, &q, 1e-2, 300)
				t.Logf("%s: %d passes, F %.7g, gap %.2g, %d of %d not zero", m.Name(), s.Passes, s.Primal, s.Gap()/s.Primal, engine.Nonzeros(s.W), len(s.W))
				if !(s.Gap() <= 0.1*s.Primal) {
					t.Errorf("%s: relative gap %g after %d passes", m.Name(), s.Gap()/s.Primal, s.Passes)
				}
				found = append(found, s)
			}
			for _, a := range found {
				for _, b := range found {
					if a.Dual > b.Primal {
						t.Errorf("certified [%.8g, %.8g] and [%.8g, %.8g]", a.Dual, a.Primal, b.Dual, b.Primal)
					}
				}
			}
		})
	}
}

// Weights do not depend on the number of threads.
func TestThreads(t *testing.T) {
	for _, make := range []func() train.Method{
		func() train.Method { return &sdca.SDCA{} }, func() train.Method { return &quasinewton.OWLQN{} },
		func() train.Method { return &methods.SVRG{} }, func() train.Method { return &methods.SAGA{} },
	} {
		var want []float32
		for _, threads := range []int{1, 3} {
			p := withL1(traintest.AttributeProblem(t, 60, 8, 3, 5, engine.CRF, 0), 0, 0.02)
			p.Engine = engine.NewEngine(p.Objective, threads)
			m := make()
			s := traintest.Start(t, m, p)
			traintest.Passes(t, m, p, s, 8)
			if want == nil {
				want = s.W
			} else if !slices.Equal(want, s.W) {
				t.Errorf("%s: %d threads give other weights", m.Name(), threads)
			}
		}
	}
}

// Methods without a rule for λ₁‖w‖₁ are refused.
func TestRefusals(t *testing.T) {
	p := withL1(traintest.NoisyProblem(20, engine.CRF, oracles.Smoothing{}, 0), 0.1, 0.1)
	for _, m := range []train.Method{&methods.Casimir{}, &methods.SGD{}, &methods.Adam{}, &quasinewton.LBFGS{}} {
		if err := train.CheckL1(m, p.Objective); err == nil {
			t.Errorf("%s is accepted", m.Name())
		}
	}
}
