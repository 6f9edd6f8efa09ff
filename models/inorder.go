package models

import (
	"context"
	"runtime"
	"sync"

	"github.com/dsp-go/dsp/structured"
)

// batchPositions is how many positions are scored at once, unless one chain is longer: enough to keep matrix products
// busy, few enough that what follows finds the potentials in cache.
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

// inOrder computes work(scratch, k) for k = 0 to n-1 on several threads (0: all cores), each with a scratch of its own,
// and hands the results to use in the order of k, on the calling goroutine. It stops at the first error.
func inOrder[S, R any](ctx context.Context, threads, n int, scratch func() S, work func(s S, k int) (R, error),
	use func(k int, r R) error) error {
	threads = min(threadsOr(threads), n)
	type answer struct {
		r   R
		err error
	}
	ctx, stop := context.WithCancel(ctx)
	answers := make([]chan answer, threads)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	for t := range answers {
		answers[t] = make(chan answer, 1) // one result ahead of its use
		running.Go(func() {
			s := scratch()
			for k := t; k < n; k += threads {
				var a answer
				a.err = structured.Guard(func() (err error) { a.r, err = work(s, k); return err })
				select {
				case answers[t] <- a:
				case <-ctx.Done():
					return
				}
			}
		})
	}
	for k := range n {
		select {
		case a := <-answers[k%threads]:
			if a.err != nil {
				return a.err
			}
			if err := use(k, a.r); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// threadsOr returns the number of threads, that of all cores for 0.
func threadsOr(threads int) int {
	if threads > 0 {
		return threads
	}
	return runtime.GOMAXPROCS(0)
}
