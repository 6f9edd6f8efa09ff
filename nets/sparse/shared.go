package sparse

import (
	"sync"

	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/structured"
)

// Shared are weights of a Linear that goroutines read and scatter to at the same time, without coordination. Readers
// take no locks: they see each weight before or after a concurrent scatter, as in Hogwild (Niu et al. 2011). No summand
// is lost: a scatter locks the stripes that it writes to, a few at a time. Atomic additions, weight by weight, would
// take about forty times as long as the vector loops. The order of the summands varies from run to run, and so do the
// bits.
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

// Update calls update for the weights of a scorer without dense inputs: for w[lo:hi] of some rows, each weight once and
// whole or in pieces, while no other goroutine writes to them.
func (x *Shared) Update(rows []int32, update func(row int32, lo, hi int)) {
	n := len(x.locks)
	for k := range x.locks {
		x.locks[k].Lock()
		x.s.ofStripes(rows, k*Stripes/n, (k+1)*Stripes/n, update)
		x.locks[k].Unlock()
	}
}

// ofStripes calls each for the weights w[from:to] of some rows that stripes lo to hi-1 own.
func (s *Linear) ofStripes(rows []int32, lo, hi int, each func(row int32, from, to int)) {
	for _, row := range rows {
		k := len(s.parts) - 1
		for k > 0 && row < s.parts[k].first {
			k--
		}
		p := &s.parts[k]
		a, from := row-p.first, p.rows
		if p.bias >= 0 {
			a--
		}
		if from += int(a) * p.Width; a < 0 {
			from = p.bias
		}
		if a < 0 || p.wide { // all stripes have a part of it
			if to := from + p.Width*hi/Stripes; from+p.Width*lo/Stripes < to {
				each(row, from+p.Width*lo/Stripes, to)
			}
		} else if in := kernels.StripeOf(a); lo <= in && in < hi {
			each(row, from, from+p.Width)
		}
	}
}
