//go:build (linux || darwin) && !static

package ranks_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/train/ranks"
	"github.com/dsp-go/dsp/train/ranks/rankstest"
)

// bad are the numbers of items for which something fails; −1: nothing.
type bad struct{ next, work int }

// squares squares n items in order and returns what was used, which all ranks must see alike, and the error.
func squares(ctx context.Context, g ranks.Group, threads, n int, fails bad) (used []string, err error) {
	read := 0
	next := func() (int, bool, error) {
		if g != nil && g.Rank() > 0 {
			return 0, false, errors.New("only rank 0 reads")
		}
		read++
		switch {
		case read-1 == fails.next:
			return 0, false, structured.BadInput("item %d is bad", fails.next)
		case read > n:
			return 0, false, nil
		}
		return read - 1, true, nil
	}
	err = ranks.InOrder(ctx, g, threads, next, func() *int { return new(int) }, func(mine *int, k int) (string, error) {
		if *mine++; k == fails.work {
			return "", fmt.Errorf("work on %d fails", k)
		}
		return strings.Repeat(fmt.Sprint(k*k), k%5), nil
	}, func(r string) error {
		used = append(used, r)
		return nil
	})
	return used, err
}

// Any number of ranks uses the results of one process, in their order, up to the error of one process.
func TestInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, size, threads := rapid.IntRange(0, 300).Draw(t, "n"), rapid.IntRange(2, 5).Draw(t, "ranks"), rapid.IntRange(1, 3).Draw(t, "threads")
		fails := bad{rapid.IntRange(-1, 300).Draw(t, "next"), rapid.IntRange(-1, 300).Draw(t, "work")}
		want, failed := squares(context.Background(), ranks.Alone{}, 2, n, fails)
		var mu sync.Mutex
		err := rankstest.InProcess(context.Background(), size, func(ctx context.Context, g ranks.Group) error {
			got, err := squares(ctx, g, threads, n, fails)
			mu.Lock()
			defer mu.Unlock()
			if !slices.Equal(got, want) {
				t.Errorf("rank %d uses %d results %q, expected %d", g.Rank(), len(got), got, len(want))
			}
			if fmt.Sprint(err) != fmt.Sprint(failed) || structured.IsBadInput(err) != structured.IsBadInput(failed) {
				t.Errorf("rank %d: %v, expected %v", g.Rank(), err, failed)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// An item is answered before the next one comes.
func TestInOrderAnswersAtOnce(t *testing.T) {
	const n = 5
	answered := make(chan int)
	err := rankstest.InProcess(t.Context(), 3, func(ctx context.Context, g ranks.Group) error {
		read := 0
		next := func() (int, bool, error) {
			if read++; read > 1 {
				<-answered
			}
			return read, read <= n, nil
		}
		return ranks.InOrder(ctx, g, 1, next, func() int { return 0 }, func(_, k int) (int, error) { return k, nil }, func(k int) error {
			if g.Rank() == 0 {
				answered <- k
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// While ranks work on an item that came alone, rank 0 reads the next ones, whatever time they take.
func TestInOrderReadsAhead(t *testing.T) {
	ranks.SetPause(0)
	defer ranks.SetPause(2 * time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // only what is wrong takes so long
	defer cancel()
	begun, ahead := make(chan struct{}), make(chan struct{})
	err := rankstest.InProcess(ctx, 2, func(ctx context.Context, g ranks.Group) error {
		read := 0
		next := func() (int, bool, error) {
			switch read++; read {
			case 2:
				select {
				case <-begun:
				case <-ctx.Done():
				}
			case 8: // as many as a round has
				close(ahead)
			}
			return read, read <= 9, nil
		}
		work := func(_, k int) (int, error) {
			if k == 1 {
				close(begun)
				select {
				case <-ahead:
				case <-ctx.Done():
				}
			}
			return k, ctx.Err()
		}
		return ranks.InOrder(ctx, g, 1, next, func() int { return 0 }, work, func(int) error { return nil })
	})
	if err != nil {
		t.Fatal(err)
	}
}

// An error of use, a panic of work and an interrupt end the rank that has them; the others learn it from the group.
func TestInOrderEnds(t *testing.T) {
	full := errors.New("the disk is full")
	use := func(g ranks.Group) error {
		if g.Rank() == 0 {
			return full
		}
		return nil
	}
	run := func(ctx context.Context, g ranks.Group, work func(int) (int, error), use func(ranks.Group) error) error {
		return ranks.InOrder(ctx, g, 2, host.Each(make([]int, 100)), func() int { return 0 }, func(_, k int) (int, error) { return work(k) }, func(int) error { return use(g) })
	}
	fine := func(k int) (int, error) { return k, nil }
	if err := rankstest.InProcess(t.Context(), 2, func(ctx context.Context, g ranks.Group) error { return run(ctx, g, fine, use) }); !errors.Is(err, full) {
		t.Errorf("%v, expected %v", err, full)
	}
	boom := func(int) (int, error) { panic("boom") }
	nothing := func(ranks.Group) error { return nil }
	if err := rankstest.InProcess(t.Context(), 2, func(ctx context.Context, g ranks.Group) error { return run(ctx, g, boom, nothing) }); err == nil || !strings.Contains(err.Error(), "boom") {
		t.Errorf("%v, expected the panic", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	interrupted := func(int) (int, error) { cancel(); return 0, nil }
	if err := rankstest.InProcess(ctx, 2, func(ctx context.Context, g ranks.Group) error { return run(ctx, g, interrupted, nothing) }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, expected an interrupt", err)
	}
}

// Broadcast gives all ranks what rank 0 has.
func TestLead(t *testing.T) {
	err := rankstest.InProcess(t.Context(), 3, func(ctx context.Context, g ranks.Group) error {
		got, err := ranks.Broadcast(ctx, g, []string{fmt.Sprint("of rank ", g.Rank())})
		if err == nil && !slices.Equal(got, []string{"of rank 0"}) {
			err = fmt.Errorf("rank %d has %q", g.Rank(), got)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Each item is worked on once, by one rank.
func TestInOrderWorksOnce(t *testing.T) {
	var times [200]atomic.Int32
	err := rankstest.InProcess(t.Context(), 3, func(ctx context.Context, g ranks.Group) error {
		items := make([]int, len(times))
		for k := range items {
			items[k] = k
		}
		return ranks.InOrder(ctx, g, 2, host.Each(items), func() int { return 0 }, func(_, k int) (int, error) { times[k].Add(1); return k, nil }, func(int) error { return nil })
	})
	if err != nil {
		t.Fatal(err)
	}
	for k := range times {
		if n := times[k].Load(); n != 1 {
			t.Errorf("%d ranks work on item %d", n, k)
		}
	}
}
