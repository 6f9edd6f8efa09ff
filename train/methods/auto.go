package methods

import (
	"fmt"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/kinds"
	"github.com/dsp-go/dsp/train/engine"
)

// fewExamples is the number of examples below which lbfgs gets on faster than sdca, whose dual has a block for each. On a text of 20,000
// tokens in one sequence sdca is at a gap of 15 % when lbfgs is at 4 %, in 5 at 9 % and 1 %, and in 50 at 0.1 % and 0.5 %.
const (
	fewExamples = 20
	longExample = 1000 // positions per example from which examples are long
)

// Auto returns the method's name for the problem (Method.Name) and a sentence with the reason. Net is the network's name, or empty.
func Auto(o *engine.Objective, net string) (method, why string) {
	if net != "" {
		net = fmt.Sprintf("net %q", net)
	} else {
		net = "this net"
	}
	switch {
	case o.L1 > 0 && o.Scorer.Affine():
		return autoL1(o, net)
	case !o.Scorer.Affine():
		return "prox-linear", net + " is not linear in its weights: prox-linear replaces it by its linear model on each batch and solves that " +
			"exactly, at the cost of a step of sgd and without a step size to tune"
	case o.Partial():
		return "prox-linear", "labels known in part leave the objective not convex: prox-linear goes down steadily through convex models of it"
	case o.Loss.Smooth() && o.Lambda > 0 && isSparse(o.Scorer) && o.Data.Len() < fewExamples && o.Data.Positions() >= longExample*o.Data.Len():
		return "lbfgs", fmt.Sprintf("%d long examples are too few for steps from example to example, such as those of sdca: lbfgs takes all at once, and certifies how far "+
			"the optimum is", o.Data.Len())
	case o.Loss.Smooth() && o.Lambda > 0 && isSparse(o.Scorer):
		return "sdca", net + " is linear in sparse attributes and loss " + o.Loss.String() +
			" is smooth: sdca needs few passes, touches no more than an example's own weights, and certifies how far the optimum is"
	case o.Loss.Smooth():
		return "svrg", net + " is linear in its weights and loss " + o.Loss.String() +
			" is smooth: svrg converges linearly, and certifies how far the optimum is"
	case o.Lambda > 0 && isSparse(o.Scorer):
		return "bcpfw", net + " is linear in sparse attributes and the hinge is not smooth: bcpfw needs no smoothing, touches no more " +
			"than an example's own weights, and certifies how far the optimum is"
	case o.Lambda == 0:
		return "casimir", net + " is linear in its weights: casimir is accelerated (without a regulariser nothing is certified)"
	case !sums(o):
		return "bcfw", net + " is linear in its weights, the hinge is not smooth, and nothing sums over the outputs to smooth it: bcfw needs no smoothing, " +
			"and certifies how far the optimum is"
	default:
		return "casimir", net + " is linear in its weights and the hinge is not smooth: casimir, accelerated on a smoothed hinge, " +
			"certifies the narrowest gap"
	}
}

// autoL1 is Auto for objectives with λ₁‖w‖₁.
func autoL1(o *engine.Objective, net string) (method, why string) {
	switch {
	case o.Partial():
		return "owl-qn", "labels known in part leave the objective not convex: owl-qn goes down steadily, and leaves most weights at zero"
	case o.Loss.Smooth():
		return "sdca", net + " is linear in its weights and loss " + o.Loss.String() + " is smooth: with --l1, sdca takes soft thresholds, needs few " +
			"passes, and certifies how far the optimum is"
	case isSparse(o.Scorer):
		return "bcpfw", net + " is linear in sparse attributes and the hinge is not smooth: with --l1, bcpfw takes soft thresholds, needs no smoothing, " +
			"and certifies how far the optimum is"
	}
	return "bcfw", net + " is linear in its weights and the hinge is not smooth: with --l1, bcfw takes soft thresholds, needs no smoothing, and " +
		"certifies how far the optimum is"
}

// AutoAccelerated returns the name of the convex method for an objective that runs on a device.
func AutoAccelerated(o *engine.Objective) string {
	switch {
	case o.L1 > 0:
		return "owl-qn"
	case o.Loss.Smooth():
		return "svrg"
	}
	return "casimir"
}

// sums reports whether the oracle computes sums over outputs.
func sums(o *engine.Objective) bool {
	_, ok := kinds.Of(o.Scorer.Form().Structure).Oracle().(oracles.Summer)
	return ok
}

func isSparse(s nets.Scorer) bool {
	_, ok := s.(*sparse.Linear)
	return ok
}
