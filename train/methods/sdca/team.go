package sdca

import (
	"math/bits"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/dsp-go/dsp/structured/host"
	"github.com/dsp-go/dsp/structured/vec"
)

// team runs short phases of work on goroutines that stay alive between them, for methods whose steps take microseconds.
// Whoever waits spins for a while, then yields, then sleeps: on a busy machine the one waited for needs the processor.
//
// A task is begun by the same member in every phase as long as all keep up, since what it touches is in that member's
// cache: members begin with their own share of the tasks. But they end with those of others that nobody has begun, so
// that one that the system has put aside holds nobody up.
type team struct {
	members int
	state   atomic.Uint64 // the phase, its slots, and a bit for each of those that nobody has begun: 26, 6 and 32 bits
	done    atomic.Int32  // slots of the phase that are done
	closed  atomic.Bool
	work    func(task int) error
	slots   int     // of the phase
	errs    []error // of the phase's tasks
}

// slotsOfPhase is the largest number of slots; a phase of more tasks has several in each.
const slotsOfPhase = 32

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
	t := &team{members: min(max(1, members), slotsOfPhase)}
	for member := 1; member < t.members; member++ {
		go t.serve(member)
	}
	return t
}

// close sends the members home.
func (t *team) close() { t.closed.Store(true) }

// run does work(0) to work(n-1) and returns the first error in that order. A panic is an error.
func (t *team) run(n int, work func(task int) error) error {
	t.errs = vec.Grow(t.errs, n)
	t.work, t.slots = work, min(n, slotsOfPhase)
	if t.members == 1 || n == 1 {
		for slot := range t.slots {
			t.do(slot)
		}
	} else {
		t.done.Store(0)
		phase := t.state.Load() >> 38
		t.state.Store((phase+1)<<38 | uint64(t.slots)<<32 | (1<<t.slots - 1))
		for t.take(0) {
		}
		for i := 0; int(t.done.Load()) < t.slots; i++ {
			wait(i)
		}
	}
	for _, err := range t.errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// take does one slot of the present phase; false where none is left to begin.
func (t *team) take(member int) bool {
	for {
		s := t.state.Load()
		left := uint32(s)
		if left == 0 {
			return false
		}
		first := int(s>>32&63) * member / t.members
		mine := left >> first << first
		if mine == 0 {
			mine = left
		}
		slot := bits.TrailingZeros32(mine)
		if t.state.CompareAndSwap(s, s&^(1<<slot)) {
			t.do(slot)
			t.done.Add(1)
			return true
		}
	}
}

// do does the tasks of a slot.
func (t *team) do(slot int) {
	for task := slot; task < len(t.errs); task += t.slots {
		t.errs[task] = guard(t.work, task)
	}
}

func (t *team) serve(member int) {
	for i := 0; !t.closed.Load(); i++ {
		if t.take(member) {
			i = 0
		} else {
			wait(i)
		}
	}
}

func guard(work func(int) error, task int) error {
	return host.Guard(func() error { return work(task) })
}
