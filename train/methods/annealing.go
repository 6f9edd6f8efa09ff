package methods

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// annealing lowers the smoothing μ of a hinge problem as the certificate allows. A full pass at w with marginals u_i
// splits the distance to the optimum in two parts,
//
//	F(w) − D(u) = (1/n) Σ c_i [max_y ⟨1_y,θ_i+ℓ_i⟩ − ⟨u_i,θ_i+ℓ_i⟩] + ‖∇F_μ(w)‖²/(2λ):
//
// the smoothing bias, which falls with μ, and the optimisation error, which grows as μ falls. While the error is the
// larger of the two, μ stays. The smaller the error, the faster μ falls.
type annealing struct {
	μ    float64
	fall float64 // factor for the next fall of μ; 1 if μ was given
}

const (
	firstShare   = 0.25 // smoothing may add this share of F at the start
	fastestFall  = 0.5  // the fastest fall of μ in a pass
	truncated    = 0.9  // if fewer top-K answers are exact, the function is not smooth:
	truncateFall = 0.85 // then μ falls until K outputs hold all the weight
)

// given reports whether the problem fixes μ, so that the method does not choose it.
func given(p *train.Problem) bool { return p.Loss.Smooth() || p.Smoothing.Mu > 0 }

// begin chooses the first μ. f is the primal value at the initial weights.
func (an *annealing) begin(p *train.Problem, f float64) {
	switch {
	case an.μ > 0: // restored
	case p.Loss.Smooth():
		an.μ = 1
	case p.Smoothing.Mu > 0:
		an.μ = p.Smoothing.Mu
	default:
		outputs := p.Kind().LogOutputs(p.Data, p.Scorer.Form())
		an.μ = firstShare * f / p.Smoothing.Bound(outputs)
		if !(an.μ > 0) {
			an.μ = 1
		}
	}
}

// smoothing returns the smoothing with the current μ.
func (an *annealing) smoothing(p *train.Problem) oracles.Smoothing {
	s := p.Smoothing
	s.Mu = an.μ
	return s
}

// consider decides how far μ may fall after a full pass at w. If both parts are zero there is nothing to compare, and μ
// stays.
func (an *annealing) consider(p *train.Problem, w []float32, pass *engine.FullPass) {
	switch {
	case given(p):
		an.fall = 1
	case pass.Exact < truncated:
		an.fall = truncateFall
	default:
		an.fall = 1
		if bias, e := split(p.Objective, w, pass); e < bias {
			an.fall = max(fastestFall, math.Sqrt(math.Sqrt(e/bias)))
		}
	}
}

// split returns the two parts of F(w) − D(u) for a full pass at w with marginals u: the smoothing bias and the
// optimisation error. With λ = 0 the dual gives no bound, and ‖∇F_μ(w)‖·‖w − c‖ estimates the error.
func split(o *engine.Objective, w []float32, pass *engine.FullPass) (bias, e float64) {
	if !o.Plain() { // e is that of the elastic net, r(w) + r*(−g) + ⟨g,w⟩
		bias = pass.Primal - o.Regulariser(w) - pass.Linear - vec.Dot64(pass.Grad, w)
		d, _ := o.ElasticBound(pass.Linear, pass.Grad)
		return max(0, bias), max(0, pass.Primal-d-bias)
	}
	norm, from, product := 0.0, 0.0, 0.0 // ‖g + λ(w−c)‖², ‖w−c‖², ⟨g,w−c⟩
	for j, x := range w {
		d, g := float64(x), float64(pass.Grad[j])
		if o.Center != nil {
			d -= float64(o.Center[j])
		}
		h := g + o.Lambda*d
		norm += h * h
		from += d * d
		product += g * d
	}
	bias = pass.Primal - o.Lambda/2*from - o.AtCenter(pass.Linear, pass.Grad) - product
	if o.Lambda > 0 {
		return max(0, bias), norm / (2 * o.Lambda)
	}
	return max(0, bias), math.Sqrt(norm * from)
}

// check rejects a problem that the named method cannot solve.
func (an *annealing) check(name string, p *train.Problem) error {
	if err := train.CheckConvex(name, p.Scorer); err != nil {
		return err
	}
	if err := train.CheckLabels(name, p.Objective); err != nil {
		return err
	}
	if !p.Loss.Smooth() && p.Smoothing.Kind == oracles.None {
		return train.Refuse(name, train.SmoothedMax, "needs a smoothed max for the hinge")
	}
	return nil
}

func (an *annealing) archive(a engine.Archive) {
	a.Number("mu", &an.μ)
	a.Number("fall", &an.fall)
}
