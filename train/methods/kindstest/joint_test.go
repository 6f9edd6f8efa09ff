package kindstest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
	"github.com/dsp-go/dsp/train/methods/quasinewton"
	"github.com/dsp-go/dsp/train/methods/sdca"
	"github.com/dsp-go/dsp/train/traintest"
)

// interval runs a method and returns its certified interval.
func interval(t *testing.T, m train.Method, p *train.Problem, passes int) (s *train.State) {
	t.Helper()
	s = traintest.Start(t, m, p)
	for range passes {
		if s.Done {
			break
		}
		traintest.Passes(t, m, p, s, 1)
	}
	if certifier, ok := m.(train.Certifier); ok {
		traintest.Certify(t, certifier, p, s)
	}
	traintest.Near(t, m.Name()+": F(W)", s.Primal, traintest.Upper(t, p.Engine, s.W), 1e-5)
	return s
}

// With dense inputs beside attributes, every method certifies the optimum of the problem in which dense inputs are
// attributes with values.
func TestJointEqualsAttributes(t *testing.T) {
	if testing.Short() {
		t.Skip("long; the race detector runs shorter tests of the same code")
	}
	smooth := func() []train.Method {
		return []train.Method{&quasinewton.LBFGS{}, &methods.SVRG{}, &methods.SAGA{}, &methods.Casimir{}, &sdca.SDCA{}, &sdca.SDCA{Async: true}}
	}
	hinge := func() []train.Method {
		return []train.Method{&methods.BCPFW{}, &methods.BCFW{}, &methods.SVRG{}, &methods.Casimir{}}
	}
	for _, c := range []struct {
		name    string
		problem *train.Problem
		methods []train.Method
		gap     float64
	}{
		{"crf", traintest.JointProblem(t, 30, 0, 7, engine.CRF, 1./30), smooth(), 1e-4},
		{"crf with attributes of steps, shifted", traintest.Shifted(traintest.JointProblem(t, 40, 3, 5, engine.CRF, 0.05)), smooth(), 1e-4},
		{"softmax-margin", traintest.JointProblem(t, 30, 0, 7, engine.SoftmaxMargin, 1./20), smooth(), 1e-4},
		{"hinge", traintest.JointProblem(t, 60, 0, 7, engine.Hinge, 1./20), hinge(), 1e-2},
	} {
		c.problem.Smoothing = oracles.Smoothing{Kind: oracles.Entropy}
		t.Run(c.name, func(t *testing.T) {
			same := traintest.AsAttributes(t, c.problem)
			if c.problem.Center != nil {
				same.Center = make([]float32, same.Scorer.Dim())
				same.Center = centreAsAttributes(c.problem, same)
			}
			want := interval(t, c.methods[0], same, 300)
			lo, hi := want.Dual, want.Primal
			for _, m := range slices.Concat(c.methods[1:], []train.Method{fresh(c.methods[0])}) {
				s := interval(t, m, c.problem, 300)
				t.Logf("%s: %.7g to %.7g", m.Name(), s.Dual, s.Primal)
				if !(s.Gap() <= c.gap*s.Primal) {
					t.Errorf("%s: relative gap %g", m.Name(), s.Gap()/s.Primal)
				}
				lo, hi = max(lo, s.Dual), min(hi, s.Primal)
			}
			if lo > hi {
				t.Errorf("the intervals do not overlap: dual %.9g, primal %.9g", lo, hi)
			}
		})
	}
}

// fresh returns a new method of the same kind.
func fresh(m train.Method) train.Method {
	if _, ok := m.(*quasinewton.LBFGS); ok {
		return &quasinewton.LBFGS{}
	}
	return &methods.BCPFW{}
}

// centreAsAttributes reorders the centre: bias, attributes, dense weights, and the rest.
func centreAsAttributes(p, same *train.Problem) []float32 {
	const labels, attributes = 3, 30
	dim := p.Data.Dim
	c := p.Center
	bias, rest := c[:labels], c[labels:]
	upTo := (attributes + dim) * labels
	all := slices.Concat(rest[:upTo], bias, rest[upTo:])
	if len(all) != same.Scorer.Dim() {
		panic(fmt.Sprintf("%d weights, expected %d", len(all), same.Scorer.Dim()))
	}
	return all
}

// λ₁ is on the weights of attributes only: where F is least, its gradient is zero in all other weights, and the methods
// agree.
func TestJointWithL1(t *testing.T) {
	if testing.Short() {
		t.Skip("long; the race detector runs shorter tests of the same code")
	}
	for _, c := range []struct {
		name    string
		problem *train.Problem
		methods []train.Method
		gap     float64
	}{
		{"crf", traintest.JointProblem(t, 60, 3, 7, engine.CRF, 0.02), []train.Method{&quasinewton.OWLQN{}, &sdca.SDCA{}, &sdca.SDCA{Async: true}}, 1e-4},
		{"crf without λ", traintest.JointProblem(t, 60, 0, 2, engine.CRF, 0), []train.Method{&quasinewton.OWLQN{}, &sdca.SDCA{}}, math.Inf(1)},
		{"hinge", traintest.JointProblem(t, 60, 0, 7, engine.Hinge, 0.05), []train.Method{&methods.BCPFW{}, &methods.BCFW{}}, 2e-2},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := c.problem
			p.L1 = 0.02
			lo, hi, objectives := math.Inf(-1), math.Inf(1), []float64{}
			for _, m := range c.methods {
				s := interval(t, m, p, 400)
				t.Logf("%s: %.7g to %.7g", m.Name(), s.Dual, s.Primal)
				if !(s.Gap() <= c.gap*s.Primal) {
					t.Errorf("%s: relative gap %g", m.Name(), s.Gap()/s.Primal)
				}
				lo, hi = max(lo, s.Dual), min(hi, s.Primal)
				objectives = append(objectives, s.Primal)
				zeros := 0
				free := make([]bool, len(s.W))
				for _, r := range nets.Unshrunk(p.Scorer) {
					for j := r[0]; j < r[1]; j++ {
						free[j] = true
					}
				}
				for j, x := range s.W {
					if x == 0 && free[j] {
						t.Errorf("%s: weight %d, which λ₁ leaves alone, is zero", m.Name(), j)
					} else if x == 0 {
						zeros++
					}
				}
				if zeros == 0 {
					t.Errorf("%s: no weight of an attribute is zero", m.Name())
				}
				if p.Loss != engine.CRF {
					continue
				}
				pass, err := p.FullPass(t.Context(), s.W, oracles.Smoothing{}, nil)
				if err != nil {
					t.Fatal(err)
				}
				for j, g := range pass.Grad {
					if slope := float64(g) + p.Lambda*float64(s.W[j]); free[j] && math.Abs(slope) > 2e-3 {
						t.Errorf("%s: F has slope %g in weight %d, which λ₁ leaves alone", m.Name(), slope, j)
					}
				}
			}
			if lo > hi+1e-6*hi {
				t.Errorf("the intervals do not overlap: dual %.9g, primal %.9g", lo, hi)
			}
			if least := slices.Min(objectives); slices.Max(objectives) > least*(1+min(c.gap, 1e-2)) {
				t.Errorf("objectives %.9g differ", objectives)
			}
		})
	}
}

// Passes over few examples observe few steps. Their step size must not jump with what these few say: every seed reaches
// the optimum.
func TestStepSizesOfFewExamples(t *testing.T) {
	p := traintest.Shifted(traintest.JointProblem(t, 40, 3, 5, engine.CRF, 0.05))
	p.Smoothing = oracles.Smoothing{Kind: oracles.Entropy}
	for seed := range uint64(10) {
		p.Seed = seed
		for _, m := range []train.Method{&methods.SVRG{}, &methods.Casimir{}} {
			if s := interval(t, m, p, 60); !(s.Gap() <= 1e-4*s.Primal) {
				t.Errorf("%s, seed %d: relative gap %g after 60 passes", m.Name(), seed, s.Gap()/s.Primal)
			}
		}
	}
}
