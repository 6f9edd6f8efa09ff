package methods

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/seeds"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods/quasinewton"
	"github.com/dsp-go/dsp/train/methods/sdca"
	"github.com/dsp-go/dsp/train/traintest"
)

// teach replaces the gold outputs of a problem by the marginals of a model of the same form with weights w.
func teach(t *testing.T, p *train.Problem, w []float32) {
	t.Helper()
	targets := engine.NewMemory(p.Objective)
	worker, oracle := p.Scorer.NewWorker(), p.Kind().Oracle().(oracles.Summer)
	var batch structured.Batch
	var θ structured.Potentials
	var u structured.Marginals
	for i := range p.Len() {
		batch.Reset(p.Data, []int{i})
		if err := worker.Score(w, &batch, &θ); err != nil {
			t.Fatal(err)
		}
		oracle.Exp(&θ, 1, make([]float64, 1), &u)
		targets.Set(i, &u, 0)
	}
	p.Completion, p.Soft = targets, true
}

// crossEntropy is the objective with soft targets, computed example by example.
func crossEntropy(t *testing.T, p *train.Problem, w []float32) float64 {
	t.Helper()
	worker, oracle := p.Scorer.NewWorker(), p.Kind().Oracle().(oracles.Summer)
	var batch structured.Batch
	var θ structured.Potentials
	sum, square, value := 0.0, 0.0, make([]float64, 1)
	for i := range p.Len() {
		batch.Reset(p.Data, []int{i})
		if err := worker.Score(w, &batch, &θ); err != nil {
			t.Fatal(err)
		}
		oracle.Exp(&θ, 1, value, nil)
		sum += oracles.CrossEntropy(&p.Completion.Marginals, i, &θ, 0, 1, value[0])
	}
	for _, x := range w {
		square += float64(x) * float64(x)
	}
	return sum/float64(p.Len()) + p.Lambda/2*square
}

// With the marginals of a teacher as targets the problem is convex: every method certifies the same optimum, and F is
// the cross-entropy.
func TestSoftTargetsAreConvex(t *testing.T) {
	for name, p := range map[string]*train.Problem{
		"chains": traintest.NoisyProblem(80, engine.CRF, oracles.Smoothing{}, 1./80),
		"choice": traintest.ChoiceProblem(80, engine.CRF, oracles.Smoothing{}, 1./80),
	} {
		t.Run(name, func(t *testing.T) {
			r := seeds.Rand(t)
			w := make([]float32, p.Scorer.Dim())
			for j := range w {
				w[j] = float32(r.NormFloat64())
			}
			teach(t, p, w)
			lo, hi := math.Inf(-1), math.Inf(1)
			for _, m := range append(convexMethods(), &sdca.SDCA{}, &sdca.SDCA{Online: true}, &quasinewton.LBFGS{}, &ProxLinear{Inner: func(int) train.Method { return &sdca.SDCA{} }, WarmUp: -1}) {
				s := traintest.Start(t, m, p)
				traintest.Passes(t, m, p, s, 60)
				want := crossEntropy(t, p, s.W)
				_, rounded, err := p.Upper(context.Background(), s.W) // F may be rounded up, by so much
				if err != nil {
					t.Fatal(err)
				}
				if d := s.Primal - want; d < -1e-6*(1+want) || d > rounded+1e-5*(1+want) {
					t.Errorf("%s: F %.9g, the cross-entropy is %.9g", m.Name(), s.Primal, want)
				}
				if s.Primal > crossEntropy(t, p, make([]float32, len(w))) {
					t.Errorf("%s: F %g, no better than without learning", m.Name(), s.Primal)
				}
				if !math.IsNaN(s.Dual) {
					if gap := s.Gap() / s.Primal; !(gap < 5e-2) {
						t.Errorf("%s: relative gap %g", m.Name(), gap)
					}
					lo = max(lo, s.Dual)
				}
				hi = min(hi, s.Primal)
			}
			if lo > hi+1e-6*(1+math.Abs(hi)) {
				t.Errorf("the intervals do not overlap: dual %.9g, primal %.9g", lo, hi)
			}
		})
	}
}

// Without much of a regulariser, the student is its teacher.
func TestStudentLearnsTeacher(t *testing.T) {
	p := traintest.NoisyProblem(80, engine.CRF, oracles.Smoothing{}, 1e-7)
	r := rand.New(rand.NewPCG(5, 1))
	w := make([]float32, p.Scorer.Dim())
	for j := range w {
		w[j] = float32(r.NormFloat64() / 2)
	}
	teach(t, p, w)
	entropy := crossEntropy(t, p, w) // of the teacher, and so the least cross-entropy
	m := &quasinewton.LBFGS{}
	s := traintest.Start(t, m, p)
	before, err := p.Value(context.Background(), s.W)
	if err != nil {
		t.Fatal(err)
	}
	traintest.Passes(t, m, p, s, 60)
	if kl := s.Primal - entropy; kl > 1e-3 || before-entropy < 0.1 {
		t.Errorf("KL from the teacher %g, at first %g", kl, before-entropy)
	}
}
