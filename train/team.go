package train

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/dsp-go/dsp/structured"
)

// team runs short phases of work on goroutines that stay alive between them, for methods whose steps take microseconds.
// Whoever waits spins for a while, then yields, then sleeps: on a busy machine the one waited for needs the processor. A phase ends when its tasks are done, whether or not every member took
// part, so that one that the system has put aside holds nobody up.
type team struct {
	state  atomic.Uint64 // phase, tasks of the phase, tasks that were begun: 32, 16 and 16 bits
	done   atomic.Int32  // tasks of the phase that are done
	closed atomic.Bool
	work   func(task int) error
	errs   []error // of the phase's tasks
	alone  bool
}

// Looks at the state before a member yields, and before it sleeps.
const (
	spins  = 1 << 12
	yields = 1 << 15
)

// wait is what a member does after it looked i times in vain.
func wait(i int) {
	switch {
	case i > yields:
		time.Sleep(20 * time.Microsecond)
	case i > spins:
		runtime.Gosched()
	}
}

// newTeam returns a team of that many members, the caller of run included. It is to be closed.
func newTeam(members int) *team {
	t := &team{alone: members <= 1}
	for range members - 1 {
		go t.serve()
	}
	return t
}

// close sends the members home.
func (t *team) close() { t.closed.Store(true) }

// run does work(0) to work(n-1) and returns the first error in that order. A panic is an error.
func (t *team) run(n int, work func(task int) error) error {
	for len(t.errs) < n {
		t.errs = append(t.errs, nil)
	}
	if t.alone || n == 1 {
		for task := range n {
			t.errs[task] = guard(work, task)
		}
	} else {
		t.work = work
		t.done.Store(0)
		phase := t.state.Load() >> 32
		t.state.Store((phase+1)<<32 | uint64(n)<<16)
		for t.take() {
		}
		for i := 0; int(t.done.Load()) < n; i++ {
			wait(i)
		}
	}
	for _, err := range t.errs[:n] {
		if err != nil {
			return err
		}
	}
	return nil
}

// take does one task of the present phase; false where none is left to begin.
func (t *team) take() bool {
	for {
		s := t.state.Load()
		task := s & 0xffff
		if task >= s>>16&0xffff {
			return false
		}
		if t.state.CompareAndSwap(s, s+1) {
			t.errs[task] = guard(t.work, int(task))
			t.done.Add(1)
			return true
		}
	}
}

func (t *team) serve() {
	for i := 0; !t.closed.Load(); i++ {
		if t.take() {
			i = 0
		} else {
			wait(i)
		}
	}
}

func guard(work func(int) error, task int) error {
	return structured.Guard(func() error { return work(task) })
}
