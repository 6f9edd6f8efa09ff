package sparse

import (
	"sync"

	"github.com/dsp-go/dsp/structured"
)

// Shared are weights of a Linear that goroutines read and scatter to at the same time, without coordination. Readers take no
// locks: they see each weight before or after a concurrent scatter, as in Hogwild (Niu et al. 2011). No summand is lost: a
// scatter locks the stripes that it writes to, a few at a time. Atomic additions, weight by weight, would take about forty times
// as long as the vector loops. The order of the summands varies from run to run, and so do the bits.
//
// The race detector does not accept such reads, so under it readers lock too.
type Shared struct {
	s     *Linear
	locks []stripeLock
}

// stripeLock fills a cache line.
type stripeLock struct {
	sync.Mutex
	_ [56]byte
}

// Share returns the locks for weights that the given number of goroutines share.
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

// Read calls score, which may read the weights.
func (x *Shared) Read(score func() error) error {
	if raceDetector {
		for k := range x.locks {
			x.locks[k].Lock()
			defer x.locks[k].Unlock()
		}
	}
	return score()
}

// Scatter is Linear.Scatter to weights that other goroutines read and write. It writes first to the stripes that
// no other goroutine has locked.
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
