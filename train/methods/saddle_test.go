package methods

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// ballProblem has weights in a ball, on dense or sparse inputs.
func ballProblem(t *testing.T, sparse bool, λ float64, threads int) *train.Problem {
	p := traintest.NoisyProblem(40, engine.Hinge, traintest.Entropy, λ)
	if sparse {
		p = traintest.AttributeProblem(t, 40, 8, 3, 4, engine.Hinge, λ)
	}
	o := *p.Objective
	o.Radius = 5
	p.Engine = engine.NewEngine(&o, threads)
	return p
}

// Weights stay in the ball, few of them differ from zero, F falls, the gap narrows, and bits are those of any number of
// threads and of a run that was interrupted.
func TestSaddles(t *testing.T) {
	for share, make := range map[float64]func() train.Method{0.9: func() train.Method { return &SaddleFW{} }, 0.5: func() train.Method { return &SaddleBCFW{} }} { // of the first gap
		for _, sparse := range []bool{false, true} {
			for _, λ := range []float64{0, 0.05} {
				m, p := make(), ballProblem(t, sparse, λ, 1)
				s := traintest.Start(t, m, p)
				traintest.Passes(t, m, p, s, 4)
				shelf, early := &traintest.Shelf{Values: map[string]any{}}, s.Gap()
				m.Archive(shelf)
				half := *s
				half.W = slices.Clone(s.W)
				traintest.Passes(t, m, p, s, 20)
				norm := 0.0
				for _, w := range s.W {
					norm += math.Abs(float64(w))
				}
				if norm > p.Radius || !(s.Gap() < share*early) {
					t.Errorf("%s, sparse %v, λ = %g: ‖w‖₁ = %g, gap %g, at first %g", m.Name(), sparse, λ, norm, s.Gap(), early)
				}
				again, q := make(), ballProblem(t, sparse, λ, 3)
				shelf.Restoring = true
				again.Archive(shelf)
				traintest.Begin(t, again, q, &half)
				traintest.Passes(t, again, q, &half, 20)
				if !slices.Equal(s.W, half.W) || s.Dual != half.Dual {
					t.Errorf("%s, sparse %v, λ = %g: other bits with three threads, after a restart", m.Name(), sparse, λ)
				}
			}
		}
	}
}

// With λ > 0 the optimum lies inside of a large ball, and steps towards its corners close the interval.
func TestSaddleFWClosesInside(t *testing.T) {
	for _, λ := range []float64{1, 2} {
		m, p := &SaddleFW{}, ballProblem(t, false, λ, 1)
		s := traintest.Start(t, m, p)
		traintest.Passes(t, m, p, s, 300)
		norm := 0.0
		for _, w := range s.W {
			norm += math.Abs(float64(w))
		}
		if !(s.Gap() >= 0 && s.Gap() < 0.02*s.Primal) || norm > p.Radius*(1-1e-3) {
			t.Errorf("λ = %g: the gap is %.3g of %.3g after 300 passes, at ‖w‖₁ = %.3g", λ, s.Gap(), s.Primal, norm)
		}
	}
}

// On sparse inputs the tournament finds the corner that a scan of all weights finds, in the middle of a pass.
func TestSaddleCorner(t *testing.T) {
	for _, λ := range []float64{0, 0.3} {
		m, p := &SaddleBCFW{}, ballProblem(t, true, λ, 1)
		s := traintest.Start(t, m, p)
		traintest.Passes(t, m, p, s, 2)
		for k := range 200 {
			if err := m.step(t.Context(), p, []int{k % p.Len()}, 0.2); err != nil {
				t.Fatal(err)
			}
			_, r := m.corner(p)
			most := 0.0
			for j, g := range m.g {
				most = max(most, math.Abs(float64(g)+λ*m.scale*float64(m.v[j])))
			}
			if math.Abs(r) != most {
				t.Fatalf("λ = %g, step %d: the tournament finds %g, a scan %g", λ, k, r, most)
			}
		}
	}
}

// A tournament knows its strongest player.
func TestTournament(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		strength := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 20).Draw(t, "strengths")
		games := newTournament(len(strength), func(k int) float64 { return strength[k] })
		for range 10 {
			if w := games.winner(); strength[w] != slices.Max(strength) {
				t.Fatalf("player %d of %v wins", w, strength)
			}
			k := rapid.IntRange(0, len(strength)-1).Draw(t, "player")
			strength[k] = rapid.Float64Range(0, 1).Draw(t, "strength")
			games.play(k)
		}
	})
}

// Saddle-point methods need a ball, others refuse it, and so does a prior.
func TestSaddleRefusals(t *testing.T) {
	p := ballProblem(t, false, 0.1, 1)
	for _, m := range []train.Method{&BCFW{}, &FrankWolfe{}, &SVRG{}, &SGD{}} {
		if err := train.CheckRadius(m, p.Objective); !structured.IsBadInput(err) {
			t.Errorf("%s: %v", m.Name(), err)
		}
	}
	free, prior, crf := ballProblem(t, false, 0.1, 1), traintest.Shifted(p), ballProblem(t, false, 0.1, 1)
	free.Radius, crf.Loss = 0, engine.CRF
	for name, p := range map[string]*train.Problem{"no radius": free, "a prior": prior, "crf": crf} {
		for _, m := range []train.Method{&SaddleFW{}, &SaddleBCFW{}} {
			if err := m.Start(t.Context(), p, train.NewState(make([]float32, p.Scorer.Dim()))); !structured.IsBadInput(err) {
				t.Errorf("%s, %s: %v", m.Name(), name, err)
			}
		}
	}
}

// A net without weights has nothing to learn, and its interval holds the loss that it has.
func TestSaddlesWithoutWeights(t *testing.T) {
	net, err := sparse.NewChain(0, 0, 3, nets.EdgesNone)
	if err != nil {
		t.Fatal(err)
	}
	d := traintest.SparseChains(1, 5, 1, 3, false)
	d.Attributes = &structured.Sparse{Offsets: make([]int, d.Positions()+1)}
	o := &engine.Objective{Scorer: net, Data: d, Loss: engine.Hinge, Radius: 1}
	for _, m := range []train.Method{&SaddleFW{}, &SaddleBCFW{}} {
		p := &train.Problem{Engine: engine.NewEngine(o, 1), Seed: 3}
		s := traintest.Start(t, m, p)
		traintest.Passes(t, m, p, s, 2)
		loss := float64(d.Positions()) / float64(p.Len())
		if s.Dual > loss || s.Primal < loss || s.Primal > loss*(1+1e-4) {
			t.Errorf("%s: [%g, %g], the loss is %g", m.Name(), s.Dual, s.Primal, loss)
		}
	}
}
