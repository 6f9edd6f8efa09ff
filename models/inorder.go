package models

import (
	"context"
	"iter"
	"runtime"
	"sync"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/host"
)

// batchPositions is how many positions are scored at once, unless one chain is longer: enough to keep matrix products
// busy, few enough to keep the potentials in cache.
const batchPositions = 1024

// batches cuts the examples of d into consecutive batches, which depend on the data alone.
func batches(d *structured.Dataset) [][]int {
	var all [][]int
	var batch []int
	positions := 0
	for i := range d.Len() {
		if t := d.Length(i); positions+t > batchPositions && len(batch) > 0 {
			all = append(all, batch)
			batch, positions = nil, 0
		}
		batch = append(batch, i)
		positions += d.Length(i)
	}
	if len(batch) > 0 {
		all = append(all, batch)
	}
	return all
}

// inOrder computes work(scratch, item) for every item that next yields until it says false, on several threads (0: all
// cores), each with a scratch of its own, and hands the results to use in the order of the items, on the calling goroutine.
// It stops at the first error in that order, or when ctx ends, and does not wait for a next that blocks on input.
func inOrder[S, I, R any](ctx context.Context, threads int, next func() (I, bool, error), scratch func() S,
	work func(s S, item I) (R, error), use func(r R) error) error {
	type job struct {
		item   I
		err    error // of next
		result R
		done   chan struct{}
	}
	threads = threadsOr(threads)
	jobs, order := make(chan *job, threads), make(chan *job, 2*threads) // run a little ahead of use
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	go func() {
		defer close(order)
		defer close(jobs)
		for more := true; more; {
			j := &job{done: make(chan struct{})}
			j.err = host.Guard(func() (err error) { j.item, more, err = next(); return err })
			switch {
			case j.err != nil:
				close(j.done)
			case !more:
				return
			}
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
				j.err = host.Guard(func() (err error) {
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

// each yields the items of a list, as inOrder takes them.
func each[I any](items []I) func() (I, bool, error) {
	k := 0
	return func() (item I, ok bool, err error) {
		if k == len(items) {
			return item, false, nil
		}
		k++
		return items[k-1], true, nil
	}
}

// threadsOr returns the number of threads; 0 means all cores.
func threadsOr(threads int) int {
	if threads > 0 {
		return threads
	}
	return runtime.GOMAXPROCS(0)
}
