package methods

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// The minimiser of a mixture's bound is no farther from the centre than roundings are charged for, with and without
// thresholds.
func TestMixtureBoundsTheDistanceOfItsMinimiser(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	p := traintest.NoisyProblem(10, engine.CRF, oracles.Smoothing{}, 0.05)
	x := &dualMixture{grad: make([]float64, p.Scorer.Dim())}
	for range 200 {
		p.L1, p.Center = 0, nil
		if r.IntN(4) > 0 {
			p.L1 = math.Pow(10, 4*r.Float64()-3)
		}
		if r.IntN(4) > 0 {
			p.Center = traintest.DrawWeights(r, len(x.grad), math.Pow(10, 6*r.Float64()-3))
		}
		size, distance := math.Pow(10, 4*r.Float64()-3), 0.0
		for j := range x.grad {
			x.grad[j] = size * r.NormFloat64()
			c := 0.0
			if p.Center != nil {
				c = float64(p.Center[j])
			}
			v := c - x.grad[j]/p.Lambda
			w := math.Copysign(max(0, math.Abs(v)-p.L1/p.Lambda), v)
			distance += (w - c) * (w - c)
		}
		if far := x.far(p); far < math.Sqrt(distance)*(1-1e-12) {
			t.Fatalf("λ₁ = %g, centre %v: the minimiser is %g away from the centre, charged is %g", p.L1, p.Center != nil, math.Sqrt(distance), far)
		}
	}
}

// With λ₁ alone, what roundings of the mixed gradients change the share that λ₁ allows, and so the bound, is charged,
// however much of the gradients cancels.
func TestMixtureChargesTheShareThatIsFeasible(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	p := traintest.NoisyProblem(10, engine.CRF, oracles.Smoothing{}, 0)
	changed := 0.0
	for range 200 {
		p.L1 = math.Pow(10, 3*r.Float64()-3)
		n := p.Scorer.Dim()
		exact, x := make([]float64, n), &dualMixture{grad: make([]float64, n)}
		large := make([]float64, n)
		for j := range large {
			large[j] = 1e3 * r.NormFloat64()
		}
		for k, γ := range []float64{1, 0.5} { // of opposite gradients
			pass := &engine.FullPass{Grad: make([]float32, n), Linear: 1, Central: 1}
			for j, g := range large {
				g = g*float64(1-2*k) + 4*p.L1*r.NormFloat64()
				pass.Grad[j] = float32(g)
				exact[j] += γ * (g - exact[j])
			}
			x.add(γ, pass)
		}
		share := 1.0
		for _, g := range exact {
			share = min(share, p.L1/math.Abs(g))
		}
		u := x.recompose(p)
		bound, of := p.ElasticBound(u.Linear, u.Grad)
		bound -= u.Rounded + p.ElasticAllowance(of)
		changed = max(changed, p.FeasibleShare(u.Grad)-share)
		if want := share * x.linear; bound > want+1e-12 {
			t.Fatalf("λ₁ = %g: the bound is %.12g, and the exact gradients prove %.12g; ‖g‖ is %g", p.L1, bound, want, math.Sqrt(vec.Norm2(u.Grad)))
		}
	}
	if changed < 1e-7 {
		t.Errorf("roundings changed the share by %g at most: nothing was tried", changed)
	}
}
