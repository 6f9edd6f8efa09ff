package train

import (
	"context"
	"math"
)

// Deferrer is a method that need not compute F in every pass, because the dual's rise tells about how far it is from
// the optimum. A full pass over the data takes about half as long as a pass of steps, and is worth that only where it
// may end the run.
type Deferrer interface {
	// Defer says whether later passes may leave F to Complete. Such a pass leaves its weights in s.W and NaN in
	// s.Primal, and sets s.Deferred. It shows in s.Dual and s.Estimate what it shows otherwise.
	Defer(on bool)

	// Complete computes F(s.W) after a pass that deferred it, and does whatever follows from it. If other weights are
	// known to have a lower F, it leaves those in s.W. It clears s.Deferred. Unless keep is true, it changes nothing
	// that later passes see and counts no work, so that a run that ended here and goes on has the same bits as one that
	// did not end.
	Complete(ctx context.Context, p *Problem, s *State, keep bool) error
}

// completed is how many passes at most go by without F: one of so many is for the curves.
const completed = 10

// defers tells the method whether it may leave F unknown.
func (l *loop) defers() {
	if d, ok := l.Method.(Deferrer); ok {
		d.Defer(l.Lazy)
	}
}

// complete computes what the method has deferred. If that is kept, it learns from F what the dual's rise is worth: F is
// computed again once the rise has fallen by the factor that the gap has to fall by.
func (l *loop) complete(ctx context.Context, keep bool) error {
	s := l.s
	if err := l.Method.(Deferrer).Complete(ctx, l.Problem, s, keep); err != nil {
		return err
	}
	if gap, target := s.EstimatedGap(), l.Gap*math.Abs(s.Primal); keep && l.Gap > 0 && gap > target {
		l.books.Await = l.rise * target / gap
	}
	return nil
}

// due reports whether F is of use after this pass: it may end the run, or tells why a dual value is no number, or ten
// passes have gone by. Where methods converge fast, the dual rises in a pass by a tenth to a half of the gap that
// remains, so that F is looked at before the rise is as small as the target.
func (l *loop) due() bool {
	s := l.s
	switch {
	case s.Done, s.Passes%completed == 0:
		return true
	case !(math.Abs(s.Estimate) <= math.MaxFloat64):
		return true
	case l.Gap == 0:
		return false
	case l.books.Await > 0:
		return l.rise <= l.books.Await
	}
	return l.rise <= l.Gap*math.Abs(s.Estimate) // F is about as large once it is near
}

// reached reports whether the estimated gap, and what a certificate has added to it before, are within the target.
func (l *loop) reached() bool {
	gap, target := l.s.EstimatedGap(), l.Gap*math.Abs(l.s.Primal)
	if l.Lazy {
		gap += l.books.Owed
	}
	return l.Gap > 0 && gap <= target
}

// learn remembers by how much a certificate is wider than the estimate before it, where it misses the target: by an
// allowance for rounding, or because the estimate has drifted.
func (l *loop) learn(estimated float64) {
	s := l.s
	target := l.Gap * math.Abs(s.Primal)
	if !l.Lazy || !(s.Gap() > target) {
		return
	}
	l.books.Owed = min(max(0, s.Gap()-estimated), target/2)
	l.books.Await = l.rise / 2
}

// rounded reports whether further passes prove no more: the allowance for rounding in the dual is larger than the gap
// that the run is to reach, and the certified gap is little else. The objective is rounded, too, by less as a rule.
// Certificates in float64 have no such end.
func (l *loop) rounded() bool {
	s := l.s
	return l.Lazy && l.Gap > 0 && !l.Problem.Doubles() && s.Rounding >= l.Gap*math.Abs(s.Primal) && s.Gap() <= mostlyRounding*s.Rounding
}

const mostlyRounding = 3
