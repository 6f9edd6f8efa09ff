package methods

import (
	"context"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// subproblem is the convex problem of a prox-linear iteration. A single one moves with w_k, so that all iterations
// share its workers and their memory.
type subproblem struct {
	*train.Problem                   // at w_k, with the two quadratics combined into one around a shifted centre
	whole          *train.Problem    // the problem that it models
	moving         engine.Linearised // its scorer; nil if the problem's own scorer is affine
	at             []float32         // w_k
	η              float64
}

// linearised returns the objective with a scorer that is affine in the weights: the linearisation of the network, whose
// point moves, or the problem's own scorer, with nothing that moves, if that is affine.
func linearised(p *train.Problem) (*engine.Objective, engine.Linearised, error) {
	o := *p.Objective
	if p.Scorer.Affine() {
		return &o, nil, nil
	}
	var moving engine.Linearised
	switch net := p.Scorer.(type) {
	case engine.Lineariser:
		moving = net.Linearise()
	case *nets.Net:
		moving = nets.Linearise(net, make([]float32, net.Dim()))
	default:
		return nil, nil, train.Refuse("prox-linear", train.Linearisation,
			"needs the linearisation of the network, which does not offer it")
	}
	o.Scorer = moving
	return &o, moving, nil
}

// begin creates the problem, without posing it at a point yet.
func (s *subproblem) begin(p *train.Problem) error {
	o, moving, err := linearised(p)
	if err != nil {
		return err
	}
	s.whole, s.moving = p, moving
	if o.Partial() {
		o.Completion = engine.NewMemory(p.Objective)
	}
	o.Center = make([]float32, p.Scorer.Dim())
	e, err := p.Sibling(o)
	s.Problem = &train.Problem{Engine: e, Batch: p.Batch}
	return err
}

// pose moves the problem to w_k = w. It combines the two quadratics into one, with λ' = λ + 1/η:
//
//	(λ/2)‖v−c‖² + (1/2η)‖v−w_k‖² = (λ'/2)‖v − (λc + w_k/η)/λ'‖² + (λ/2ηλ')‖c − w_k‖².
//
// It completes partial labels according to the model at w.
func (s *subproblem) pose(ctx context.Context, w []float32, η float64, smoothing oracles.Smoothing, pass uint64) error {
	p := s.whole
	if s.moving != nil {
		s.moving.MoveTo(w)
		s.MoveTo(w)
	}
	s.at, s.η = append(s.at[:0], w...), η
	s.Lambda = p.Lambda + 1/η
	q := p.Lambda / s.Lambda
	copy(s.Center, w)
	vec.Scale(float32(1-q), s.Center)
	apart := 0.0
	if p.Center != nil {
		vec.Axpy(float32(q), p.Center, s.Center)
		apart = vec.Dist2(p.Center, w)
	} else {
		apart = vec.Norm2(w)
	}
	s.CenterMoved()
	s.Constant = p.Constant + q/(2*η)*apart
	if s.Completion != nil {
		rest, err := p.Complete(ctx, w, s.Completion)
		if err != nil {
			return err
		}
		s.Constant += rest
	}
	s.Smoothing = smoothing
	s.Seed = p.Seed + (pass+1)<<32 // a different order of the examples in every iteration
	return nil
}

// distance returns ‖w − w_k‖².
func (s *subproblem) distance(w []float32) float64 { return vec.Dist2(w, s.at) }

// model returns the linearised objective, without the prox term, at a point with a known value.
func (s *subproblem) model(to *train.State) float64 { return to.Primal - s.distance(to.W)/(2*s.η) }
