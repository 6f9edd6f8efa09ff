package quasinewton

import (
	"context"
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
	"github.com/dsp-go/dsp/train/traintest"
)

// L-BFGS finds the optimum that SVRG certifies, and its own certificate closes.
func TestLBFGSConverges(t *testing.T) {
	smoothed := oracles.Smoothing{Kind: oracles.Entropy, Mu: 0.5}
	for _, c := range []struct {
		name    string
		problem *train.Problem
		gap     float64 // relative, before the allowance for rounding is taken off the dual
	}{
		{"crf", traintest.NoisyProblem(80, engine.CRF, oracles.Smoothing{}, 1./80), 1e-6},
		{"crf, weak λ", traintest.NoisyProblem(80, engine.CRF, oracles.Smoothing{}, 1e-4), 1e-4},
		{"crf, shifted", traintest.Shifted(traintest.NoisyProblem(80, engine.CRF, oracles.Smoothing{}, 0.1)), 1e-6},
		{"softmax-margin", traintest.NoisyProblem(80, engine.SoftmaxMargin, oracles.Smoothing{}, 1./80), 1e-6},
		{"hinge, entropy", traintest.NoisyProblem(80, engine.Hinge, smoothed, 1./80), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := c.problem
			m := &LBFGS{}
			s := traintest.Start(t, m, p)
			for k := 0; k < 300 && !s.Done; k++ {
				before, calls := m.f, s.OracleCalls
				traintest.Passes(t, m, p, s, 1)
				if m.f > before {
					t.Fatalf("pass %d: F rose from %g to %g", s.Passes, before, m.f)
				}
				if s.OracleCalls <= calls || s.OracleCalls%p.Len() != 0 {
					t.Fatalf("pass %d: %d oracle calls after %d", s.Passes, s.OracleCalls, calls)
				}
			}
			f, rounded, err := p.Upper(context.Background(), s.W)
			if err != nil {
				t.Fatal(err)
			}
			traintest.Near(t, "F(W)", s.Primal, f, 1e-9)
			if rounded += s.Rounding; c.gap > 0 && !(s.Gap() >= 0 && s.Gap()-rounded <= c.gap*s.Primal) {
				t.Errorf("relative gap %g, of which rounding is allowed %g, after %d passes", s.Gap()/s.Primal, rounded/s.Primal, s.Passes)
			}
			reference := &methods.SVRG{}
			best := traintest.Start(t, reference, p)
			traintest.Passes(t, reference, p, best, 200)
			least := best.Primal
			if c.problem.Loss == engine.Hinge {
				least = best.Smoothed
			}
			if math.Abs(m.f-least) > 1e-5*least {
				t.Errorf("F is %.9g, svrg finds %.9g", m.f, least)
			}
		})
	}
}

// States show of smoothing what there is: of a smooth loss nothing, whatever they showed before, and of the smoothed
// hinge its objective, temperature and, with ℓ₂, the share of exact answers.
func TestStatesShowTheSmoothing(t *testing.T) {
	entropy, l2 := traintest.Entropy, traintest.L2
	entropy.Mu, l2.Mu = 2, 2
	for _, c := range []struct {
		loss engine.Loss
		by   oracles.Smoothing
	}{{engine.CRF, oracles.Smoothing{}}, {engine.Hinge, entropy}, {engine.Hinge, l2}} {
		for _, m := range []train.Method{&LBFGS{}, &OWLQN{}} {
			p := traintest.NoisyProblem(12, c.loss, c.by, 0.5)
			s := traintest.Start(t, m, p)
			s.Smoothed, s.Mu, s.Kappa, s.Exact = 1e9, 1e9, 1e9, 1e9
			traintest.Passes(t, m, p, s, 1)
			smoothed, exact := !c.loss.Smooth(), c.by.Kind == oracles.L2
			if shows := !math.IsNaN(s.Smoothed); shows != smoothed || shows && !(s.Smoothed < 1e9) || (s.Mu > 0) != smoothed || s.Mu != c.by.Mu {
				t.Errorf("%s, %v: an objective of %g at temperature %g is shown, smoothing by %+v", m.Name(), c.loss, s.Smoothed, s.Mu, c.by)
			}
			if shows := !math.IsNaN(s.Exact); shows != exact || shows && !(s.Exact <= 1) || s.Kappa != 0 || s.Step != 0 {
				t.Errorf("%s, %v: exact answers %g, κ %g and a step of %g are shown", m.Name(), c.loss, s.Exact, s.Kappa, s.Step)
			}
		}
	}
}

// While μ falls, a state shows the objective smoothed by the μ that the next pass begins with, also after a pass in
// which it fell: a smoothed hinge that is less the larger μ is, and never more than the hinge.
func TestStatesShowTheFallingSmoothing(t *testing.T) {
	p := correlated(t, 1)
	p.Loss, p.Smoothing = engine.Hinge, traintest.Entropy
	m := &LBFGS{}
	s := traintest.Start(t, m, p)
	falls := 0
	for range 25 {
		before := m.μ
		traintest.Passes(t, m, p, s, 1)
		if s.Mu != m.μ || m.μ > before || !(s.Smoothed >= s.Dual) {
			t.Errorf("pass %d shows μ = %g with an objective of %g and a bound of %g, and goes on with %g after %g", s.Passes,
				s.Mu, s.Smoothed, s.Dual, m.μ, before)
		}
		if m.μ < before {
			falls++
		}
	}
	if falls < 2 {
		t.Errorf("μ falls %d times", falls)
	}
}

// If rounding prevents any further progress, the method says so.
func TestLBFGSIsDone(t *testing.T) {
	p := traintest.NoisyProblem(30, engine.CRF, oracles.Smoothing{}, 0.5)
	m := &LBFGS{}
	s := traintest.Start(t, m, p)
	for range 500 {
		if traintest.Passes(t, m, p, s, 1); s.Done {
			return
		}
	}
	t.Error("not done after 500 passes")
}

func TestLBFGSRefusesHinge(t *testing.T) {
	for _, by := range []oracles.Smoothing{{}, {Kind: oracles.L2}} {
		p := traintest.NoisyProblem(10, engine.Hinge, by, 0.1)
		if err := (&LBFGS{}).Start(context.Background(), p, train.NewState(make([]float32, p.Scorer.Dim()))); !structured.IsBadInput(err) {
			t.Errorf("the hinge without μ: %v", err)
		}
	}
}

func TestLBFGSThreads(t *testing.T) {
	var want []float32
	for _, threads := range []int{1, 2, 7} {
		p := traintest.NoisyProblem(60, engine.CRF, oracles.Smoothing{}, 0.05)
		p.Engine = engine.NewEngine(p.Objective, threads)
		m := &LBFGS{}
		s := traintest.Start(t, m, p)
		traintest.Passes(t, m, p, s, 12)
		if want == nil {
			want = s.W
		} else if !slices.Equal(want, s.W) {
			t.Errorf("other weights with %d threads", threads)
		}
	}
}

// correlated is a problem of net linear whose dense inputs are badly conditioned: mixtures of noisy chains' features,
// with means.
func correlated(t testing.TB, threads int) *train.Problem {
	d := traintest.NoisyChains(1, 200, 12, 4)
	r := rand.New(rand.NewPCG(1, 2))
	mix := make([]float64, d.Dim*d.Dim)
	for j := range mix {
		mix[j] = r.NormFloat64() * math.Pow(0.5, float64(j%d.Dim))
	}
	row := make([]float64, d.Dim)
	for p := range d.Positions() {
		x := d.Features[p*d.Dim:][:d.Dim]
		for j := range row {
			row[j] = 3
			for k, z := range x {
				row[j] += mix[j*d.Dim+k] * float64(z)
			}
		}
		for j := range x {
			x[j] = float32(row[j])
		}
	}
	net, err := nets.Make(nets.Config{Net: "linear", Edges: nets.EdgesTransition}, graph.Input{Dim: d.Dim}, nets.ChainOutput(4, nets.EdgesTransition))
	if err != nil {
		t.Fatal(err)
	}
	o := &engine.Objective{Scorer: net, Data: d, Loss: engine.CRF, Lambda: 1. / 200}
	return &train.Problem{Engine: engine.NewEngine(o, threads), Seed: 3}
}

// On correlated dense inputs the metric saves more than half of the passes over the data, and the optimum is the same.
func TestLBFGSInMetric(t *testing.T) {
	calls := map[bool]int{}
	low, high := math.Inf(-1), math.Inf(1)
	for _, plain := range []bool{false, true} {
		p := correlated(t, 1)
		m := &LBFGS{Plain: plain}
		s := traintest.Start(t, m, p)
		for s.Gap() > 1e-3*s.Primal {
			if traintest.Passes(t, m, p, s, 1); s.Passes > 2000 {
				t.Fatalf("plain %v: relative gap %v after %d passes", plain, s.Gap()/s.Primal, s.Passes)
			}
		}
		calls[plain] = s.OracleCalls
		low, high = max(low, s.Dual), min(high, s.Primal)
	}
	if low > high {
		t.Errorf("the largest dual is %v, the least objective %v", low, high)
	}
	if 2*calls[false] > calls[true] {
		t.Errorf("%d oracle calls in the metric, %d without", calls[false], calls[true])
	}
}

// A run that was saved and restored, between metrics and with any number of threads, goes on with the same bits.
func TestLBFGSResumesInMetric(t *testing.T) {
	var want []float32
	for _, c := range []struct{ threads, stop int }{{1, 0}, {2, 7}, {7, 15}, {1, 20}} {
		p := correlated(t, c.threads)
		m := &LBFGS{}
		s := traintest.Start(t, m, p)
		if c.stop > 0 {
			traintest.Passes(t, m, p, s, c.stop)
			kept := &traintest.Shelf{Values: map[string]any{}}
			m.Archive(kept)
			m, kept.Restoring = &LBFGS{}, true
			m.Archive(kept)
			if err := m.Start(t.Context(), p, s); err != nil {
				t.Fatal(err)
			}
		}
		traintest.Passes(t, m, p, s, 50-c.stop)
		if want == nil {
			want = s.W
		} else if !slices.Equal(want, s.W) {
			t.Errorf("stopped after %d passes, %d threads: other weights", c.stop, c.threads)
		}
	}
}

// Without a given μ the hinge's certificate closes, further than any fixed μ allows, with the same bits when resumed
// and for any threads.
func TestLBFGSAnneals(t *testing.T) {
	var want []float32
	for _, c := range []struct{ threads, stop int }{{1, 0}, {2, 11}, {7, 40}} {
		p := correlated(t, c.threads)
		p.Loss, p.Smoothing = engine.Hinge, traintest.Entropy
		m := &LBFGS{}
		s := traintest.Start(t, m, p)
		if c.stop > 0 {
			traintest.Passes(t, m, p, s, c.stop)
			kept := &traintest.Shelf{Values: map[string]any{}}
			m.Archive(kept)
			m, kept.Restoring = &LBFGS{}, true
			m.Archive(kept)
			if err := m.Start(t.Context(), p, s); err != nil {
				t.Fatal(err)
			}
		}
		traintest.Passes(t, m, p, s, 150-c.stop)
		if gap := s.Gap() / s.Primal; !(gap >= 0 && gap < 0.01) {
			t.Errorf("relative gap %v after %d passes, μ %v", gap, s.Passes, s.Mu)
		}
		if want == nil {
			want = s.W
		} else if !slices.Equal(want, s.W) {
			t.Errorf("stopped after %d passes, %d threads: other weights", c.stop, c.threads)
		}
	}
}
