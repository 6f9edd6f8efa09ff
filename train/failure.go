package train

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train/engine"
)

// DivergedError reports that a number of the training run became NaN or infinite.
type DivergedError struct {
	Pass       int     // the pass in which it happened
	Where      string  // the example that showed it first, if known
	What       string  // the quantity that is not finite
	Checkpoint string  // folder of the last good checkpoint; empty if there is none
	Good       int     // the pass of that checkpoint
	Step       float64 // γ; 0 if unknown
}

func (e *DivergedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "pass %d", e.Pass)
	if e.Where != "" {
		fmt.Fprintf(&b, ", %s", e.Where)
	}
	fmt.Fprintf(&b, ": %s; ", e.What)
	if e.Checkpoint != "" {
		fmt.Fprintf(&b, "last good checkpoint is pass %d in %s", e.Good, e.Checkpoint)
	} else {
		b.WriteString("there is no good checkpoint")
	}
	return b.String()
}

// failed turns an error of the method or of an evaluation into the error of the run, and saves the last boundary.
func (l *loop) failed(ctx context.Context, err error) error {
	var nonFinite *engine.NonFiniteError
	switch {
	case engine.Lost(err):
		err = l.deviceFailed(err)
	case errors.As(err, &nonFinite):
		err = l.diverged(nonFinite.Where, "potentials are "+structured.NotValid)
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return l.interrupted()
	case l.Problem.OnDevice() && !structured.IsBadInput(err):
		err = l.deviceFailed(err)
	}
	if l.Checkpoint == nil {
		return err
	}
	return errors.Join(err, l.Checkpoint.save())
}

func (l *loop) diverged(where, what string) error {
	e := &DivergedError{Pass: l.books.Last.Pass + 1, Where: where, What: what, Step: l.s.Step}
	if good := l.saved(); good > 0 {
		e.Checkpoint, e.Good = l.Checkpoint.dir, good
	}
	return e
}

// resumableError ends a run that can resume from its checkpoint.
type resumableError struct{ err error }

func (e *resumableError) Error() string { return e.err.Error() }
func (e *resumableError) Unwrap() error { return e.err }

// Resumable reports whether a run that ended with this error can resume from its checkpoint.
func Resumable(err error) bool {
	var r *resumableError
	return errors.As(err, &r)
}

// deviceFailed adds to an error on a device, or of another rank, the pass in which it happened and the pass to resume
// from.
func (l *loop) deviceFailed(err error) error {
	done, good := l.books.Last.Pass, l.saved()
	if l.Problem.Ranks().Rank() > 0 {
		return fmt.Errorf("pass %d: %w; the checkpoint to resume from, if there is one, is the one that rank 0 saved last", done+1, err)
	}
	if good == 0 {
		return fmt.Errorf("pass %d: %w; there is no good checkpoint", done+1, err)
	}
	return &resumableError{fmt.Errorf("pass %d: %w; the last good checkpoint is pass %d in %s", done+1, err, good, l.Checkpoint.dir)}
}

func (l *loop) interrupted() error {
	done := l.books.Last.Pass
	if l.Checkpoint == nil {
		return fmt.Errorf("%w in pass %d", ErrInterrupted, done+1)
	}
	if err := l.Checkpoint.save(); err != nil {
		return err
	}
	return &resumableError{fmt.Errorf("%w in pass %d; the checkpoint in %s is of pass %d", ErrInterrupted, done+1, l.Checkpoint.dir, l.saved())}
}

// saved returns the pass of the saved checkpoint, or 0 without one.
func (l *loop) saved() int {
	if l.Checkpoint == nil {
		return 0
	}
	return l.Checkpoint.Pass()
}
