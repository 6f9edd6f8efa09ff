package sparse

import (
	"sync"

	"github.com/dsp-go/dsp/structured"
)

// Shared are weights of a Linear that goroutines score with and scatter to whenever they like. Readers take no
// locks: they see each weight before or after a scatter that goes on, as in Hogwild and its kin. No summand is lost, since
// a scatter has the parts that it writes to itself, a few at a time: atomic additions, weight by weight, would take some
// forty times as long as the vectors do. In which order summands come differs from run to run, and so do bits.
//
// Under the race detector, which knows no read that may be early or late, readers lock too.
type Shared struct {
	s     *Linear
	locks []stripeLock
}

// stripeLock has a cache line to itself.
type stripeLock struct {
	sync.Mutex
	_ [56]byte
}

// Share prepares for so many goroutines.
func (s *Linear) Share(goroutines int) *Shared {
	n := 1
	for n < 2*goroutines && n < Stripes {
		n *= 2
	}
	if goroutines <= 1 {
		n = 1
	}
	return &Shared{s: s, locks: make([]stripeLock, n)}
}

// Read calls score, which reads the weights.
func (x *Shared) Read(score func() error) error {
	if raceDetector {
		for k := range x.locks {
			x.locks[k].Lock()
			defer x.locks[k].Unlock()
		}
	}
	return score()
}

// Scatter is Linear.Scatter to weights that others read and write. It takes the parts in any order, those first that
// nobody else has.
func (x *Shared) Scatter(c float32, v *structured.Marginals, batch *structured.Batch, to []float32, norms []float64) {
	n := len(x.locks)
	write := func(k int) {
		x.s.Scatter(c, v, batch, k*Stripes/n, (k+1)*Stripes/n, to, norms)
		x.locks[k].Unlock()
	}
	var busy [Stripes]bool
	for k := range x.locks {
		if x.locks[k].TryLock() {
			write(k)
		} else {
			busy[k] = true
		}
	}
	for k := range x.locks {
		if busy[k] {
			x.locks[k].Lock()
			write(k)
		}
	}
}
