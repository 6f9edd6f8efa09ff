package methods

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// Every schedule and averaging comes near the optimum of a convex problem that BCFW has certified.
func TestSGDReachesBCFW(t *testing.T) {
	p := traintest.LinearProblem(80, 1, 0.05, 2)
	b := &BCFW{}
	sb := traintest.Start(t, b, p)
	traintest.Passes(t, b, p, sb, 300)
	for _, m := range []*SGD{
		{},
		{Schedule: InverseSchedule},
		{Schedule: StairsSchedule, Halving: 160},
		{Schedule: PegasosSchedule},
		{Schedule: ConstantSchedule, Rate: 0.004},
		{Averaging: UniformAverage},
		{Averaging: PassAverage},
		{Averaging: NoAverage, Schedule: InverseSchedule},
	} {
		t.Run(m.Schedule.String()+" "+m.Averaging.String(), func(t *testing.T) {
			s := traintest.Start(t, m, p)
			traintest.Passes(t, m, p, s, 60)
			t.Logf("γ0 %.3g, primal %.5f, optimum in [%.5f, %.5f]", m.rate, s.Primal, sb.Dual, sb.Primal)
			if s.Primal < sb.Dual-1e-6 || s.Primal > sb.Primal*1.03 {
				t.Errorf("primal %g, optimum in [%g, %g]", s.Primal, sb.Dual, sb.Primal)
			}
		})
	}
}

// A pass of SGD with batches of all examples is one subgradient step, which finite differences can check.
func TestSGDStepDescends(t *testing.T) {
	ctx := context.Background()
	p := traintest.NetProblem(20, 20, 1)
	p.Loss = engine.SoftmaxMargin
	w := p.Scorer.(*traintest.Net).Glorot(1)
	m := &SGD{Rate: 1e-3, Schedule: ConstantSchedule, Averaging: NoAverage}
	s := train.NewState(append([]float32(nil), w...))
	before, err := p.Value(ctx, w)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Start(ctx, p, s); err != nil {
		t.Fatal(err)
	}
	traintest.Passes(t, m, p, s, 1)
	step := 0.0
	for j := range w {
		step += math.Pow(float64(w[j]-s.W[j]), 2)
	}
	traintest.Near(t, "decrease", before-s.Primal, step/m.Rate, 2e-2)
}

func TestSGDLearnsNet(t *testing.T) {
	p := traintest.NetProblem(200, 8, 2)
	s := train.NewState(p.Scorer.(*traintest.Net).Glorot(1))
	m := &SGD{}
	if err := m.Start(context.Background(), p, s); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		traintest.Passes(t, m, p, s, 1)
		t.Logf("γ0 %.3g pass %d F %.4f", m.rate, s.Passes, s.Primal)
	}
	if s.Primal > 0.3 {
		t.Errorf("F is %g after %d passes", s.Primal, s.Passes)
	}
}

// A searched γ0 that turns out to be far too large is undone after the first pass.
func TestSGDTakesBackExplosion(t *testing.T) {
	p := traintest.NetProblem(100, 4, 1)
	m, s := &SGD{}, traintest.GlorotState(p)
	traintest.Begin(t, m, p, s)
	for range 3 { // 1000 times too large, as if the search had gone wrong
		m.rate *= 10
	}
	good, from := m.first, slices.Clone(s.W)
	traintest.Passes(t, m, p, s, 1)
	if !slices.Equal(s.W, from) || s.Primal != good {
		t.Fatalf("F went from %g to %g", good, s.Primal)
	}
	traintest.Passes(t, m, p, s, 14)
	t.Logf("γ0 %.3g, F %.4f", m.rate, s.Primal)
	if !(s.Primal < good) || m.first != 0 {
		t.Errorf("F went from %g to %g", good, s.Primal)
	}
}

// The search for a step length finds the valley where the scale that it begins at, and a fourth of that, diverge.
func TestSearchPowerLeavesDivergence(t *testing.T) {
	for _, valley := range []float64{1e-6, 1e-3, 1, 1e3} {
		γ, err := searchPower(1, searchTrials, func(γ float64) (float64, error) {
			if γ > 4*valley {
				return math.Inf(1), nil
			}
			return math.Abs(math.Log(γ / valley)), nil
		})
		if err != nil || γ < valley/2 || γ > 2*valley {
			t.Errorf("found %g, the valley is at %g (%v)", γ, valley, err)
		}
	}
}

// A given γ0 that is far too large ends with an error that says where.
func TestSGDDiverges(t *testing.T) {
	p := traintest.NetProblem(20, 1, 2)
	m, s := &SGD{Rate: 1e30}, traintest.GlorotState(p)
	traintest.Begin(t, m, p, s)
	var err error
	for range 5 {
		if err = m.Pass(t.Context(), p, s); err != nil {
			break
		}
	}
	var bad *engine.NonFiniteError
	if !errors.As(err, &bad) || bad.Where == "" {
		t.Errorf("got %v, want a NonFiniteError", err)
	}
}
