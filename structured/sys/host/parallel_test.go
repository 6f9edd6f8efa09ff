package host

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
)

func TestParallel(t *testing.T) {
	for _, threads := range []int{0, 1, 3, 50} {
		const n = 20
		var calls [n]atomic.Int32
		var made atomic.Int32
		if err := Parallel(threads, n, func() *atomic.Bool { made.Add(1); return new(atomic.Bool) },
			func(busy *atomic.Bool, k int) error {
				if !busy.CompareAndSwap(false, true) {
					t.Error("two threads have the same scratch")
				}
				calls[k].Add(1)
				busy.Store(false)
				return nil
			}); err != nil {
			t.Fatal(err)
		}
		if got := int(made.Load()); got > min(Threads(threads), n) {
			t.Errorf("%d threads made %d times their scratch", threads, got)
		}
		for k := range calls {
			if got := calls[k].Load(); got != 1 {
				t.Errorf("%d threads: %d is done %d times", threads, k, got)
			}
		}
	}
}

// The error is that of the least item, however late it fails, and a panic is an error.
func TestParallelFails(t *testing.T) {
	later := make(chan struct{})
	var done atomic.Int32
	err := Parallel(2, 100, None, func(_ struct{}, k int) error {
		switch k {
		case 3:
			<-later
			return errors.New("3")
		case 4:
			defer close(later)
			panic("4")
		}
		done.Add(1)
		return nil
	})
	if fmt.Sprint(err) != "3" || done.Load() > 4 {
		t.Errorf("%v, and %d are done", err, done.Load())
	}
	var panicked *PanicError
	if err := Parallel(1, 1, None, func(struct{}, int) error { panic("1") }); !errors.As(err, &panicked) {
		t.Errorf("%v", err)
	}
	if err := Parallel(1, 0, None, nil); err != nil {
		t.Error(err)
	}
}
