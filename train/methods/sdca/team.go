package sdca

import (
	"math/bits"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// team runs short phases of work on goroutines that stay alive in between, for methods whose steps take microseconds. A
// waiting member spins for a while, then yields, then sleeps: on a busy machine the member it waits for needs the
// processor.
//
// The same member starts a given task in every phase as long as all keep up, because the task's data is in that
// member's cache. Members start with their own share of the tasks. They then take unstarted tasks of other members, so
// that a member that the operating system has suspended does not hold up the rest.
type team struct {
	members int
	state   atomic.Uint64 // the phase, its number of slots, and a bit for each unstarted slot: 26, 6 and 32 bits
	done    atomic.Int32  // finished slots of the phase
	closed  atomic.Bool
	work    func(task int) error
	slots   int     // of the current phase
	errs    []error // of the phase's tasks
}

// slotsOfPhase is the largest number of slots. A phase with more tasks puts several in each slot.
const slotsOfPhase = 32

// Polls of the state before a member yields, and before it sleeps.
const (
	spins  = 1 << 12
	yields = 1 << 15
)

// wait backs off after i unsuccessful polls.
func wait(i int) {
	switch {
	case i > yields:
		time.Sleep(20 * time.Microsecond)
	case i > spins:
		runtime.Gosched()
	}
}

// newTeam returns a team with this many members, including the caller of run. The caller must close it.
func newTeam(members int) *team {
	t := &team{members: min(max(1, members), slotsOfPhase)}
	for member := 1; member < t.members; member++ {
		go t.serve(member)
	}
	return t
}

// close stops the members.
func (t *team) close() { t.closed.Store(true) }

// run calls work(0) to work(n-1) and returns the first error in that order. A panic becomes an error.
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

// take runs one slot of the current phase. It returns false if none is left to start.
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

// do runs the tasks of a slot.
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
