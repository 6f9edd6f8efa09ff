package train

import (
	"math"
	"testing"

	"github.com/dsp-go/dsp/oracles"
)

// An example of weight c is, to every method, that example c times, and one of weight zero none: n times the objective has
// the same least value where nλ is the same.
func TestWeightsCountExamples(t *testing.T) {
	hinge := oracles.Smoothing{Kind: oracles.Entropy}
	for _, c := range []struct {
		name      string
		method    func() Method
		loss      Loss
		smoothing oracles.Smoothing
		passes    int
		tolerance float64 // of methods that certify nothing, else of the gap
	}{
		{"svrg", func() Method { return &SVRG{} }, CRF, oracles.Smoothing{}, 40, 1e-3},
		{"svrg, hinge", func() Method { return &SVRG{} }, Hinge, hinge, 60, 2e-2},
		{"saga", func() Method { return &SAGA{} }, CRF, oracles.Smoothing{}, 40, 1e-3},
		{"casimir", func() Method { return &Casimir{} }, Hinge, hinge, 60, 1e-2},
		{"casimir-adapt", func() Method { return &Casimir{Adaptive: true} }, SoftmaxMargin, oracles.Smoothing{}, 60, 1e-3},
		{"bcfw", func() Method { return &BCFW{} }, Hinge, oracles.Smoothing{}, 150, 5e-2},
		{"bcpfw", func() Method { return &BCPFW{} }, Hinge, oracles.Smoothing{}, 150, 1e-2},
		{"sdca", func() Method { return &SDCA{} }, CRF, oracles.Smoothing{}, 40, 1e-3},
		{"sdca, softmax-margin", func() Method { return &SDCA{} }, SoftmaxMargin, oracles.Smoothing{}, 40, 1e-3},
		{"lbfgs", func() Method { return &LBFGS{} }, CRF, oracles.Smoothing{}, 60, 1e-3},
		{"sgd", func() Method { return &SGD{} }, CRF, oracles.Smoothing{}, 60, 1e-2},
		{"prox-linear", func() Method { return &ProxLinear{} }, CRF, oracles.Smoothing{}, 60, 1e-2},
		{"prox-linear, hinge", func() Method { return &ProxLinear{} }, Hinge, oracles.Smoothing{}, 60, 1e-1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			least := func(repeated bool) (dual, primal float64) {
				p := noisyProblem(40, c.loss, c.smoothing, 0)
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
					p.Engine = NewEngine(&o, 1)
				}
				n := float64(p.Len())
				p.Lambda = 2 / n
				m := c.method()
				s := start(t, m, p)
				passes(t, m, p, s, c.passes)
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
