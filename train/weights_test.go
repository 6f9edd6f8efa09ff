package train_test

import (
	"math"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
	"github.com/dsp-go/dsp/train/methods/quasinewton"
	"github.com/dsp-go/dsp/train/methods/sdca"
	"github.com/dsp-go/dsp/train/traintest"
)

// Every method treats an example of weight c as c copies of the example, and ignores an example of weight zero. n times
// the objective has the same minimum if nλ is the same.
func TestWeightsCountExamples(t *testing.T) {
	hinge := oracles.Smoothing{Kind: oracles.Entropy}
	for _, c := range []struct {
		name      string
		method    func() train.Method
		loss      engine.Loss
		smoothing oracles.Smoothing
		passes    int
		tolerance float64 // of the gap, or of F for methods without a certificate
	}{
		{"svrg", func() train.Method { return &methods.SVRG{} }, engine.CRF, oracles.Smoothing{}, 40, 1e-3},
		{"svrg, hinge", func() train.Method { return &methods.SVRG{} }, engine.Hinge, hinge, 60, 2e-2},
		{"saga", func() train.Method { return &methods.SAGA{} }, engine.CRF, oracles.Smoothing{}, 40, 1e-3},
		{"casimir", func() train.Method { return &methods.Casimir{} }, engine.Hinge, hinge, 60, 1e-2},
		{"casimir-adapt", func() train.Method { return &methods.Casimir{Adaptive: true} }, engine.SoftmaxMargin, oracles.Smoothing{}, 60, 1e-3},
		{"bcfw", func() train.Method { return &methods.BCFW{} }, engine.Hinge, oracles.Smoothing{}, 150, 5e-2},
		{"bcpfw", func() train.Method { return &methods.BCPFW{} }, engine.Hinge, oracles.Smoothing{}, 150, 1e-2},
		{"agm", func() train.Method { return &methods.AGM{} }, engine.CRF, oracles.Smoothing{}, 60, 1e-3},
		{"fw", func() train.Method { return &methods.FrankWolfe{} }, engine.Hinge, oracles.Smoothing{}, 400, 1e-1}, // its gap falls as 1/k
		{"cutting-plane", func() train.Method { return &methods.CuttingPlane{} }, engine.Hinge, oracles.Smoothing{}, 150, 1e-2},
		{"n-slack", func() train.Method { return &methods.NSlack{} }, engine.Hinge, oracles.Smoothing{}, 100, 1e-2},
		{"oeg", func() train.Method { return &sdca.SDCA{Online: true} }, engine.CRF, oracles.Smoothing{}, 60, 1e-2},
		{"oeg, hinge", func() train.Method { return &sdca.SDCA{Online: true} }, engine.Hinge, oracles.Smoothing{}, 400, 1e-1},
		{"sdca", func() train.Method { return &sdca.SDCA{} }, engine.CRF, oracles.Smoothing{}, 40, 1e-3},
		{"sdca, softmax-margin", func() train.Method { return &sdca.SDCA{} }, engine.SoftmaxMargin, oracles.Smoothing{}, 40, 1e-3},
		{"lbfgs", func() train.Method { return &quasinewton.LBFGS{} }, engine.CRF, oracles.Smoothing{}, 60, 1e-3},
		{"sgd", func() train.Method { return &methods.SGD{} }, engine.CRF, oracles.Smoothing{}, 60, 1e-2},
		{"prox-linear", func() train.Method { return &methods.ProxLinear{} }, engine.CRF, oracles.Smoothing{}, 60, 1e-2},
		{"prox-linear, hinge", func() train.Method { return &methods.ProxLinear{} }, engine.Hinge, oracles.Smoothing{}, 60, 1e-1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			least := func(repeated bool) (dual, primal float64) {
				p := traintest.NoisyProblem(40, c.loss, c.smoothing, 0)
				var times []int
				for i := range p.Len() {
					p.Data.Weights = append(p.Data.Weights, float64(i%4))
					for range i % 4 {
						times = append(times, i)
					}
				}
				if repeated {
					o := *p.Objective
					o.Data = p.Data.Subset(times)
					o.Data.Weights = nil
					p.Engine = engine.NewEngine(&o, 1)
				}
				n := float64(p.Len())
				p.Lambda = 2 / n
				m := c.method()
				s := traintest.Start(t, m, p)
				traintest.Passes(t, m, p, s, c.passes)
				return n * s.Dual, n * s.Primal
			}
			dual, primal := least(false)
			wantDual, want := least(true)
			if gap := primal - dual; gap > c.tolerance*primal {
				t.Errorf("gap %g of %g", gap, primal)
			}
			if math.Abs(primal-want) > c.tolerance*want || primal < wantDual*(1-1e-6) || want < dual*(1-1e-6) {
				t.Errorf("weighted: %.6g to %.6g; repeated: %.6g to %.6g", dual, primal, wantDual, want)
			}
		})
	}
}
