package engine

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Asynchronous takes the steps of SAGA on threads that do not wait for each other, on inputs of which a batch touches
// few rows of weights (ASAGA: Leblond, Pedregosa and Lacoste-Julien 2017; with λ₁ as in ProxASAGA: Pedregosa, Leblond
// and Lacoste-Julien 2017). With the sums v = u_i − r_i over a batch B, a step is
//
//	D = Σ_B c_i J_iᵀ(u_i − r_i),    w_S ← w_S − γ (D/|B| + P_S⁻¹(ḡ + λ(w−c))_S),    ḡ ← ḡ + D/n,    r_i ← u_i,
//
// where S are the rows that the batch touches, and P a row's probability that a batch touches it. The expectation of
// the step is that of SAGA's, which changes all weights.
//
// A thread reads w and ḡ while others write. Rows that it reads may be older than others, and the memory may be ahead
// of ḡ; but each summand arrives once, and each example is in one batch of a sweep. So once all threads have ended, ḡ
// is the mean of the memory up to rounding.
type Asynchronous struct {
	e     *Engine
	lanes []*Lane
	rarer []float32 // 1/P of each row; 0 if no example touches it
}

// NewAsynchronous returns steps on batches of at most size examples. The scorer must be linear in sparse inputs,
// without dense ones (Sparse), and the engine on the host.
func (e *Engine) NewAsynchronous(size int) *Asynchronous {
	a := &Asynchronous{e: e}
	for range e.team.threads {
		a.lanes = append(a.lanes, e.NewLane())
	}
	counts, ln := make([]int, e.sparse.NumRows()), a.lanes[0]
	for i := range e.Len() {
		ln.Batch.Reset(e.Data, []int{i})
		e.sparse.Rows(&ln.Batch, &ln.rows)
		for _, row := range ln.rows.Index {
			counts[row]++
		}
	}
	n := e.Len()
	a.rarer = make([]float32, len(counts))
	for row, k := range counts {
		none := 1.0
		for j := range min(size, n) {
			none *= max(0, float64(n-k-j)) / float64(n-j)
		}
		if k > 0 {
			a.rarer[row] = float32(1 / (1 - none))
		}
	}
	return a
}

// AsyncStep is what the steps of a sweep have in common.
type AsyncStep struct {
	Smoothing oracles.Smoothing
	Gamma     float64 // γ
	Lambda    float64 // of the quadratic that steps see
	Center    []float32
	Threshold float32 // w are weights before soft thresholds
}

// Sweep takes a step on each batch, in about this order. It moves weights of rows that no example touches to the
// centre.
func (a *Asynchronous) Sweep(ctx context.Context, w, mean []float32, memory *Memory, batches [][]int, by AsyncStep) error {
	e := a.e
	shared := e.sparse.Share(len(a.lanes))
	for row, rarer := range a.rarer {
		if lo, hi := e.sparse.Row(int32(row)); rarer == 0 { // where the optimum is known
			if clear(w[lo:hi]); by.Center != nil {
				copy(w[lo:hi], by.Center[lo:hi])
			}
		}
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for _, ln := range a.lanes {
		wg.Go(func() {
			ln.Err = host.Guard(func() error {
				for k := int(next.Add(1)) - 1; k < len(batches) && ctx.Err() == nil; k = int(next.Add(1)) - 1 {
					ln.Batch.Reset(e.Data, batches[k])
					err := shared.Read(func() error { return e.potentials(ln, Thresholded(w, by.Threshold), 0) })
					if err != nil {
						return err
					}
					ln.Sums = Sums{}
					e.Ask(&ln.Shard, by.Smoothing, false)
					e.Difference(&ln.Shard, memory.points())
					e.sparse.Rows(&ln.Batch, &ln.rows)
					shared.Update(ln.rows.Index, func(row int32, lo, hi int) {
						γ, c := float32(by.Gamma)*a.rarer[row], by.Center
						for j := lo; j < hi; j++ {
							d := w[j]
							if c != nil {
								d -= c[j]
							}
							w[j] -= γ * (mean[j] + float32(by.Lambda)*d)
						}
					})
					if ln.Sums.Moved > 0 {
						shared.Scatter(float32(-by.Gamma/float64(len(batches[k]))), &ln.V, &ln.Batch, w, nil)
						shared.Scatter(float32(1/float64(e.Len())), &ln.V, &ln.Batch, mean, nil)
						memory.remember(ln.shardResult, 1)
					}
				}
				return nil
			})
		})
	}
	wg.Wait()
	for _, ln := range a.lanes {
		if ln.Err != nil {
			return ln.Err
		}
	}
	return ctx.Err()
}
