package rankstest

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/dsp-go/dsp/train/ranks"
)

// InProcess calls do as each of n ranks at the same time, each in a goroutine of its own, and returns their errors.
// Their groups pass copies through channels, in the order in which those over MPI pass messages. When one fails, so do
// the others.
func InProcess(ctx context.Context, n int, do func(ctx context.Context, g ranks.Group) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	links := make([][]chan []byte, n)
	for from := range links {
		for range n {
			links[from] = append(links[from], make(chan []byte, 1<<12))
		}
	}
	errs := make([]error, n)
	var all sync.WaitGroup
	for r := range n {
		all.Go(func() {
			if errs[r] = do(ctx, &goroutine{rank: r, links: links}); errs[r] != nil {
				cancel(errs[r])
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

type goroutine struct {
	rank    int
	links   [][]chan []byte // by sender and receiver
	traffic ranks.Traffic
}

func (g *goroutine) Rank() int              { return g.rank }
func (g *goroutine) Size() int              { return len(g.links) }
func (g *goroutine) Traffic() ranks.Traffic { return g.traffic }

func (g *goroutine) send(to int, x []byte) { g.links[g.rank][to] <- slices.Clone(x) }

func (g *goroutine) receive(ctx context.Context, from int) ([]byte, error) {
	select {
	case x := <-g.links[from][g.rank]:
		g.traffic.Messages++
		g.traffic.Bytes += len(x)
		return x, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (g *goroutine) into(ctx context.Context, from int, x []byte) error {
	got, err := g.receive(ctx, from)
	if err == nil && copy(x, got) != len(got) {
		err = errors.New("ranks do not agree on the size of a piece")
	}
	return err
}

func (g *goroutine) Sum(ctx context.Context, pieces [][]byte, window int, add func(lo, hi int) error) error {
	return g.SumToLast(ctx, pieces, len(pieces), window, add)
}

func (g *goroutine) SumToLast(ctx context.Context, pieces [][]byte, all, window int, add func(lo, hi int) error) error {
	last, window := g.Size()-1, max(1, window)
	for lo := 0; lo < len(pieces); lo += window {
		hi := min(lo+window, len(pieces))
		for k := lo; k < hi && g.rank > 0; k++ {
			if err := g.into(ctx, g.rank-1, pieces[k]); err != nil {
				return err
			}
		}
		if err := add(lo, hi); err != nil {
			return err
		}
		for k := lo; k < hi && g.rank < last; k++ {
			g.send(g.rank+1, pieces[k])
		}
	}
	for _, x := range pieces[:all] {
		if err := g.spread(ctx, x, last); err != nil {
			return err
		}
	}
	return nil
}

// spread overwrites x with that of a rank.
func (g *goroutine) spread(ctx context.Context, x []byte, root int) error {
	if g.rank != root {
		return g.into(ctx, root, x)
	}
	for r := range g.Size() {
		if r != root {
			g.send(r, x)
		}
	}
	return nil
}

func (g *goroutine) AllGather(ctx context.Context, mine []byte) ([][]byte, error) {
	all := make([][]byte, g.Size())
	for r := range all {
		if r != g.rank {
			g.send(r, mine)
		}
	}
	for r := range all {
		if all[r] = mine; r != g.rank {
			var err error
			if all[r], err = g.receive(ctx, r); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

func (g *goroutine) AllGatherV(ctx context.Context, x []byte, ends []int) error {
	from := 0
	for r, end := range ends {
		if err := g.spread(ctx, x[from:end], r); err != nil {
			return err
		}
		from = end
	}
	return nil
}

func (g *goroutine) Broadcast(ctx context.Context, x []byte, from int) error {
	return g.spread(ctx, x, from)
}

func (g *goroutine) Barrier(ctx context.Context) error {
	_, err := g.AllGather(ctx, nil)
	return err
}

// Ended returns why ctx has ended.
func (g *goroutine) Ended(ctx context.Context) error { return context.Cause(ctx) }
