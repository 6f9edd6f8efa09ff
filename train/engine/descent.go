package engine

import (
	"context"
	"math"
	"slices"

	"github.com/dsp-go/dsp/oracles"
)

// Descent is the sequence of iterates of a method that moves every weight by a step length of its own,
//
//	v ← βv + (1−β)g²,    h = √(v/(1−β^c)) + 10⁻⁸,
//
// where g is the mean gradient of the batch and c counts the steps. ProxRule tempers these scales by one that all weights share.
//
// On a device, which must be a Descender, the descent lives there until Finish; W and Mean are then out of date. It must not be copied
// after Start or Resume.
type Descent struct {
	W    []float32 // [Dim] the iterate
	Mean []float32 // [Dim] of the iterates that Include has added; empty before the first

	v, m    []float32 // [Dim] means of g² and of g; m is z of the momentum rules; empty where no step needs them
	count   int       // iterates in the mean
	common  []float32 // [1] V of ProxRule; empty where no step needs it
	steps   int       // c
	squares unbiased  // of v

	engine *Engine
	moves  mover
}

// Question is what a step of a descent asks the oracle: about which examples, with which smoothing, and with which seed of
// dropout masks; 0 turns dropout off.
type Question struct {
	Examples  []int
	Smoothing oracles.Smoothing
	Dropout   uint64
}

// Move tells how a step moves the iterate along the mean gradient g of its batch.
type Move struct {
	Rule        Rule
	Eta, Lambda float64 // η and λ
	Beta        float64 // β₁ of AdamRule, μ of the momentum rules
	Clip        float64 // largest norm of g, which is scaled down if it is longer; 0: any
}

// Rule tells how a step moves the iterate.
type Rule int

// The rules. ProxRule moves to the minimiser of a model of the objective on the batch (proxstep.go). AdamRule takes a step of AdamW
// (Kingma and Ba 2015; Loshchilov and Hutter 2019) with all weights: with m the mean of g by β₁,
//
//	w ← (1 − ηλ)w − η m/((1−β₁^c) h).
//
// MomentumRule and NesterovRule take a step with all weights along a mean of the gradients of F:
//
//	z ← μz + g + λw,      w ← w − ηz,  or with Nesterov's  w ← w − η(g + λw + μz).
const (
	ProxRule Rule = iota + 1
	AdamRule
	MomentumRule
	NesterovRule
)

// mover moves the iterate of a descent, whose methods of the same names say what each call does: localMoves or remoteMoves. v and m
// exist where a step needs them.
type mover interface {
	prepare(examples []int)
	step(ctx context.Context, q Question, m Move) (γ float64, err error)
	include(share float64)
	finish() error
}

// unbiased holds Unbias(β).
type unbiased struct {
	β  float64
	by []float32
}

func (u *unbiased) after(c int) float32 {
	if u.by == nil {
		u.by = Unbias(u.β)
	}
	if c < len(u.by) {
		return u.by[c]
	}
	return 1
}

// Unbias returns 1/(1−β^c) for c = 0, 1, …, as long as it differs from 1 by 10⁻⁹ or more: what a mean that started at zero must be
// multiplied with after c steps. For c = 0, which has no mean, it is infinite.
func Unbias(β float64) []float32 {
	var by []float32
	for c := 0; ; c++ {
		next := -1 / math.Expm1(float64(c)*math.Log(β))
		if next < 1+1e-9 {
			return by
		}
		by = append(by, float32(next))
	}
}

// Start sets the iterate. β is the decay of the mean of squares. All steps of a descent are of one kind.
func (d *Descent) Start(e *Engine, at []float32, β float64) {
	*d = Descent{W: slices.Clone(at)}
	d.Resume(e, β)
}

// Resume attaches a restored descent to the engine, whose device, if it has one, must be a Descender.
func (d *Descent) Resume(e *Engine, β float64) {
	d.engine, d.squares = e, unbiased{β: β}
	d.moves = e.backend.mover(d)
}

// Step asks about a batch at the iterate, and moves the iterate. It returns the γ of ProxRule on the host, and else NaN.
// On a device an error may come from an earlier step.
func (d *Descent) Step(ctx context.Context, q Question, m Move) (γ float64, err error) {
	d.Prepare(q.Examples)
	d.makeRoom(m.Rule)
	return d.moves.step(ctx, q, m)
}

// makeRoom makes the means exist that a rule needs.
func (d *Descent) makeRoom(rule Rule) {
	if rule == ProxRule || rule == AdamRule {
		d.v = d.perWeight(d.v)
	}
	if rule != ProxRule {
		d.m = d.perWeight(d.m)
	} else if len(d.common) == 0 {
		d.common = make([]float32, 1)
	}
}

// Prepare brings the weights that a batch reads up to date.
func (d *Descent) Prepare(examples []int) { d.moves.prepare(examples) }

// perWeight returns x, or zeros for every weight if it is empty.
func (d *Descent) perWeight(x []float32) []float32 {
	if len(x) == 0 {
		return make([]float32, len(d.W))
	}
	return x
}

// Include adds the iterate to the mean of the iterates with a share: mean ← (1−share)·mean + share·w. The first iterate's is 1.
func (d *Descent) Include(share float64) {
	d.count++
	d.moves.include(share)
}

// Count returns the number of iterates that the mean includes.
func (d *Descent) Count() int { return d.count }

// ResetMean starts a new mean.
func (d *Descent) ResetMean() { d.count = 0 }

// Finish brings the weights up to date, as at the end of a pass.
func (d *Descent) Finish() error { return d.moves.finish() }

// Archive saves or restores a finished descent.
func (d *Descent) Archive(a Archive) {
	a.Floats("descent.w", &d.W)
	a.Floats("descent.mean", &d.Mean)
	a.Floats("descent.squares", &d.v)
	a.Floats("descent.gradients", &d.m)
	a.Floats("descent.common", &d.common)
	a.Count("descent.mean.iterates", &d.count)
	a.Count("descent.steps", &d.steps)
}
