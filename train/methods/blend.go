package methods

import (
	"math"

	"github.com/dsp-go/dsp/structured/machine/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// blend is a convex combination of the dual points of full passes, as the linear lower bound on the mean loss that it proves.
type blend struct {
	grad    []float64 // g
	central float64   // its value at the centre
	slack   float64   // allowance for rounding in that
	size    float64   // the mean norm of the gradients that g mixes, which were rounded one by one
}

// add moves the mixture by the share γ towards a pass.
func (x *blend) add(γ float64, pass *engine.FullPass) {
	for j, g := range x.grad {
		x.grad[j] = g + γ*(float64(pass.Grad[j])-g)
	}
	x.central += γ * (pass.Central - x.central)
	x.slack += γ * (pass.Rounded - x.slack)
	x.size += γ * (math.Sqrt(vec.Norm2(pass.Grad)) - x.size)
}

// square returns ‖g‖².
func (x *blend) square() (s float64) {
	for _, g := range x.grad {
		s += g * g
	}
	return s
}

// rounded returns the allowance for rounding in the mixture's bound, but for a rounding of g itself; far is ‖w − c‖ at its minimiser.
func (x *blend) rounded(p *train.Problem, far float64) float64 {
	if p.Lambda == 0 {
		return x.slack
	}
	return x.slack + p.MixtureAllowance(x.size, p.Lambda*far)
}

func (x *blend) archive(a engine.Archive) {
	a.Doubles("mixture", &x.grad)
	a.Number("mixture.central", &x.central)
	a.Number("mixture.rounding", &x.slack)
	a.Number("mixture.size", &x.size)
}
