package engine

import (
	"fmt"
	"math"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Loss is the structured loss f_i.
type Loss int

// The losses: f_i(w) = h(θ_i(w) + ℓ_i) − ⟨θ_i(w), 1_{y_i}⟩, with h = max for Hinge and h = log Σ exp for the others.
// CRF has ℓ_i = 0.
const (
	Hinge         Loss = iota // margin-rescaled structured hinge (max-margin)
	CRF                       // negative conditional log-likelihood
	SoftmaxMargin             // the CRF loss with a cost-augmented partition function
	Quadratic                 // the quadratic surrogate of the Hamming loss, which is none of these (quadratic.go)
)

var lossNames = []string{"hinge", "crf", "softmax-margin", "quadratic"}

// ParseLoss returns the loss with the given name.
func ParseLoss(name string) (Loss, error) {
	return structured.ParseName[Loss]("loss", lossNames, name)
}

func (l Loss) String() string { return lossNames[l] }

// Smooth reports whether the loss is differentiable everywhere and so needs no smoothing.
func (l Loss) Smooth() bool { return l != Hinge }

// Augments reports whether the loss adds ℓ_i to the scores.
func (l Loss) Augments() bool { return l == Hinge || l == SoftmaxMargin }

// Objective is
//
//	F(w) = (1/n) Σ_i c_i f_i(w) + (λ/2)‖w − c‖² + λ₁‖w‖₁ + constant
//
// with example weights c_i from the data. With λ₁ > 0, the elastic net, weights of the optimum are sparse
// (elasticnet.go). Center is that of a prior. In prox-linear subproblems it moves (Engine.CenterMoved), and there is a
// constant: the two quadratics (λ/2)‖w−c‖² + (1/2η)‖w−w_k‖² are written as one around a shifted centre.
type Objective struct {
	Scorer      nets.Scorer
	Data        *structured.Dataset
	Loss        Loss
	Task        structured.TaskLoss    // nil: the structure's Hamming loss
	Constraints structured.Constraints // on the outputs, or nil
	Lambda      float64
	L1          float64   // λ₁
	Bounds      *Bounds   // of the weights (bounds.go); nil: none
	Radius      float64   // R of the ball ‖w‖₁ ≤ R (ball.go); 0: there is none
	Center      []float32 // nil: the origin
	Rates       Rates     // of the steps of descents; nil: 1 for all weights
	Constant    float64

	// Completion fixes r_i, which replaces the gold output of examples with partial labels (partial.go). If it is nil,
	// the oracle answers over the outputs that the labels allow, and the objective is not convex. Certificates hold for
	// r_i whose rows have exact sums (BalanceTargets).
	Completion *Memory
	// Soft says that Completion replaces the gold outputs of all examples, whose labels are then whole. With the CRF
	// loss the loss of an example is the cross-entropy of a distribution with marginals r_i and the model's, log Z(θ_i)
	// − ⟨θ_i, r_i⟩, and its gradient J_iᵀ(u_i − r_i).
	Soft bool
	// Origin sets θ, of example i alone, to potentials whose marginals are r_i or close to them, where a dual method
	// begins well. It reports whether there are such: there are none of a single output. nil: they are not known of any
	// example.
	Origin func(i int, θ *structured.Potentials) bool
}

// Check rejects data on which the objective is undefined.
func (o *Objective) Check() error {
	d := o.Data
	if d.Len() == 0 || d.Positions() == 0 {
		return structured.BadInput("%s: no examples to train on", d.Name)
	}
	if d.Labels == nil {
		return structured.BadInput("%s: no labels to train on", d.Name)
	}
	if err := o.checkStructure(); err != nil {
		return err
	}
	if form := o.Scorer.Form(); !(form.Structure.LogOutputs(d, form) > 0) { // −∞ without labels
		if d.Outputs == nil && d.Alphabet != nil && d.Alphabet.Len() < 2 { // an output is a label per position
			return structured.BadInput("%s: %d label, expected at least 2: there is nothing to learn", d.Name, d.Alphabet.Len())
		}
		return structured.BadInput("%s: every output is the only one that there could be: there is nothing to learn", d.Name)
	}
	for i := range d.Len() {
		if o.Constraints != nil && !o.Constraints.AllowsSome(d, i) {
			what := "the gold labels break the constraints on transitions"
			if d.Partial(i) {
				what = "no labeling that the gold labels leave possible keeps the constraints on transitions"
			}
			return structured.BadInput("%s: %s", d.Where(i), what)
		}
	}
	return nil
}

// checkStructure rejects a loss or gold outputs that the structure cannot take.
func (o *Objective) checkStructure() error {
	structure := o.Scorer.Form().Structure
	if o.Loss == Quadratic {
		return o.checkQuadratic()
	}
	oracle := registry.Of(structure).Oracle()
	if _, sums := oracle.(oracles.Summer); !sums && o.Loss.Smooth() {
		why := ""
		if u, ok := oracle.(oracles.Unsummable); ok {
			why = ": " + u.WhyNoSums()
		}
		return structured.BadInput("the loss %v needs sums over all outputs, which the oracle of a %s does not compute%s; "+
			"it supports %v",
			o.Loss, structure.Name(), why, Hinge)
	}
	if _, restricts := structure.(structured.Restricter); !restricts && o.Partial() {
		return structured.BadInput("%s: the gold output of a %s must be known in full", o.Data.Name, structure.Name())
	}
	if o.Relaxed() != "" && o.Partial() {
		return structured.BadInput("%s: the gold output of a %s must be known in full: with part of it, the loss is a "+
			"difference of two bounds, which bounds nothing",
			o.Data.Name, structure.Name())
	}
	if c, checks := structure.(structured.DataChecker); checks {
		return c.CheckData(o.Data)
	}
	return nil
}

// Floor returns a number that F is nowhere below without a proof from data: the constant, since neither a loss nor the
// regulariser is negative. Numbers in place of gold outputs were rounded to float32, and are no mixture of outputs up
// to that: then a loss may be negative, however little, and the floor is −∞.
func (o *Objective) Floor() float64 {
	if o.Completion != nil {
		return math.Inf(-1)
	}
	return o.Constant
}

// Relaxed returns in what way the oracle's answers may be bounds, as part of a sentence, or "" if they are exact. With
// bounds, objectives are upper bounds of those with exact answers, and duals are lower bounds of the least relaxed
// objective.
func (o *Objective) Relaxed() string {
	if r, ok := registry.Of(o.Scorer.Form().Structure).Oracle().(oracles.Relaxed); ok {
		return r.Relaxed()
	}
	return ""
}

// LossAt returns f_i = h − gold, where h is the oracle's value and gold the reference score. It is not negative: gold
// is the score of an output or a mean of such scores, and h is at least that. The oracle rounds to float32 and can find
// less, hence the max.
func LossAt(h, gold float64) float64 { return max(h, gold) - gold }

// regulariser returns (λ/2)‖w − c‖² + λ₁‖w‖₁ + constant.
func (o *Objective) regulariser(w []float32) float64 {
	switch {
	case o.L1 > 0:
		return o.elasticNet(w) + o.Constant
	case o.Center != nil:
		return o.Lambda/2*vec.Dist2(w, o.Center) + o.Constant
	}
	return o.Lambda/2*vec.Norm2(w) + o.Constant
}

// AtCenter returns a + ⟨g,c⟩ + constant: the value at the centre of the linear function with gradient g and value a at
// the origin, plus the constant.
func (o *Objective) AtCenter(a float64, g []float32) float64 {
	if o.Center != nil {
		a += vec.Dot64(g, o.Center)
	}
	return a + o.Constant
}

// DualValue returns D = a + constant + (λ/2)(‖c‖² − ‖w‖²) of a dual point with weights w, whose linear part and entropy
// add up to a. With λ₁ > 0, w are the weights after thresholding.
func (o *Objective) DualValue(a float64, w []float32) float64 {
	return a + o.Constant + o.Lambda/2*(vec.Norm2(o.Center)-vec.Norm2(w))
}

// smoothing returns the smoothing to ask the oracle for: the loss's own log-sum-exp, or s for the hinge's max.
func (o *Objective) smoothing(s oracles.Smoothing) oracles.Smoothing {
	if o.Loss.Smooth() {
		return oracles.Smoothing{Kind: oracles.Entropy, Mu: 1}
	}
	return s
}

// NonFiniteError reports potentials that no oracle answers for, and where they were found first.
type NonFiniteError struct {
	Where string // the example
}

func (e *NonFiniteError) Error() string {
	return fmt.Sprintf("%s: potentials are %s", e.Where, structured.NotValid)
}

// NotFinite returns the error of potentials of a batch that are not finite.
func NotFinite(b *structured.Batch, θ *structured.Potentials) error {
	return &NonFiniteError{Where: firstNonFinite(b, θ)}
}

func firstNonFinite(b *structured.Batch, θ *structured.Potentials) string {
	c := θ.FirstNotFinite()
	if c < 0 {
		return "what all examples share"
	}
	i := b.Examples[c]
	return fmt.Sprintf("example %d (%s)", i, b.Data.Where(i))
}

// Lineariser is a scorer that is not affine but offers its linearisation, on which the prox-linear method works.
// Those of package nets, which all have one, need not implement it.
type Lineariser interface {
	nets.Scorer
	Linearise() Linearised
}

// Linearised is a network linearised at a point w_k: the affine scorer θ(w_k) + J(w_k)(w − w_k).
type Linearised interface {
	nets.Scorer
	// MoveTo copies w to w_k. Existing workers use it from their next Score.
	MoveTo(w []float32)
}
