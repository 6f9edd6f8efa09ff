package kindstest

import (
	"fmt"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
	"github.com/dsp-go/dsp/train/methods/quasinewton"
	"github.com/dsp-go/dsp/train/methods/sdca"
	"github.com/dsp-go/dsp/train/traintest"
)

// On choices, windows, segments, second-order chains and constituents, too, methods of all families certify the same
// optimum: their intervals [dual, objective] overlap.
func TestBoxesAreCertified(t *testing.T) {
	if testing.Short() {
		t.Skip("long; the race detector runs shorter tests of the same code")
	}
	smooth := func() []train.Method {
		return []train.Method{&methods.SVRG{}, &methods.SAGA{}, &methods.Casimir{}, &quasinewton.LBFGS{}, &sdca.SDCA{}, &sdca.SDCA{Online: true}, &methods.AGM{}}
	}
	hinge := func() []train.Method {
		return append(convexMethods(), &methods.BCFW{}, &methods.BCPFW{}, &methods.FrankWolfe{}, &methods.CuttingPlane{}, &methods.NSlack{}, &methods.AGM{})
	}
	for _, c := range []struct {
		name    string
		problem *train.Problem
		methods []train.Method
		gap     float64 // of the slowest, saga: its smoothing has some way to fall after 60 passes, while cutting-plane is at 1e-5
	}{
		{"choice, hinge", traintest.ChoiceProblem(60, engine.Hinge, traintest.L2, 1./60), hinge(), 1e-2},
		{"choice, crf", traintest.ChoiceProblem(60, engine.CRF, traintest.Entropy, 1./60), smooth(), 1e-3},
		{"choice, softmax-margin", traintest.ChoiceProblem(60, engine.SoftmaxMargin, traintest.Entropy, 1./60), smooth(), 1e-3},
		{"segments, hinge", traintest.SegmentProblem(40, engine.Hinge, traintest.L2, 0.1), hinge(), 3e-2}, // mostly noise
		{"segments, crf", traintest.SegmentProblem(40, engine.CRF, traintest.Entropy, 1./40), smooth(), 1e-3},
		{"segments, softmax-margin", traintest.SegmentProblem(40, engine.SoftmaxMargin, traintest.Entropy, 1./40), smooth(), 1e-3},
		{"counted segments, hinge", traintest.CountedSegmentProblem(20, engine.Hinge, traintest.L2, 1./20), hinge(), 8e-2},
		{"counted segments, softmax-margin", traintest.CountedSegmentProblem(20, engine.SoftmaxMargin, traintest.Entropy, 1./20), smooth(), 1e-3},
		{"second-order chains, hinge", traintest.SecondChainProblem(15, engine.Hinge, traintest.L2, 1./15), hinge(), 5e-2},
		{"second-order chains, crf", traintest.SecondChainProblem(15, engine.CRF, traintest.Entropy, 1./15), smooth(), 1e-3},
		{"constituents, hinge", traintest.ConstituentProblem(20, engine.Hinge, traintest.L2, 1./20), hinge(), 5e-2},
		{"constituents, crf", traintest.ConstituentProblem(40, engine.CRF, traintest.Entropy, 1./40), smooth(), 1e-3},
		{"constituents, softmax-margin", traintest.ConstituentProblem(40, engine.SoftmaxMargin, traintest.Entropy, 1./40), smooth(), 1e-3},
		{"window, hinge", traintest.WindowProblem(30, traintest.L2, 1./30), hinge(), 1e-2},
	} {
		t.Run(c.name, func(t *testing.T) {
			agree(t, c.problem, c.methods, func(m train.Method) int {
				switch m.(type) {
				case *methods.BCFW, *methods.CuttingPlane:
					return 400
				case *methods.FrankWolfe:
					return 1000
				case *methods.AGM:
					return 100
				}
				return 60
			}, c.gap, 1e-5)
		})
	}
}

// A window has no sums and no partial gold outputs: the objective says so.
func TestWindowsRefuse(t *testing.T) {
	for _, loss := range []engine.Loss{engine.CRF, engine.SoftmaxMargin} {
		p := traintest.WindowProblem(3, oracles.Smoothing{}, 0.1)
		p.Loss = loss
		if err := p.Check(); !structured.IsBadInput(err) {
			t.Errorf("%v: %v", loss, err)
		}
	}
	p := traintest.WindowProblem(3, oracles.Smoothing{}, 0.1)
	if err := p.Check(); err != nil {
		t.Error(err)
	}
	p.Data.LabelSets = [][]int32{nil}
	p.Data.Labels[5] = -1
	if err := p.Check(); !structured.IsBadInput(err) {
		t.Errorf("partial box: %v", err)
	}
	if err := traintest.Entropy.Check(p.Kind().Oracle(), p.Kind().Name()); !structured.IsBadInput(err) {
		t.Errorf("entropy: %v", err)
	}
	choice := traintest.ChoiceProblem(3, engine.CRF, oracles.Smoothing{}, 0.1)
	if err := choice.Check(); err != nil {
		t.Error(fmt.Errorf("choice: %w", err))
	}
}
