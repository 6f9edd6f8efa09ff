package ranks

import (
	"context"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Exchange completes numbers of which each rank has some. It keeps its memory for the next time.
type Exchange struct {
	message []byte // what all ranks tell
	ends    []int  // where the part of each rank ends in it
}

// AllGather gets the numbers of all ranks in one exchange. For each rank, each calls do with the memory of the numbers
// that this rank has. They have the same sizes everywhere. AllGather reads those of this rank and fills the others. It
// reports whether any rank has failed, in which case the numbers are of no use.
func (x *Exchange) AllGather(
	ctx context.Context, g Group, failed bool, each func(rank int, do func(numbers []byte)),
) (anyFailed bool, err error) {
	size, me := g.Size(), g.Rank()
	if size == 1 {
		return failed, nil
	}
	total := 0
	x.ends = x.ends[:0]
	for rank := range size {
		total++ // whether it has failed
		each(rank, func(numbers []byte) { total += len(numbers) })
		x.ends = append(x.ends, total)
	}
	x.message = vec.Grow(x.message, total)
	to := x.part(me)
	if to[0] = 0; failed {
		to[0] = 1
	}
	to = to[1:]
	each(me, func(numbers []byte) { to = to[copy(to, numbers):] })
	if err := g.AllGatherV(ctx, x.message, x.ends); err != nil {
		return false, err
	}
	for rank := range size {
		anyFailed = anyFailed || x.part(rank)[0] != 0
	}
	for rank := 0; rank < size && !anyFailed; rank++ {
		if from := x.part(rank)[1:]; rank != me {
			each(rank, func(numbers []byte) { from = from[copy(numbers, from):] })
		}
	}
	return anyFailed, nil
}

// part returns what a rank tells.
func (x *Exchange) part(rank int) []byte {
	if rank == 0 {
		return x.message[:x.ends[0]]
	}
	return x.message[x.ends[rank-1]:x.ends[rank]]
}
