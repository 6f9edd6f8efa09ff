package engine

import (
	"context"
	"unsafe"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// rangeWeights is how many weights a range has. It depends on nothing, so that sums over ranges have the same bits for
// any number of threads and ranks.
const rangeWeights = 1 << 15

// OverRanges calls do for ranges lo to hi−1 of n weights, and returns the sums of k numbers that do computes for each.
// Ranges are added in order. It uses the engine's threads. If shared, each of several ranks does some ranges; then what
// do writes elsewhere is known to that rank alone (AllGatherRanges).
func (e *Engine) OverRanges(ctx context.Context, n, k int, shared bool, do func(lo, hi int, sums []float64)) ([]float64, error) {
	ranges := (n + rangeWeights - 1) / rangeWeights
	from, to := 0, ranges
	if shared {
		from, to = e.group.share(ranges)
	}
	all := make([]float64, ranges*k)
	e.Parallel(to-from, func(i int) {
		i += from
		do(i*rangeWeights, min((i+1)*rangeWeights, n), all[i*k:(i+1)*k])
	})
	if shared && k > 0 {
		if err := e.allGatherShares(ctx, vec.Bytes(all), ranges, 8*k); err != nil {
			return nil, err
		}
	}
	total := make([]float64, k)
	for i, x := range all {
		total[i%k] += x
	}
	return total, nil
}

// AllGatherRanges completes numbers x, one for each weight, of which each rank has those of its shared ranges.
func AllGatherRanges[E float32 | float64](ctx context.Context, e *Engine, x []E) error {
	return e.allGatherShares(ctx, vec.Bytes(x), (len(x)+rangeWeights-1)/rangeWeights, rangeWeights*int(unsafe.Sizeof(*new(E))))
}

// allGatherShares completes bytes of n things, so many of each but the last one, which may have fewer. Each rank has
// those of its share of the things.
func (e *Engine) allGatherShares(ctx context.Context, x []byte, n, each int) error {
	ends := make([]int, e.group.Size())
	for r := range ends {
		ends[r] = min(n*(r+1)/len(ends)*each, len(x))
	}
	return e.group.AllGatherV(ctx, x, ends)
}
