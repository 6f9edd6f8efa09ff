package host

import (
	"sync/atomic"
	"time"
)

// Work is a loop over steps that several threads share (Parallel, InOrder).
type Work struct {
	total int          // steps; 0: unknown
	taken atomic.Int64 // steps of an unknown number that have begun
	done  atomic.Int64
	asked atomic.Int64 // taken, when Idle was asked last
	begun time.Time
}

// underway is the loop that is under way; loops inside of it are its steps.
var underway atomic.Pointer[Work]

// Underway returns the loop that is under way, nil if there is none.
func Underway() *Work { return underway.Load() }

// stage is the part of its work that the program is at, for who reports on it.
var stage atomic.Pointer[string]

// AtStage names the part of its work that the program is at, until done is called.
func AtStage(name string) (done func()) {
	before := stage.Swap(&name)
	return func() { stage.Store(before) }
}

// Stage returns the part of its work that the program is at; empty if it has no parts.
func Stage() string {
	if name := stage.Load(); name != nil {
		return *name
	}
	return ""
}

// beginWork begins a loop, which is nil inside of another one.
func beginWork(total int) *Work {
	w := &Work{total: total, begun: time.Now()}
	if !underway.CompareAndSwap(nil, w) {
		return nil
	}
	return w
}

// step says that a step is done.
func (w *Work) step() {
	if w != nil {
		w.done.Add(1)
	}
}

// take says that a step of an unknown number begins.
func (w *Work) take() {
	if w != nil {
		w.taken.Add(1)
	}
}

// Idle reports whether the loop waits for something to do, and has not begun anything since it was last asked: a loop
// that is faster than what it reads waits all the time, and is at work.
func (w *Work) Idle() bool {
	taken := w.taken.Load()
	return w.asked.Swap(taken) == taken && w.total == 0 && taken <= w.done.Load()
}

func (w *Work) end() {
	if w != nil {
		underway.Store(nil)
	}
}

// Progress returns how many steps are done, of how many (0: nobody knows), and how long the rest will take if it goes
// on like that, 0 where that is unknown.
func (w *Work) Progress(now time.Time) (done, total int, rest time.Duration) {
	done, total = int(w.done.Load()), w.total
	if total > 0 && done > 0 {
		rest = time.Duration(float64(now.Sub(w.begun)) * float64(total-done) / float64(done))
	}
	return done, total, rest
}
