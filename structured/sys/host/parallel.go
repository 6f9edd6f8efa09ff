package host

import (
	"sync"
	"sync/atomic"
)

// Parallel calls work(scratch, k) for k from 0 to n-1 on several threads (0: all cores), each with a scratch of its
// own, which takes the next k when it is done with one. After an error no more are taken; Parallel waits for those at
// work and returns the error of the least k.
func Parallel[S any](threads, n int, scratch func() S, work func(s S, k int) error) error {
	var (
		next    atomic.Int64
		running sync.WaitGroup
		mu      sync.Mutex // guards the rest
		first   = n
		failed  error
	)
	w := beginWork(n)
	defer w.end()
	for range min(Threads(threads), n) {
		running.Go(func() {
			var s S
			begun := false
			for k := int(next.Add(1)) - 1; k < n; k = int(next.Add(1)) - 1 {
				err := Guard(func() error {
					if !begun {
						s, begun = scratch(), true
					}
					return work(s, k)
				})
				if err == nil {
					w.step()
					continue
				}
				next.Store(int64(n))
				mu.Lock()
				if k < first {
					first, failed = k, err
				}
				mu.Unlock()
			}
		})
	}
	running.Wait()
	return failed
}

// None is the scratch of work that needs none.
func None() (none struct{}) { return none }
