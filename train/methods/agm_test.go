package methods

import (
	"math"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// agmProblems are what agm takes.
func agmProblems(t *testing.T) map[string]*train.Problem {
	withL1 := func(p *train.Problem, λ1 float64) *train.Problem {
		p.L1 = λ1
		return p
	}
	from := func(p *train.Problem, c float32) *train.Problem { // a centre whose side decides the sign of ⟨g,c⟩
		p.Center = make([]float32, p.Scorer.Dim())
		for j := range p.Center {
			p.Center[j] = c * float32(j%7-3)
		}
		return p
	}
	fixed := traintest.Entropy
	fixed.Mu = 0.5
	return map[string]*train.Problem{
		"crf":              traintest.NoisyProblem(40, engine.CRF, oracles.Smoothing{}, 0.05),
		"crf, shifted":     traintest.Shifted(traintest.NoisyProblem(40, engine.CRF, oracles.Smoothing{}, 0.05)),
		"crf, l1":          withL1(traintest.SparseProblem(40, engine.CRF, oracles.Smoothing{}, 0.05), 0.02),
		"crf, l1, shifted": withL1(traintest.Shifted(traintest.NoisyProblem(40, engine.CRF, oracles.Smoothing{}, 0.05)), 0.02),
		"crf, l1, centre":  from(withL1(traintest.NoisyProblem(40, engine.CRF, oracles.Smoothing{}, 0.05), 0.02), 0.5),
		"crf, l1, away":    from(withL1(traintest.NoisyProblem(40, engine.CRF, oracles.Smoothing{}, 0.05), 0.02), -0.5),
		"hinge":            traintest.NoisyProblem(40, engine.Hinge, traintest.Entropy, 0.1),
		"hinge, l2":        traintest.NoisyProblem(40, engine.Hinge, traintest.L2, 0.1),
		"hinge, μ":         traintest.NoisyProblem(40, engine.Hinge, fixed, 0.1),
	}
}

// Every iterate is below the least value of its estimate function, which is what the rate follows from; the mean of the
// passes bounds the optimum; and both memories certify the optimum of another method.
func TestAGM(t *testing.T) {
	for name, p := range agmProblems(t) {
		t.Run(name, func(t *testing.T) {
			reference := &SVRG{}
			best := traintest.Start(t, reference, p)
			traintest.Passes(t, reference, p, best, 120)
			for _, one := range []bool{false, true} {
				m := &AGM{One: one}
				s := traintest.Start(t, m, p)
				for k := 0; k < 150 && !s.Done; k++ {
					traintest.Passes(t, m, p, s, 1)
					if k > 30 && k%10 > 0 { // estimates are worst at first, and a look takes as long as a pass
						continue
					}
					pass, err := p.FullPass(t.Context(), m.x, m.smoothing(p), nil)
					if err != nil {
						t.Fatal(err)
					}
					if !m.fresh && pass.Smoothed > m.value*(1+1e-6) {
						t.Fatalf("one %v, pass %d: F_μ is %g, the estimate's least value %g", one, s.Passes, pass.Smoothed, m.value)
					}
				}
				t.Logf("one %v: %d passes, [%g, %g], reference [%g, %g]", one, s.Passes, s.Dual, s.Primal, best.Dual, best.Primal)
				gap := 1e-4
				switch name {
				case "hinge", "hinge, l2":
					gap = 1e-2
				case "hinge, μ": // whose bias stays
					gap = 0.5
				}
				if !(s.Gap() >= 0 && s.Gap() <= gap*s.Primal) {
					t.Errorf("one %v: relative gap %g", one, s.Gap()/s.Primal)
				}
				if s.Dual > best.Primal || best.Dual > s.Primal {
					t.Errorf("certified [%g, %g], svrg [%g, %g]", s.Dual, s.Primal, best.Dual, best.Primal)
				}
				traintest.Near(t, "F(W)", s.Primal, traintest.Upper(t, p.Engine, s.W), 1e-9)
			}
		})
	}
}

// On a badly conditioned problem both memories are accelerated: the error falls much faster than that of gradient steps
// of the same L.
func TestAGMIsAccelerated(t *testing.T) {
	p := traintest.NoisyProblem(40, engine.CRF, oracles.Smoothing{}, 1e-3)
	reference := &SVRG{}
	best := traintest.Start(t, reference, p)
	traintest.Passes(t, reference, p, best, 400)
	above := func(f float64) float64 { return math.Max(f-best.Primal, 1e-12) }
	for _, one := range []bool{false, true} {
		m := &AGM{One: one}
		s := traintest.Start(t, m, p)
		most := 0.0
		for range 60 {
			traintest.Passes(t, m, p, s, 1)
			most = max(most, m.l)
		}
		w := make([]float32, len(s.W))
		for range 60 {
			pass, err := p.FullPass(t.Context(), w, oracles.Smoothing{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			vec.Scale(float32(1-p.Lambda/most), w)
			vec.Axpy(float32(-1/most), pass.Grad, w)
		}
		if f := traintest.Value(t, p.Engine, w); above(s.Primal) > above(f)/10 {
			t.Errorf("one %v: F is %g above the optimum; gradient steps end at %g", one, above(s.Primal), above(f))
		}
	}
}

// The memory of one weighs a step such that the curvature of the estimate that it leads to is that of F along the step,
// (L+λ)a² (Nesterov 2004, section 2.2).
func TestAGMSharesOfOne(t *testing.T) {
	for _, λ := range []float64{1e-3, 0.3, 30} {
		p, m := traintest.NoisyProblem(40, engine.CRF, oracles.Smoothing{}, λ), &AGM{One: true}
		s := traintest.Start(t, m, p)
		for range 6 {
			traintest.Passes(t, m, p, s, 1)
			if m.a == 0 || s.Done {
				continue
			}
			next, err := m.try(t.Context(), p, s)
			if err != nil {
				t.Fatal(err)
			}
			if want := (m.l + λ) * next.share * next.share; !(next.share > 0 && next.share <= 1) || math.Abs(next.a-want) > 1e-9*want {
				t.Errorf("λ = %g: a step of the share %g leads to the curvature %g, want %g", λ, next.share, next.a, want)
			}
		}
	}
}

// Where the loss bends so little that L is nothing beside λ, both memories go on.
func TestAGMWithTinyInputs(t *testing.T) {
	for _, one := range []bool{false, true} {
		p := traintest.ChoiceProblem(6, engine.CRF, oracles.Smoothing{}, 1)
		vec.Scale(1e-12, p.Data.Features)
		m := &AGM{One: one}
		s := traintest.Start(t, m, p)
		traintest.Passes(t, m, p, s, 5)
		if !(s.Gap() < 1e-5*s.Primal) {
			t.Errorf("the memory of one: %v: objective %g, gap %g", one, s.Primal, s.Gap())
		}
	}
}
