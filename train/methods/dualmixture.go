package methods

import (
	"math"

	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// dualMixture is a convex combination of the dual points of full passes, as the linear lower bound on the mean loss
// that it proves.
type dualMixture struct {
	grad    []float64 // g
	linear  float64   // its value at the origin
	central float64   // its value at the centre
	slack   float64   // allowance for rounding in that
	size    float64   // the mean norm of the gradients that g mixes, which were rounded one by one
}

// add moves the mixture by the share γ towards a pass.
func (x *dualMixture) add(γ float64, pass *engine.FullPass) {
	for j, g := range x.grad {
		x.grad[j] = g + γ*(float64(pass.Grad[j])-g)
	}
	x.linear += γ * (pass.Linear - x.linear)
	x.central += γ * (pass.Central - x.central)
	x.slack += γ * (pass.Rounded - x.slack)
	x.size += γ * (math.Sqrt(vec.Norm2(pass.Grad)) - x.size)
}

// square returns ‖g‖².
func (x *dualMixture) square() (s float64) {
	for _, g := range x.grad {
		s += g * g
	}
	return s
}

// rounded returns the allowance for rounding in the mixture's bound, but for a rounding of g itself; far is ‖w − c‖ at
// its minimiser.
func (x *dualMixture) rounded(p *train.Problem, far float64) float64 {
	return x.slack + p.MixtureAllowance(x.size, p.Lambda*far)
}

// recompose returns the mixture as a dual point, with g rounded to float32. The rounding of g changes the bound by its
// product with the distance between the minimiser w and the point where the bound's value is kept. With λ that point is
// the centre, to which w is near; with λ₁ alone w is 0, and it is the origin.
func (x *dualMixture) recompose(p *train.Problem) engine.Recomposed {
	g := make([]float32, len(x.grad))
	for j, v := range x.grad {
		g[j] = float32(v)
	}
	if p.Lambda == 0 {
		return engine.Recomposed{Grad: g, Linear: x.linear, Central: x.central, Rounded: x.slack + x.feasibility(p)}
	}
	linear := x.central
	if p.Center != nil {
		linear -= vec.Dot64(g, p.Center)
	}
	return engine.Recomposed{Grad: g, Linear: linear, Central: x.central, Rounded: x.rounded(p, x.far(p))}
}

// feasibility returns the allowance for roundings of the mixed gradients, which change the share of g that λ₁ allows
// (engine.Objective.FeasibleShare).
func (x *dualMixture) feasibility(p *train.Problem) float64 {
	if p.L1 == 0 {
		return 0
	}
	return p.GradientAllowance(x.size) / p.L1 * math.Abs(x.linear)
}

// far bounds ‖w − c‖ at the minimiser w = soft(c − g/λ, λ₁/λ) of the mixture's bound.
func (x *dualMixture) far(p *train.Problem) float64 {
	if p.L1 == 0 || p.Center == nil { // thresholds move no weight away from the origin
		return math.Sqrt(x.square()) / p.Lambda
	}
	s := 0.0
	for j, g := range x.grad {
		step := math.Abs(g) / p.Lambda
		step += min(p.L1/p.Lambda, math.Abs(float64(p.Center[j]))+step)
		s += step * step
	}
	return math.Sqrt(s)
}

func (x *dualMixture) archive(a engine.Archive) {
	a.Doubles("mixture", &x.grad)
	a.Number("mixture.linear", &x.linear)
	a.Number("mixture.central", &x.central)
	a.Number("mixture.rounding", &x.slack)
	a.Number("mixture.size", &x.size)
}
