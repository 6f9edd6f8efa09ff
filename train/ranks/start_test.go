//go:build (linux || darwin) && !static

package ranks

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/ebitengine/purego"
)

// noticed is a context that calls back when somebody asks why it ended.
type noticed struct {
	context.Context
	by func()
}

func (n *noticed) Err() error { n.by(); return n.Context.Err() }

// An MPI whose start waits for ranks that do not come stays behind: at once when the time is over, and after an
// interrupt not before it had a moment more. A start that ends in that moment counts.
func TestStartThatWaits(t *testing.T) {
	defer func(before time.Duration) { lateStart = before }(lateStart)
	starts := make(chan func(), 1) // what the start of the fake library does
	start := purego.NewCallback(func(_, _, _, _ uintptr) uintptr { (<-starts)(); return 0 })
	done := purego.NewCallback(func(_, _ uintptr) uintptr { return 0 })
	l := &library{initThread: start, setErrhandler: done, commRank: done, commSize: done}
	never := make(chan struct{})
	defer close(never)

	lateStart = time.Millisecond
	ctx, interrupt := context.WithCancel(t.Context())
	starts <- func() { interrupt(); <-never }
	if _, err := l.open(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupt: %v", err)
	}

	lateStart = 24 * time.Hour
	ctx, interrupt = context.WithCancel(t.Context())
	seen := make(chan struct{})
	starts <- func() { interrupt(); <-seen }
	if g, err := l.open(&noticed{ctx, sync.OnceFunc(func() { close(seen) })}); err != nil || g == nil {
		t.Errorf("a start that ends after an interrupt: %v", err)
	}

	ctx, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	starts <- func() { <-never }
	if _, err := l.open(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a start whose time is over: %v", err)
	}
}
