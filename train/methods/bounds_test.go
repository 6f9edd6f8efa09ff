package methods

import (
	"fmt"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// boundedProblem has weights between bounds, on dense or sparse inputs.
func boundedProblem(t *testing.T, loss engine.Loss, sparse bool, bounds engine.Bounds, threads int) *train.Problem {
	p := traintest.NoisyProblem(40, loss, traintest.Entropy, 0.02)
	if sparse {
		p = traintest.AttributeProblem(t, 40, 8, 3, 4, loss, 0.02)
		p.Smoothing = traintest.Entropy
	}
	o := *p.Objective
	o.Bounds = &bounds
	p.Engine = engine.NewEngine(&o, threads)
	return p
}

// Weights stay between their bounds, some of them at the ends, and the model has the same bits for any number of
// threads and after a restart.
func TestBounds(t *testing.T) {
	for name, make := range map[string]func() train.Method{
		"bcfw": func() train.Method { return &BCFW{} }, "bcpfw": func() train.Method { return &BCPFW{} }, "fw": func() train.Method { return &FrankWolfe{} },
		"svrg": func() train.Method { return &SVRG{} }, "saga": func() train.Method { return &SAGA{} }, "sgd": func() train.Method { return &SGD{} },
	} {
		for _, sparse := range []bool{false, true} {
			for _, bounds := range []engine.Bounds{{Low: -0.05, High: 0.2}, {Low: 0.01, High: 3}} {
				t.Run(fmt.Sprint(name, sparse, bounds.Low), func(t *testing.T) {
					m, p := make(), boundedProblem(t, engine.Hinge, sparse, bounds, 1)
					s := traintest.Start(t, m, p)
					traintest.Passes(t, m, p, s, 5)
					shelf := &traintest.Shelf{Values: map[string]any{}}
					m.Archive(shelf)
					half := *s
					half.W = slices.Clone(s.W)
					traintest.Passes(t, m, p, s, 5)
					ends := 0
					for _, w := range s.W {
						if w < bounds.Low || w > bounds.High {
							t.Fatalf("a weight of %g", w)
						}
						if w == bounds.Low || w == bounds.High {
							ends++
						}
					}
					if ends == 0 {
						t.Error("the bounds restrict nothing: the test needs others")
					}
					again, q := make(), boundedProblem(t, engine.Hinge, sparse, bounds, 3)
					shelf.Restoring = true
					again.Archive(shelf)
					traintest.Begin(t, again, q, &half)
					traintest.Passes(t, again, q, &half, 5)
					if !slices.Equal(s.W, half.W) {
						t.Error("other bits with three threads, after a restart")
					}
				})
			}
		}
	}
}

// Methods that know no bounds are refused by name, as are objectives without a regulariser.
func TestBoundsAreRefused(t *testing.T) {
	p := boundedProblem(t, engine.Hinge, false, engine.Bounds{Low: 0, High: 1}, 1)
	for _, m := range []train.Method{&Casimir{}, &CuttingPlane{}, &AGM{}, &Adam{}, &ProxLinear{}} {
		if err := train.CheckBounds(m, p.Objective, false); !structured.IsBadInput(err) {
			t.Errorf("%s: %v", m.Name(), err)
		}
	}
	if err := (&SGD{Momentum: 0.9}).Start(t.Context(), p, train.NewState(make([]float32, p.Scorer.Dim()))); !structured.IsBadInput(err) {
		t.Errorf("momentum: %v", err)
	}
	free := *p.Objective
	free.Lambda = 0
	if err := train.CheckBounds(&BCFW{}, &free, false); !structured.IsBadInput(err) {
		t.Errorf("λ = 0: %v", err)
	}
	if err := train.CheckBounds(&BCFW{}, p.Objective, true); !structured.IsBadInput(err) {
		t.Errorf("a device: %v", err)
	}
}
