package ranks

import (
	"context"
	"fmt"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Group is the processes that train together. Its methods are collective: all ranks call the same ones in the same
// order, from one goroutine at a time. They return an error when ctx ends, or when another rank has failed or ended;
// after an error the group is of no more use.
type Group interface {
	// Rank is the number of this process, from 0 on, and Size how many there are.
	Rank() int
	Size() int

	// Sum sums pieces in the order of the ranks. Rank 0 begins with pieces as they are, and calls add, which adds its
	// own share to pieces lo to hi−1. The next rank finds these sums in its pieces, adds its own share, and so on. At
	// the end every rank has what the last one has. Pieces pass one window after the other, so that ranks work at the
	// same time. The ranks' pieces have the same sizes; their windows need not.
	Sum(ctx context.Context, pieces [][]byte, window int, add func(lo, hi int) error) error

	// SumToLast is Sum, but only the last rank has the sums at the end, and the others have all of the first pieces, so
	// many. What they have of the rest is of no use.
	SumToLast(ctx context.Context, pieces [][]byte, all, window int, add func(lo, hi int) error) error

	// AllGather returns what each rank gives, in the order of the ranks.
	AllGather(ctx context.Context, mine []byte) ([][]byte, error)

	// AllGatherV completes x, which is cut at the same ends [Size] on all ranks: rank r gives the piece that ends at
	// ends[r], and gets those of the others. It takes fewer messages than AllGather, whose sizes are not known.
	AllGatherV(ctx context.Context, x []byte, ends []int) error

	// Broadcast overwrites x with that of a rank; it has the same length everywhere.
	Broadcast(ctx context.Context, x []byte, from int) error

	// Barrier returns when every rank has called it.
	Barrier(ctx context.Context) error

	// Ended returns why a wait for other ranks that goes on elsewhere should end, as the group's own would; nil if
	// there is no reason.
	Ended(ctx context.Context) error

	// Traffic is what this rank has received so far.
	Traffic() Traffic
}

// Traffic counts messages and their bytes.
type Traffic struct {
	Messages int `json:"messages"`
	Bytes    int `json:"bytes"`
}

// Alone is the group of a single process. Its sums are the process's own.
type Alone struct{}

func (Alone) Rank() int { return 0 }

func (Alone) Size() int { return 1 }

// Sum calls add for all pieces.
func (Alone) Sum(ctx context.Context, pieces [][]byte, window int, add func(lo, hi int) error) error {
	return eachWindow(len(pieces), window, func(lo, hi int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return add(lo, hi)
	})
}

// SumToLast calls add for all pieces.
func (a Alone) SumToLast(ctx context.Context, pieces [][]byte, _, window int, add func(lo, hi int) error) error {
	return a.Sum(ctx, pieces, window, add)
}

// AllGather returns what the process gives.
func (Alone) AllGather(ctx context.Context, mine []byte) ([][]byte, error) {
	return [][]byte{mine}, ctx.Err()
}

// AllGatherV leaves x as it is.
func (Alone) AllGatherV(ctx context.Context, _ []byte, _ []int) error { return ctx.Err() }

// Broadcast leaves x as it is.
func (Alone) Broadcast(ctx context.Context, _ []byte, _ int) error { return ctx.Err() }

// Barrier does nothing.
func (Alone) Barrier(ctx context.Context) error { return ctx.Err() }

func (Alone) Ended(ctx context.Context) error { return ctx.Err() }

// Traffic returns zeros.
func (Alone) Traffic() Traffic { return Traffic{} }

// PeersOf returns the ranks of a group, as those see them who read data; ctx ends their exchanges.
func PeersOf(ctx context.Context, g Group) structured.Peers {
	if g.Size() == 1 {
		return structured.Peers{}
	}
	gather := func(mine []byte) ([][]byte, error) { return g.AllGather(ctx, mine) }
	return structured.NewPeers(g.Rank(), g.Size(), gather, func(state []byte, add func() error) error {
		return g.Sum(ctx, [][]byte{state}, 1, func(int, int) error { return add() })
	})
}

// eachWindow calls do for the windows of n pieces until one fails.
func eachWindow(n, window int, do func(lo, hi int) error) error {
	for lo := 0; lo < n; lo += max(1, window) {
		if err := do(lo, min(n, lo+max(1, window))); err != nil {
			return err
		}
	}
	return nil
}

// Share returns the share lo to hi−1 of n things that a rank of a Group, or of structured.Peers, has. The shares of all
// ranks are consecutive, and their sizes differ by at most 1.
func Share(g interface {
	Rank() int
	Size() int
}, n int) (lo, hi int) {
	return n * g.Rank() / g.Size(), n * (g.Rank() + 1) / g.Size()
}

// Numbers copies bytes that another rank sent into numbers, as many as there are.
func Numbers[E any](from []byte, to []E) error {
	if memory := vec.Bytes(to); copy(memory, from) != len(memory) || len(from) != len(memory) {
		return fmt.Errorf("%d bytes from another rank, expected %d", len(from), len(memory))
	}
	return nil
}

// LostError says that a rank has ended before its time, or cannot be reached.
type LostError struct {
	Rank     int
	Text     string // which rank, and what is known of its end
	BadInput bool   // it ended with an error of that kind, and so does this rank
}

func (e *LostError) Error() string { return e.Text }

// Unwrap returns bad input after that of another rank.
func (e *LostError) Unwrap() error {
	if !e.BadInput {
		return nil
	}
	return structured.BadInput("%s", e.Text)
}
