package host

import (
	"context"
	"testing"
	"time"
)

// The outermost loop is the one under way, and counts its steps.
func TestWorkUnderway(t *testing.T) {
	seen := 0
	err := Parallel(1, 4, None, func(_ struct{}, k int) error {
		if err := Parallel(1, 3, None, func(_ struct{}, _ int) error { return nil }); err != nil {
			return err
		}
		w := Underway()
		done, total, rest := w.Progress(w.begun.Add(time.Duration(k) * time.Minute))
		if done != k || total != 4 ||
			rest != map[int]time.Duration{0: 0, 1: 3 * time.Minute, 2: 2 * time.Minute, 3: time.Minute}[k] {
			t.Errorf("step %d: %d of %d done, rest %v", k, done, total, rest)
		}
		seen++
		return nil
	})
	if err != nil || seen != 4 || Underway() != nil {
		t.Errorf("%v, %d steps, %v is under way", err, seen, Underway())
	}
	next := 0
	err = InOrder(context.Background(), 1, func() (int, bool, error) { next++; return next, next <= 3, nil }, None,
		func(_ struct{}, k int) (int, error) { return k, nil }, func(k int) error {
			if done, total, rest := Underway().Progress(time.Now()); done != k-1 || total != 0 || rest != 0 {
				t.Errorf("item %d: %d of %d done, rest %v", k, done, total, rest)
			}
			return nil
		})
	if err != nil || Underway() != nil {
		t.Errorf("%v, %v is under way", err, Underway())
	}
}

// A loop that waits for input is idle where nothing has come since the last look, and not while items come, however
// fast it is done with them.
func TestIdle(t *testing.T) {
	w := &Work{}
	for _, c := range []struct {
		taken, done int
		idle        bool
	}{{0, 0, true}, {1, 0, false}, {0, 0, false}, {0, 1, true}, {1, 1, false}, {0, 0, true}, {5, 5, false}, {0, 0, true}} {
		w.taken.Add(int64(c.taken))
		w.done.Add(int64(c.done))
		if got := w.Idle(); got != c.idle {
			t.Errorf("%d taken and %d done: idle is %v", w.taken.Load(), w.done.Load(), got)
		}
	}
	if (&Work{total: 3}).Idle() {
		t.Error("a loop over what is there is idle")
	}
}
