package host

import (
	"context"
	"iter"
	"runtime"
	"sync"
)

// InOrder computes work(scratch, item) for every item that next yields until it says false, on several threads (0: all
// cores), each with a scratch of its own, and hands the results to use in the order of the items, on the calling
// goroutine. It stops at the first error in that order, or when ctx ends, and does not wait for a next that blocks on
// input.
func InOrder[S, I, R any](ctx context.Context, threads int, next func() (I, bool, error), scratch func() S,
	work func(s S, item I) (R, error), use func(r R) error) error {
	type job struct {
		item   I
		err    error // of next
		result R
		done   chan struct{}
	}
	threads = Threads(threads)
	jobs, order := make(chan *job, threads), make(chan *job, 2*threads) // run a little ahead of use
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	w := beginWork(0)
	defer w.end()
	defer running.Wait()
	defer stop()
	go func() {
		defer close(order)
		defer close(jobs)
		for more := true; more; {
			j := &job{done: make(chan struct{})}
			j.err = Guard(func() (err error) { j.item, more, err = next(); return err })
			switch {
			case j.err != nil:
				close(j.done)
			case !more:
				return
			}
			w.take()
			select {
			case order <- j:
			case <-ctx.Done():
				return
			}
			if j.err != nil {
				return
			}
			select {
			case jobs <- j:
			case <-ctx.Done():
				return
			}
		}
	}()
	for range threads {
		running.Go(func() {
			var s S
			begun := false
			for j := range untilDone(ctx, jobs) {
				j.err = Guard(func() (err error) {
					if !begun {
						s, begun = scratch(), true
					}
					j.result, err = work(s, j.item)
					return err
				})
				close(j.done)
			}
		})
	}
	for j := range untilDone(ctx, order) {
		select {
		case <-j.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if j.err == nil {
			j.err = use(j.result)
		}
		if j.err != nil {
			return j.err
		}
		w.step()
	}
	return ctx.Err()
}

// untilDone yields what a channel receives until it is closed or ctx ends.
func untilDone[E any](ctx context.Context, from <-chan E) iter.Seq[E] {
	return func(yield func(E) bool) {
		for {
			select {
			case e, ok := <-from:
				if !ok || !yield(e) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

// Each yields the items of a list, as InOrder takes them.
func Each[I any](items []I) func() (I, bool, error) {
	k := 0
	return func() (item I, ok bool, err error) {
		if k == len(items) {
			return item, false, nil
		}
		k++
		return items[k-1], true, nil
	}
}

// Threads returns the number of threads; 0 means all cores.
func Threads(threads int) int {
	if threads > 0 {
		return threads
	}
	return runtime.GOMAXPROCS(0)
}
