package methods

import (
	"context"
	"math"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// BatchProxLinear is prox-linear on models of single batches. A step linearises the network on one batch and solves the
// dual of that subproblem, which has one variable, exactly (engine.ScaledDescent.ProxRule). So a step costs what a step
// of SGD costs. There is no step size to tune: the proximal term is scaled weight by weight, and the dual variable cuts
// off steps that the model does not need. Steps are not tested for acceptance.
//
// Where an output is one choice, steps begin shorter, and models of fewer than 8 examples have a part of the
// regulariser (choiceEta, modelLambda).
//
// With λ₁‖w‖₁ a step takes soft thresholds, and s.W has the mean of a pass in the weights that are not 0 at its end:
// the mean of numbers of which a few are not 0 would hardly ever be 0.
//
// The last passes may be those of ProxLinear, on models of all examples.
type BatchProxLinear struct {
	ModelBatch int        // examples per model, at least 1
	Eta        float64    // first η; 0: 0.1
	InnerSteps int        // steps per model; 0 and 1: the exact step along one direction; more: block-coordinate Frank-Wolfe on its examples
	Local      int        // as for SGD, with one step per model
	Passes     int        // passes of the run, over which η falls; 0: it does not
	Finish     int        // of these passes, how many at the end are those of ProxLinear
	Finisher   ProxLinear // its parameters; Passes and WarmUp are set

	descentPass
	inner innerSteps  // for more than one step per model
	whole *ProxLinear // the finish; made by finish
}

const (
	batchEta    = 0.1  // default η
	batchEtaEnd = 1e-2 // its last value, as a fraction of the first
)

// Where an output is one choice, such as of a box, a model of an example knows no more than the scores of two
// candidates, and a step ends where the loss of its batch is 0. Long steps fit one batch after the other and forget.
const (
	choiceEta = 0.03 // default η
	fullModel = 8    // examples of a model that has the whole regulariser
)

// oneChoice reports whether an output is one choice.
func oneChoice(p *train.Problem) bool {
	_, one := p.Scorer.Form().Structure.(structured.OneEntry)
	return one
}

var (
	_ train.MemoryKeeper = &BatchProxLinear{}
	_ train.HostChecker  = &BatchProxLinear{}
)

func (m *BatchProxLinear) Name() string { return "prox-linear" }

func (m *BatchProxLinear) Traits() train.Traits { return train.Traits{L1: true} }

// onBatches reports whether the next pass uses models of batches.
func (m *BatchProxLinear) onBatches(s *train.State) bool {
	return m.Finish == 0 || s.Passes < m.Passes-m.Finish
}

// finish returns the method of the last passes.
func (m *BatchProxLinear) finish() *ProxLinear {
	if m.whole == nil {
		whole := m.Finisher
		whole.Passes, whole.WarmUp = m.Passes, -1
		m.whole = &whole
	}
	return m.whole
}

// Start begins at s.W. A run that resumes with more passes after its finish has begun forgets the finish, and the walk
// before it: passes on batches come next, from the weights at which the finish arrived, and later a finish that starts
// anew.
func (m *BatchProxLinear) Start(ctx context.Context, p *train.Problem, s *train.State) error {
	if err := train.CheckNotQuadratic(m.Name(), p.Objective); err != nil {
		return err
	}
	if err := m.checkL1(p); err != nil {
		return err
	}
	if !m.onBatches(s) {
		return m.finish().Start(ctx, p, s)
	}
	if m.finish().started() {
		m.descentPass, m.whole = descentPass{}, nil
	}
	m.local = localStepsOf(p, m.Local)
	if m.InnerSteps <= 1 {
		return m.begin(m.Name(), p.Engine, s.W)
	}
	if err := train.CheckEngine(m, p.Engine); err != nil {
		return err
	}
	if err := train.CheckCenter(m.Name(), p.Engine.Objective); err != nil {
		return err
	}
	if err := m.inner.start(p); err != nil {
		return err
	}
	return m.begin(m.Name(), m.inner.Engine, s.W)
}

// checkL1 rejects λ₁‖w‖₁ where it has no rule.
func (m *BatchProxLinear) checkL1(p *train.Problem) error {
	if err := train.CheckThresholds(m.Name(), p.Engine); err != nil || p.L1 == 0 {
		return err
	}
	switch {
	case p.Center != nil:
		return refuseL1(m.Name(), "where the regulariser has another centre than zero (prior, or an encoder that is trained)")
	case m.InnerSteps > 1:
		return refuseL1(m.Name(), "in more than one step on a model (inner-steps)")
	case m.Finish > 0:
		return refuseL1(m.Name(), "on models of all examples (finish)")
	}
	return nil
}

// CheckHost implements train.HostChecker: steps on single examples of a model of a batch are on the host.
func (m *BatchProxLinear) CheckHost() error {
	if m.InnerSteps <= 1 {
		return nil
	}
	return train.Refuse(m.Name(), train.HostPotentials, "takes more than one step on a model (inner-steps) on the CPU only")
}

// Pass takes a step on every batch, in random order; s.W becomes the mean of the pass's iterates. In the finish it is a
// pass of ProxLinear.
func (m *BatchProxLinear) Pass(ctx context.Context, p *train.Problem, s *train.State) error {
	if !m.onBatches(s) {
		if !m.finish().started() {
			if err := m.finish().Start(ctx, p, s); err != nil {
				return err
			}
		}
		return m.finish().Pass(ctx, p, s)
	}
	batched := *p
	batched.Batch = m.ModelBatch
	steps := float64(m.local.steps(&batched))
	done := float64(s.Passes)
	λ := modelLambda(&batched, int(steps))
	return m.pass(ctx, &batched, s, PassAverage, func(q engine.Question) (float64, error) {
		η := m.eta(p, done)
		done += 1 / steps
		if m.InnerSteps > 1 {
			return η, m.inner.solve(ctx, &m.descent, q, η, λ, m.InnerSteps)
		}
		_, err := m.descent.Step(ctx, q, engine.Move{Rule: engine.ProxRule, Eta: η, Lambda: λ})
		return η, err
	})
}

// eta returns η after so many passes: it falls geometrically.
func (m *BatchProxLinear) eta(p *train.Problem, passes float64) float64 {
	first := m.Eta
	switch {
	case first > 0:
	case oneChoice(p):
		first = choiceEta
	default:
		first = batchEta
	}
	if m.Passes <= m.Finish {
		return first
	}
	return first * math.Pow(batchEtaEnd, min(1, passes/float64(m.Passes-m.Finish)))
}

// modelLambda returns λ of the models of a pass of so many steps: that of the objective, or, where an output is one
// choice, a part of it if models of 8 examples would take fewer steps. The dual variable γ shortens what the loss moves
// in a step, but not what the regulariser shrinks: a weight by the factor 1/(1 + ηλ/s). γ is small where steps on one
// batch undo those on another, and what the network tells candidates apart by would be gone after a few of the many
// steps on small models. With this part of λ a pass shrinks no more than one with models of 8.
//
// With λ₁‖w‖₁ models have all of both, so that the number of zeros does not depend on their size.
func modelLambda(p *train.Problem, steps int) float64 {
	if p.L1 > 0 || !oneChoice(p) {
		return p.Lambda
	}
	full := (p.Len() + fullModel - 1) / fullModel
	return p.Lambda * min(1, float64(full)/float64(steps))
}

func (m *BatchProxLinear) FetchMemory(p *train.Problem) error { return m.finish().FetchMemory(p) }

// Archive saves or restores the method's state.
func (m *BatchProxLinear) Archive(a engine.Archive) {
	m.archive(a)
	m.finish().Archive(a)
}

// innerSteps solves prox-linear's model of a batch more accurately than one step does: it linearises the network at the
// iterate, takes the exact step, and then steps of block-coordinate Frank-Wolfe on the batch's examples in turn
// (engine.BatchDual).
type innerSteps struct {
	*engine.Engine                   // of the linearised network; nil before start
	moving         engine.Linearised // its scorer; nil if the problem's own scorer is affine
	dual           *engine.BatchDual
}

// start makes the linearised problem, unless it is there.
func (m *innerSteps) start(p *train.Problem) error {
	if m.Engine != nil {
		return nil
	}
	switch {
	case p.Partial():
		return train.Refuse("prox-linear", train.KnownLabels, "needs to know all gold labels for more than one step on a model (inner-steps)")
	case p.Smoothing.Mu > 0:
		return train.Refuse("prox-linear", train.PlainMax, "takes more than one step on a model (inner-steps) without smoothing only")
	}
	o, moving, err := linearised(p)
	if err != nil {
		return err
	}
	m.moving, m.dual = moving, engine.NewBatchDual(o)
	m.Engine, err = p.Sibling(o) // on the host, as the method's engine is
	return err
}

// solve takes the given number of steps on the model of the batch of q.
func (m *innerSteps) solve(ctx context.Context, d *engine.ScaledDescent, q engine.Question, η, λ float64,
	steps int) error {
	batch, dropout := q.Examples, q.Dropout
	d.Prepare(batch)
	if m.moving != nil {
		m.moving.MoveTo(d.W)
	}
	if err := m.dual.Begin(ctx, d, batch, dropout, η, λ); err != nil {
		return err
	}
	for k := range steps - 1 {
		if err := m.dual.Step(ctx, d, k%len(batch), dropout, η); err != nil {
			return err
		}
	}
	return nil
}
