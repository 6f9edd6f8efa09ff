package optimisers

import (
	"cmp"
	"fmt"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/train/engine"
)

// fewExamples is the number of examples below which lbfgs gets on faster than sdca, whose dual has a block for each. On
// a text of 20,000 tokens in one sequence sdca is at a gap of 15 % when lbfgs is at 4 %, in 5 at 9 % and 1 %, and in 50
// at 0.1 % and 0.5 %.
const (
	fewExamples = 20
	longExample = 1000 // positions per example from which examples are long
)

// mostRemembered is how many bytes an automatically chosen method for smooth losses may keep about the examples. It is
// the same on every machine, so that the same method is chosen everywhere.
const mostRemembered = 2 << 30

// Auto returns the method for an objective that runs with these settings, and a sentence with the reason. Net names the
// network there, or is empty; onDevice says that the run must be on a device.
func Auto(r *Run, o *engine.Objective, net string, onDevice bool) (d *Descriptor, why string) {
	d, why = choose(o, net, onDevice)
	if bytes := d.Remembered(o); d == SDCA && bytes > mostRemembered {
		by := LBFGS
		if o.L1 > 0 {
			by = OWLQN
		}
		d, why = by, fmt.Sprintf("it certifies how far the optimum is, as %s does, which would keep %.1f GiB of numbers about the examples, with %d labels",
			d.Name, bytes/(1<<30), o.Data.Alphabet.Len())
	}
	if onDevice && d.CheckDevice(r, o.L1) != nil {
		return autoOnDevice(o), "of the convex methods it is the one for this loss that a GPU can run"
	}
	return d, why
}

// ForRanks returns the method for several ranks where Auto chose d, and why it is another one: empty if it is not. What
// is chosen automatically has the bits of one process, where there is such a method. Of svrg and casimir ranks share
// only the full gradients.
func ForRanks(d *Descriptor, o *engine.Objective) (by *Descriptor, why string) {
	switch {
	case d.Ranks && !d.Blocks && d != SVRG && d != Casimir, d == Casimir && o.Lambda == 0:
		return d, ""
	case o.Radius > 0:
		return SPFW, "several processes share its passes over all examples; " + d.Name + " takes steps on single examples"
	case o.Bounds != nil:
		return d, ""
	case o.L1 > 0 && o.Loss.Smooth():
		by = OWLQN
	case o.L1 > 0 && sums(o): // the hinge, which owl-qn does not smooth by itself
		by = AGM
	case o.L1 > 0:
		return d, "" // bcfw and bcpfw
	case o.Loss.Smooth() || sums(o):
		by = LBFGS
	default:
		by = FW
	}
	return by, "several processes share its passes over all examples, with the bits of one; " + d.Name + ", the method for one, has other bits for each number of processes"
}

// choose returns the method for the problem, as if every method ran on a device, and a sentence with the reason.
func choose(o *engine.Objective, net string, onDevice bool) (d *Descriptor, why string) {
	net = cmp.Or(net, "this net")
	switch {
	case o.Radius > 0:
		return SPBCFW, "sp-bcfw keeps ‖w‖₁ within --radius, needs no step size, and certifies how far the optimum is"
	case o.Bounds != nil && o.Scorer.Affine() && !o.Partial():
		return autoBounded(o, net)
	case o.Loss == engine.Quadratic:
		return autoQuadratic(o, net)
	case o.L1 > 0 && o.Scorer.Affine():
		return autoL1(o, net)
	case !o.Scorer.Affine():
		return ProxLinear, net + " is not linear in its weights: prox-linear replaces it by its linear model on each batch and solves that " +
			"exactly, at the cost of a step of sgd and without a step size to tune"
	case o.Data.Readings != nil:
		return ProxLinear, "which frame shows which symbol is not known, so the objective is not convex: prox-linear goes down steadily through convex models of it"
	case o.Partial():
		return ProxLinear, "labels known in part leave the objective not convex: prox-linear goes down steadily through convex models of it"
	case o.Loss.Smooth() && o.Lambda > 0 && isSparse(o.Scorer) && o.Data.Len() < fewExamples && o.Data.Positions() >= longExample*o.Data.Len():
		return LBFGS, fmt.Sprintf("%d long examples are too few for steps from example to example, such as those of sdca: lbfgs takes all at once, and certifies how far "+
			"the optimum is", o.Data.Len())
	case o.Loss.Smooth() && o.Lambda > 0 && isSparse(o.Scorer):
		return SDCA, net + " is linear in sparse attributes and loss " + o.Loss.String() +
			" is smooth: sdca needs few passes, touches no more than an example's own weights, and certifies how far the optimum is"
	case o.Loss.Smooth() && o.Lambda > 0 && o.HasMetric() && !onDevice:
		return LBFGS, net + " is linear in dense inputs and loss " + o.Loss.String() +
			" is smooth: lbfgs takes their correlations into account, needs few passes, and certifies how far the optimum is"
	case o.Loss.Smooth() && o.Lambda == 0:
		return SVRG, net + " is linear in its weights and loss " + o.Loss.String() + " is smooth: svrg takes gradients of little variance (without a regulariser nothing is certified)"
	case o.Loss.Smooth():
		return SVRG, net + " is linear in its weights and loss " + o.Loss.String() +
			" is smooth: svrg converges linearly, and certifies how far the optimum is"
	case o.Lambda > 0 && isSparse(o.Scorer):
		return BCPFW, net + " is linear in sparse attributes and the hinge is not smooth: bcpfw needs no smoothing, touches no more " +
			"than an example's own weights, and certifies how far the optimum is"
	case o.Lambda > 0 && holdsPlanes(o):
		return NSlack, net + " is linear in dense inputs and the hinge is not smooth: n-slack needs no smoothing and few passes, and certifies how far the optimum is"
	case o.Lambda == 0:
		return Casimir, net + " is linear in its weights: casimir is accelerated (without a regulariser nothing is certified)"
	case !sums(o):
		return BCFW, net + " is linear in its weights, the hinge is not smooth, and nothing sums over the outputs to smooth it: bcfw needs no smoothing, " +
			"and certifies how far the optimum is"
	default:
		return Casimir, net + " is linear in its weights and the hinge is not smooth: casimir, accelerated on a smoothed hinge, " +
			"certifies the narrowest gap"
	}
}

// autoQuadratic is Auto for the quadratic loss.
func autoQuadratic(o *engine.Objective, net string) (d *Descriptor, why string) {
	switch {
	case !o.Scorer.Affine():
		return Adam, net + " is not linear in its weights, and prox-linear has no rule for the quadratic loss"
	case o.L1 > 0:
		return OWLQN, net + " is linear in its weights and the loss is quadratic: owl-qn leaves most weights at zero, and certifies how far the optimum is"
	case isSparse(o.Scorer) && o.Lambda > 0:
		return SDCA, net + " is linear in sparse attributes and the loss is quadratic: the steps of sdca are in closed form, and it certifies how far the optimum is"
	case o.Lambda == 0:
		return LBFGS, net + " is linear in its weights and the loss is quadratic: lbfgs needs few passes (without a regulariser nothing is certified)"
	}
	return LBFGS, net + " is linear in its weights and the loss is quadratic: lbfgs needs few passes, with dense inputs alone one or two, and certifies how far the optimum is"
}

// autoBounded is Auto for objectives with bounds of the weights.
func autoBounded(o *engine.Objective, net string) (d *Descriptor, why string) {
	switch {
	case o.Loss.Smooth():
		return SVRG, net + " is linear in its weights and loss " + o.Loss.String() + " is smooth: svrg keeps weights between --bounds, and certifies how far the optimum is"
	case isSparse(o.Scorer):
		return BCPFW, net + " is linear in sparse attributes and the hinge is not smooth: bcpfw keeps weights between --bounds, needs no smoothing, and certifies how far the optimum is"
	}
	return BCFW, net + " is linear in its weights and the hinge is not smooth: bcfw keeps weights between --bounds, needs no smoothing, and certifies how far the optimum is"
}

// autoL1 is Auto for objectives with λ₁‖w‖₁.
func autoL1(o *engine.Objective, net string) (d *Descriptor, why string) {
	switch {
	case o.Partial():
		return OWLQN, "labels known in part leave the objective not convex: owl-qn goes down steadily, and leaves most weights at zero"
	case o.Loss.Smooth():
		return SDCA, net + " is linear in its weights and loss " + o.Loss.String() + " is smooth: with --l1, sdca takes soft thresholds, needs few " +
			"passes, and certifies how far the optimum is"
	case isSparse(o.Scorer):
		return BCPFW, net + " is linear in sparse attributes and the hinge is not smooth: with --l1, bcpfw takes soft thresholds, needs no smoothing, " +
			"and certifies how far the optimum is"
	}
	return BCFW, net + " is linear in its weights and the hinge is not smooth: with --l1, bcfw takes soft thresholds, needs no smoothing, and " +
		"certifies how far the optimum is"
}

// autoOnDevice returns the convex method for an objective that runs on a device.
func autoOnDevice(o *engine.Objective) *Descriptor {
	switch {
	case o.L1 > 0:
		return OWLQN
	case o.Loss.Smooth():
		return SVRG
	}
	return Casimir
}

// fewColumns is the number of dense inputs below which auto takes casimir: there an oracle's answer is hardly more work
// than a step of n-slack. The data decide more than the columns: from 16 to 128 n-slack is up to 2.2 times as fast
// where few labels are wrong, and takes up to four times as long where many are (docs/design/methods.md). On rows of
// encoders casimir is far behind.
const fewColumns = 64

// planesKept is how many outputs n-slack keeps of an example, a few less or more: 1.5 on letters and 2.5 on text.
const planesKept = 3

// holdsPlanes reports whether there are dense inputs enough for n-slack, and few enough that it can keep its planes,
// however many labels an output differs in.
func holdsPlanes(o *engine.Objective) bool {
	numbers, columns := 0.0, 0
	for _, b := range nets.DenseBlocks(o.Scorer) {
		columns = max(columns, b.Dim)
		numbers += float64(b.Dim) * float64(b.Width)
	}
	return columns >= fewColumns && 4*numbers*planesKept*float64(o.Data.Len()) <= mostRemembered
}

// sums reports whether the oracle computes sums over outputs.
func sums(o *engine.Objective) bool {
	_, ok := registry.Of(o.Scorer.Form().Structure).Oracle().(oracles.Summer)
	return ok
}

func isSparse(s nets.Scorer) bool {
	_, ok := s.(*sparse.Linear)
	return ok
}
