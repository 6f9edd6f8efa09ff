// Package train holds what all optimisers share: the problem, the public state of a run, certificates, the training
// loop and checkpoints. Package engine holds the objective and evaluates it. Package methods holds the optimisers, one
// file each. Package record reports on a run. Imports go one way: engine and record do not import train, and train does
// not import methods.
//
// Notation, throughout: w weights, θ_i(w) potentials of example i, ℓ_i its task loss written as potentials, y_i its
// gold output, J_i = ∂θ_i/∂w, u_i marginals returned by an oracle, λ the regulariser, c its centre, μ smoothing, κ the
// weight of a proximal term with centre z, γ a step size.
package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/record"
)

// Trainer runs a method on a problem pass by pass and reports to recorders.
type Trainer struct {
	Problem *Problem
	Method  Method

	Passes   int     // stop after this many passes
	Gap      float64 // stop at a certified relative gap (F − dual)/|F| of at most this; 0: never
	Patience int     // stop after this many passes without a lower development error; 0: never
	Lazy     bool    // compute F only where that is of use, if the method can do without (Deferrer); the last pass of a run always has it

	// Evaluate measures weights on development and test data; either result may be nil. A nil Evaluate measures
	// nothing.
	Evaluate func(ctx context.Context, w []float32) (dev, test *structured.Metrics, err error)

	// Begin measures the weights that the run begins with on development data, where these are of use; else it is nil.
	Begin func(ctx context.Context, w []float32) (*structured.Metrics, error)

	Recorders  []record.Recorder // Run closes them
	Checkpoint *Checkpoint       // nil: no checkpoints
}

// Result is the outcome of a run.
type Result struct {
	Last   record.Record
	W      []float32     // weights after the last pass
	Best   record.Record // the pass with the lowest development error (Record.DevError); otherwise Last
	BestW  []float32     // its weights
	Reason string        // why the run ended

	Begun *structured.Metrics // what Trainer.Begin measured when the run began, also of a resumed one
}

// ErrInterrupted reports that the context ended a run. The result, and the checkpoint if there is one, hold everything
// before the unfinished pass.
var ErrInterrupted = errors.New("interrupted")

// Run trains from s.W, or from the checkpoint, until it reaches one of the trainer's limits. Seconds count only the
// time in the method, over all runs since the first.
//
// When ctx ends, Run saves the last pass boundary and returns ErrInterrupted with a result. Only the unfinished pass is
// lost. With memories on a device or on other ranks, or a large state, the passes since a checkpoint was last due are
// lost too (throttle). A resumed run repeats them with the same bits. Potentials or objectives that are not finite end
// the run with a DivergedError. After any error the folder holds the last good checkpoint.
func (t *Trainer) Run(ctx context.Context, s *State) (result *Result, err error) {
	defer func() {
		for _, r := range t.Recorders {
			err = errors.Join(err, r.Close())
		}
	}()
	l := &loop{Trainer: t, s: s}
	if err := l.start(ctx); err != nil {
		return nil, err
	}
	for l.reason() == "" {
		if err := l.pass(ctx); err != nil {
			if errors.Is(err, ErrInterrupted) {
				return l.result(), err
			}
			return nil, err
		}
	}
	if err := l.end(ctx); err != nil {
		return nil, err
	}
	out := l.result()
	return out, l.completeBest(ctx, out)
}

// completeBest computes F of the weights that did best on development data, after a pass without F.
func (l *loop) completeBest(ctx context.Context, r *Result) error {
	if !math.IsNaN(float64(r.Best.Objective)) {
		return nil
	}
	f, _, err := l.Problem.Upper(ctx, r.BestW)
	if err != nil {
		return l.failed(ctx, err)
	}
	r.Best.Objective, r.Best.Dual = record.Number(f), r.Last.Dual
	r.Best.Gap = r.Best.Objective - r.Best.Dual
	return nil
}

// end saves the last boundary.
func (l *loop) end(ctx context.Context) error {
	if l.behind {
		if err := l.take(ctx); err != nil {
			return l.failed(ctx, err)
		}
	}
	if l.Checkpoint == nil {
		return nil
	}
	return l.Checkpoint.save()
}

// loop is a Trainer's run in progress.
type loop struct {
	*Trainer
	s     *State
	books books
	w     []float32 // weights at the last pass boundary
	rise  float64   // of the estimated dual in the last pass; +∞ in the first one

	behind bool // the checkpoint is older than the last boundary
}

func (l *loop) start(ctx context.Context) error {
	l.defers()
	resumes := l.Checkpoint != nil && l.Checkpoint.Resumes()
	if resumes {
		if err := l.Checkpoint.restore(l.Method, l.s, &l.books); err != nil {
			return err
		}
		if l.books.Doubles {
			l.Problem.UseDoubles()
		}
	} else {
		*l.s = *NewState(l.s.W)
		if err := l.boundary(ctx); err != nil {
			return err
		}
	}
	if err := CheckTerms(l.Method, l.Problem.Objective, l.Problem.OnDevice()); err != nil {
		return err
	}
	if l.Begin != nil && l.books.Begun == nil && l.s.Passes == 0 {
		var err error
		if l.books.Begun, err = l.Begin(ctx, l.s.W); err != nil {
			return l.failed(ctx, err)
		}
	}
	begin := time.Now()
	err := l.Method.Start(ctx, l.Problem, l.s)
	if structured.IsBadInput(err) { // the method refuses the problem, so that there is nothing to save
		return err
	}
	if err != nil {
		return l.failed(ctx, err)
	}
	l.books.Last.Seconds += time.Since(begin).Seconds()
	if resumes {
		l.w = append(l.w[:0], l.s.W...)
		return nil
	}
	return l.boundary(ctx)
}

// boundary keeps the current state, between two passes, as the one to fall back to. If the method's memory is on a
// device or on other ranks and must be copied, or the state is large, it does so only when a checkpoint is due.
func (l *loop) boundary(ctx context.Context) error {
	l.w = append(l.w[:0], l.s.W...)
	if l.divided() != nil {
		due, err := l.dueOnAll(ctx)
		if l.behind = !due; l.behind || err != nil {
			return err
		}
		return l.take(ctx)
	}
	_, fetches := l.Method.(MemoryKeeper)
	c := l.Checkpoint
	if c != nil && (c.Large && l.s.Passes == 0 || (c.Large || fetches && l.Problem.OnDevice()) && !c.due(l.s.Passes)) {
		l.behind = true
		return nil
	}
	return l.take(ctx)
}

// divided returns the method if ranks have to assemble its state; else nil.
func (l *loop) divided() Divided {
	if d, ok := l.Method.(Divided); ok && l.Problem.Ranks().Size() > 1 {
		return d
	}
	return nil
}

// dueOnAll reports whether a checkpoint of the current state is due, as rank 0 says, which writes it.
func (l *loop) dueOnAll(ctx context.Context) (bool, error) {
	due := make([]byte, 1)
	if c := l.Checkpoint; c != nil && l.s.Passes > 0 && c.due(l.s.Passes) {
		due[0] = 1
	}
	err := l.Problem.Ranks().Broadcast(ctx, due, 0)
	return due[0] == 1, err
}

// take copies the current state into the checkpoint.
func (l *loop) take(ctx context.Context) error {
	if d := l.divided(); d != nil {
		if err := d.Assemble(ctx, l.Problem); err != nil {
			return err
		}
	}
	if l.Checkpoint == nil {
		return nil
	}
	if m, ok := l.Method.(MemoryKeeper); ok {
		if err := m.FetchMemory(l.Problem); err != nil {
			return err
		}
	}
	l.behind = false
	return l.Checkpoint.take(l.Method, l.s, &l.books)
}

// reason says why the run has ended; it is empty while the run continues.
func (l *loop) reason() string {
	last := l.books.Last
	switch {
	case l.Gap > 0 && last.Pass > 0 && last.RelativeGap() <= l.Gap:
		return fmt.Sprintf("relative gap %.2g reached", last.RelativeGap())
	case l.outOfPatience():
		return "no better on development data for " + passes(l.Patience)
	case l.s.Done && l.rounded():
		return fmt.Sprintf("relative gap %.2g reached; rounding hides what is below %.2g", last.RelativeGap(), l.s.Rounding/math.Abs(l.s.Primal))
	case l.s.Done:
		return fmt.Sprintf("%s can do no more", l.Method.Name())
	case l.s.Passes >= l.Passes:
		return passes(l.s.Passes) + " done"
	}
	return ""
}

func passes(n int) string {
	if n == 1 {
		return "1 pass"
	}
	return fmt.Sprintf("%d passes", n)
}

// outOfPatience reports whether the development error has not fallen for too long.
func (l *loop) outOfPatience() bool {
	last := l.books.Last
	return l.Patience > 0 && last.Dev != nil && last.Pass-l.books.Best.Pass >= l.Patience
}

func (l *loop) pass(ctx context.Context) error {
	begin, before := time.Now(), l.s.Estimate
	if err := Pass(ctx, l.Method, l.Problem, l.s); err != nil {
		return l.failed(ctx, err)
	}
	if l.rise = l.s.Estimate - before; math.IsNaN(before) {
		l.rise = math.Inf(1)
	}
	// An interrupt does not discard a finished pass.
	if err := l.certify(context.WithoutCancel(ctx)); err != nil {
		return l.failed(ctx, err)
	}
	seconds := l.books.Last.Seconds + time.Since(begin).Seconds()
	record, err := l.observe(context.WithoutCancel(ctx))
	if err != nil {
		return l.failed(ctx, err)
	}
	record.Seconds = seconds
	l.keepBest(record)
	if l.outOfPatience() { // the run ends here, which certify did not know
		if record, err = l.close(context.WithoutCancel(ctx), record); err != nil {
			return l.failed(ctx, err)
		}
	}
	for _, r := range l.Recorders {
		if err := r.Record(record); err != nil {
			return fmt.Errorf("recording pass %d: %w", record.Pass, err)
		}
	}
	if err := l.boundary(context.WithoutCancel(ctx)); err != nil {
		return l.failed(ctx, err)
	}
	if l.Checkpoint != nil {
		return l.Checkpoint.saveIfDue(l.s.Passes)
	}
	return nil
}

// close makes up for what a last pass has left out: F and a certificate.
func (l *loop) close(ctx context.Context, r record.Record) (record.Record, error) {
	seconds, deferred := r.Seconds, l.s.Deferred
	if deferred {
		if err := l.complete(ctx, false); err != nil {
			return r, err
		}
	}
	if m, ok := l.Method.(Certifier); ok && (deferred || r.EstimatedGap != 0) {
		if err := m.Certify(ctx, l.Problem, l.s, false); err != nil {
			return r, err
		}
	}
	if err := l.s.Check(l.Method.Name()); err != nil {
		return r, err
	}
	if !deferred {
		l.s.bound(&r, l.Problem.Floor())
		l.books.Last = r
		return r, nil
	}
	again, err := l.observe(ctx) // its weights may be others
	again.Seconds = seconds
	l.keepBest(again)
	return again, err
}

// certify asks the method to recompose an estimated dual if the estimate could end the run or the run ends anyway. It
// then checks the certificate. A pass that is of no use to anybody stays without F.
func (l *loop) certify(ctx context.Context) error {
	s, keep, last := l.s, true, l.s.Passes >= l.Passes
	if s.Deferred {
		keep = l.due()
		if !keep && !last {
			return l.Problem.SameOnRanks(ctx, s.W)
		}
		if err := l.complete(ctx, keep); err != nil {
			return err
		}
	}
	reached := l.reached()
	if m, ok := l.Method.(Certifier); ok && (reached || s.Done || last) {
		estimated := s.EstimatedGap()
		if err := m.Certify(ctx, l.Problem, s, reached && keep); err != nil {
			return err
		}
		if reached && keep {
			l.learn(estimated)
		}
	}
	if !keep || !l.refine() {
		s.Done = s.Done || keep && l.rounded()
	}
	if err := s.Check(l.Method.Name()); err != nil {
		return err
	}
	return l.Problem.SameOnRanks(ctx, s.W)
}

// observe measures the current weights.
func (l *loop) observe(ctx context.Context) (record.Record, error) {
	s := l.s
	objective := s.Primal
	if math.IsNaN(objective) && !s.Deferred { // the method did not compute it, or it is NaN and this finds the example
		var err error
		if objective, err = l.Problem.Value(ctx, s.W); err != nil {
			return record.Record{}, err
		}
	}
	if (math.IsNaN(objective) || math.IsInf(objective, 0)) && !s.Deferred {
		return record.Record{}, l.diverged("", fmt.Sprintf("objective is %v", objective))
	}
	r := record.Record{
		Pass:         s.Passes,
		OracleCalls:  s.OracleCalls,
		FullPasses:   s.FullPasses,
		Objective:    record.Number(objective),
		Relaxed:      l.Problem.Relaxed() != "",
		Truncated:    l.Problem.Truncated(),
		Smoothed:     record.Number(s.Smoothed),
		Mu:           record.Number(s.Mu),
		Kappa:        record.Number(s.Kappa),
		ExactTopK:    record.Number(s.Exact),
		Nonzero:      engine.Nonzeros(s.W),
		Step:         record.Number(s.Step),
		ProxGradient: record.Number(s.ProxGradient),
	}
	if s.Deferred {
		r.Dual, r.Gap = record.Number(math.NaN()), record.Number(math.NaN())
	} else {
		s.bound(&r, l.Problem.Floor())
	}
	if l.Evaluate != nil {
		var err error
		if r.Dev, r.Test, err = l.Evaluate(ctx, s.W); err != nil {
			return record.Record{}, err
		}
	}
	return r, nil
}

// bound sets what a record says of the dual: its bound, and the gaps. Nothing is certified yet of a bound of −∞.
func (s *State) bound(r *record.Record, floor float64) {
	dual := s.Dual
	if dual < floor {
		dual = floor
	}
	r.EstimatedGap = 0
	if s.Estimate > dual {
		r.EstimatedGap = record.Number(s.EstimatedGap())
	}
	if math.IsInf(dual, -1) {
		dual = math.NaN()
	}
	r.Dual, r.Gap = record.Number(dual), r.Objective-record.Number(dual)
}

func (l *loop) keepBest(r record.Record) {
	b := &l.books
	_, now := r.DevError()
	_, best := b.Best.DevError()
	switch {
	case math.IsNaN(now):
		b.Best = r
	case math.IsNaN(best) || now < best:
		b.Best = r
		b.BestW = append(b.BestW[:0], l.s.W...)
	}
	b.Last = r
}

func (l *loop) result() *Result {
	r := &Result{Last: l.books.Last, W: l.w, Best: l.books.Best, BestW: l.books.BestW, Reason: l.reason(), Begun: l.books.Begun}
	if r.BestW == nil {
		r.BestW = slices.Clone(r.W)
	}
	return r
}
