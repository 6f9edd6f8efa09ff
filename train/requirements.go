package train

import (
	"cmp"
	"fmt"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train/engine"
)

// Requirement is a property of the problem that a method needs.
type Requirement int

// The requirements.
const (
	AffineScores    Requirement = iota // scores that are linear in the weights
	KnownLabels                        // gold labels that are fully known
	HingeLoss                          // the hinge
	SmoothLoss                         // a loss that is a log-partition function
	SmoothedMax                        // a smoothing of the hinge's max; the method may choose μ
	SmoothObjective                    // a smooth loss, or the hinge smoothed with a given μ
	Regulariser                        // λ > 0
	Linearisation                      // a network that offers its linearisation
	HostPotentials                     // an engine whose potentials are on the host
	SparseScores                       // a scorer that is linear in sparse inputs
	RunLength                          // the number of passes of the run
	OtherSchedule                      // another schedule of the step size
	PlainMax                           // a hinge that is not smoothed
	OriginCenter                       // a regulariser around zero
	NoL1                               // λ₁ = 0
	NoBounds                           // weights without bounds
	NoBall                             // weights outside a ball
	Ball                               // a ball of weights
	OtherLoss                          // another loss than the quadratic one
	Sums                               // an oracle that sums over all outputs
	Countable                          // scores that are log probabilities of what the training data have counts of
)

// RequirementError reports that a method cannot solve a problem. It is wrapped as bad input.
type RequirementError struct {
	Method string
	Needs  Requirement
	Text   string // what is needed, and why if that is not obvious; it follows the method's name in a sentence
}

func (e *RequirementError) Error() string { return e.Method + " " + e.Text }

// Refuse returns a RequirementError as bad input.
func Refuse(method string, needs Requirement, format string, args ...any) error {
	return structured.BadInput("%w", &RequirementError{Method: method, Needs: needs, Text: fmt.Sprintf(format, args...)})
}

// CheckConvex rejects a convex method for a scorer that is not affine in its weights.
func CheckConvex(method string, scorer nets.Scorer) error {
	if scorer.Affine() {
		return nil
	}
	return Refuse(method, AffineScores, "needs scores that are linear in the weights; those of this net are not")
}

// CheckLabels rejects a method that needs a convex objective if partial labels make it nonconvex.
func CheckLabels(method string, o *engine.Objective) error {
	if !o.Partial() {
		return nil
	}
	if o.Data.Readings != nil {
		return Refuse(method, KnownLabels, "needs to know all gold labels: %s says what its lines read, and not which frame "+
			"shows which symbol, so the objective is not convex", o.Data.Name)
	}
	return Refuse(method, KnownLabels, "needs to know all gold labels: where they are sets, as in %s, the objective is "+
		"not convex", o.Data.Name)
}

// CheckGold rejects a method that begins with the gold outputs themselves if the objective replaces those that are
// known in part, as prox-linear's models do.
func CheckGold(method string, o *engine.Objective) error {
	if o.Completion == nil || o.Soft {
		return nil
	}
	return Refuse(method, KnownLabels, "needs to know all gold labels: it begins with the gold outputs")
}

// CheckNotQuadratic rejects a method whose steps need outputs, for the quadratic loss, which has none.
func CheckNotQuadratic(method string, o *engine.Objective) error {
	if o.Loss != engine.Quadratic {
		return nil
	}
	return Refuse(method, OtherLoss, "takes steps towards outputs or their distributions, and the loss %v has none",
		o.Loss)
}

// CheckRegulariser rejects a dual method for an objective without a regulariser.
func CheckRegulariser(method string, o *engine.Objective) error {
	if o.Lambda > 0 || o.L1 > 0 {
		return nil
	}
	return Refuse(method, Regulariser, "needs a regulariser: its weights are a multiple of 1/λ")
}

// CheckCenter rejects a method whose steps shrink the weights towards zero, for an objective with another centre.
func CheckCenter(method string, o *engine.Objective) error {
	if o.Center == nil {
		return nil
	}
	return Refuse(method, OriginCenter, "takes steps that shrink the weights towards zero, but the regulariser has "+
		"another centre (prior)")
}

// CheckL1 rejects a method that does not minimise λ₁‖w‖₁ for an objective that has it.
func CheckL1(m Method, o *engine.Objective) error {
	if m.Traits().L1 || o.L1 == 0 {
		return nil
	}
	return Refuse(m.Name(), NoL1, "takes no steps for λ₁‖w‖₁, which is not differentiable at 0")
}

// CheckBounds rejects a method, or a device, that does not keep weights between bounds for an objective that has them.
// Their duals need λ > 0.
func CheckBounds(m Method, o *engine.Objective, onDevice bool) error {
	if o.Bounds == nil {
		return nil
	}
	switch {
	case !m.Traits().Bounds:
		return Refuse(m.Name(), NoBounds, "takes steps that know no bounds of the weights")
	case onDevice:
		return Refuse(m.Name(), HostPotentials, "keeps weights between bounds on the CPU only")
	case !o.Scorer.Affine():
		return Refuse(m.Name(), AffineScores, "needs scores that are linear in the weights; those of this net are not")
	case o.Lambda <= 0:
		return Refuse(m.Name(), Regulariser, "needs a regulariser: between bounds, its weights follow from a multiple of 1/λ")
	}
	return nil
}

// CheckRadius rejects a method that keeps no weights in a ball for an objective that has one.
func CheckRadius(m Method, o *engine.Objective) error {
	if m.Traits().Radius || o.Radius == 0 {
		return nil
	}
	return Refuse(m.Name(), NoBall, "takes steps that do not stay in a ball of weights")
}

// CheckTerms rejects a method that does not minimise some term of an objective, or keep one of its constraints.
func CheckTerms(m Method, o *engine.Objective, onDevice bool) error {
	return cmp.Or(CheckL1(m, o), CheckBounds(m, o, onDevice), CheckRadius(m, o))
}

// HostChecker is a method that can run on a device with some of its parameters only.
type HostChecker interface {
	Method
	// CheckHost rejects, with needs HostPotentials, parameters that need an engine on the host.
	CheckHost() error
}

// CheckAccelerated rejects a method that cannot run on a device.
func CheckAccelerated(m Method) error {
	if m, ok := m.(HostChecker); ok {
		return m.CheckHost()
	}
	if !m.Traits().Lanes {
		return nil
	}
	return Refuse(m.Name(), HostPotentials, "steps from example to example on the CPU only")
}

// CheckEngine is CheckAccelerated if the problem's engine is on a device.
func CheckEngine(m Method, e *engine.Engine) error {
	if !e.OnDevice() {
		return nil
	}
	return CheckAccelerated(m)
}

// CheckDescender rejects a method whose steps are those of an engine.ScaledDescent, for an engine on a device that does
// not take them. Those of a device shrink the weights towards zero.
func CheckDescender(method string, e *engine.Engine) error {
	switch {
	case !e.OnDevice():
		return nil
	case e.Descender() == nil:
		return Refuse(method, HostPotentials, "takes steps that this device does not offer")
	}
	return CheckCenter(method, e.Objective)
}

// CheckThresholds rejects a method that takes soft thresholds for λ₁‖w‖₁, for an engine on a device.
func CheckThresholds(method string, e *engine.Engine) error {
	if e.L1 == 0 || !e.OnDevice() {
		return nil
	}
	return Refuse(method, HostPotentials, "takes soft thresholds on the CPU only")
}
