package ranks

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// itemsPerThread is how many items of a round a thread of a rank gets: enough that a slow one holds up the others for a
// small part of the round.
const itemsPerThread = 4

// pauseOfInput is how long rank 0 waits for one more item before it begins a round: items of a file come faster, and
// those that someone types are answered at once. Tests change it.
var pauseOfInput = 2 * time.Millisecond

// InOrder is host.InOrder for ranks that share the work. It goes in rounds. Rank 0 alone reads items from next, as many
// as are there, and tells the others; each rank works on a share of them; then all have all results, and use them in
// the order of the items. Before ranks wait for the results of a round they begin the next one, if there are items for
// it. The first error of next or of work in the order of the items ends it on all ranks. Items and results go from rank
// to rank as encoding/gob has them.
func InOrder[S, I, R any](ctx context.Context, g Group, threads int, next func() (I, bool, error), scratch func() S,
	work func(s S, item I) (R, error), use func(r R) error) error {
	if g.Size() == 1 {
		return host.InOrder(ctx, threads, next, scratch, work, use)
	}
	ctx, stop := context.WithCancel(ctx)
	threads = host.Threads(threads)
	most, err := Broadcast(ctx, g, threads*g.Size()*itemsPerThread)
	if err != nil {
		stop()
		return err
	}
	mine := begin(ctx, most, threads, scratch, work)
	defer mine.ended.Wait()
	defer stop()
	var input *queue[I]
	if g.Rank() == 0 {
		input = newQueue(ctx, most, next)
	}
	var round message[I] // whose results are not there yet
	for {
		ahead := message[I]{Last: round.Last, Failed: round.Failed, BadInput: round.BadInput}
		if !round.Last {
			if ahead, err = nextRound(ctx, g, input, most, len(round.What) == 0); err != nil {
				return err
			}
		}
		lo, hi := Share(g, len(ahead.What))
		for _, item := range ahead.What[lo:hi] {
			mine.items <- item
		}
		if len(round.What) > 0 {
			lo, hi := Share(g, len(round.What))
			if err := useAll(ctx, g, mine, hi-lo, use); err != nil {
				return err
			}
		}
		if round = ahead; len(round.What) == 0 && round.Last {
			return round.err()
		}
	}
}

// useAll uses the results of a round, n of which are this rank's.
func useAll[I, R any](ctx context.Context, g Group, mine *worker[I, R], n int, use func(r R) error) error {
	results, failed := mine.take(ctx, n)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	own := message[R]{What: results}
	own.fail(failed)
	all, err := allGather(ctx, g, own)
	if err != nil {
		return err
	}
	all[g.Rank()] = own
	for rank, theirs := range all {
		for _, r := range theirs.What {
			if err := use(r); err != nil {
				return err
			}
		}
		if rank == g.Rank() && failed != nil {
			return failed
		}
		if err := theirs.err(); err != nil {
			return err
		}
	}
	return nil
}

// worker works on this rank's items of two rounds at most.
type worker[I, R any] struct {
	items   chan I
	results chan R
	failed  chan error
	err     error // that failed has told
	ended   sync.WaitGroup
}

// begin begins to work, until ctx ends.
func begin[S, I, R any](ctx context.Context, most, threads int, scratch func() S, work func(s S, item I) (R, error)) *worker[I, R] {
	w := &worker[I, R]{items: make(chan I, 2*most), results: make(chan R, 2*most), failed: make(chan error, 1)}
	next := func() (item I, more bool, err error) {
		select {
		case item = <-w.items:
			return item, true, nil
		case <-ctx.Done():
			return item, false, nil
		}
	}
	w.ended.Go(func() {
		w.failed <- host.InOrder(ctx, threads, next, scratch, work, func(r R) error { w.results <- r; return nil })
	})
	return w
}

// take returns the next n results, or those before the first error.
func (w *worker[I, R]) take(ctx context.Context, n int) ([]R, error) {
	var all []R
	for len(all) < n {
		select {
		case r := <-w.results:
			all = append(all, r)
			continue
		default:
		}
		if w.err != nil {
			return all, w.err
		}
		select {
		case r := <-w.results:
			all = append(all, r)
		case w.err = <-w.failed: // after all results, which may be those of this round
		case <-ctx.Done():
			return all, ctx.Err()
		}
	}
	return all, nil
}

// message is what one rank tells all others in a round: items, or results, and the error that came after them.
type message[E any] struct {
	What     []E
	Last     bool // no more follow
	Failed   string
	BadInput bool
}

func (a *message[E]) fail(err error) {
	if err != nil {
		a.Failed, a.BadInput = err.Error(), structured.IsBadInput(err)
	}
}

func (a *message[E]) err() error {
	switch {
	case a.BadInput:
		return structured.BadInput("%s", a.Failed)
	case a.Failed != "":
		return errors.New(a.Failed)
	}
	return nil
}

// allGather returns what each rank gives.
func allGather[T any](ctx context.Context, g Group, mine T) ([]T, error) {
	if g.Size() == 1 {
		return []T{mine}, ctx.Err()
	}
	return structured.AllGather(PeersOf(ctx, g), mine, nil)
}

// Broadcast returns what rank 0 has, on all ranks.
func Broadcast[T any](ctx context.Context, g Group, mine T) (T, error) {
	var none T
	if g.Rank() > 0 {
		mine = none
	}
	all, err := allGather(ctx, g, mine)
	if err != nil {
		return none, err
	}
	if g.Rank() == 0 {
		return mine, nil
	}
	return all[0], nil
}

// nextRound returns the items of the next round, at most so many, which rank 0 takes from its input. Without waits
// there may be none yet.
func nextRound[I any](ctx context.Context, g Group, input *queue[I], most int, waits bool) (round message[I], err error) {
	if input != nil {
		if round, err = input.take(ctx, g, most, waits); err != nil {
			return round, err
		}
	}
	return Broadcast(ctx, g, round)
}

// queue reads items ahead, as many as a round has.
type queue[I any] struct{ items chan read[I] }

type read[I any] struct {
	item I
	more bool
	err  error
}

func newQueue[I any](ctx context.Context, most int, next func() (I, bool, error)) *queue[I] {
	q := &queue[I]{make(chan read[I], most)}
	go func() {
		for more := true; more; {
			var r read[I]
			r.err = host.Guard(func() (err error) { r.item, r.more, err = next(); return err })
			select {
			case q.items <- r:
			case <-ctx.Done():
				return
			}
			more = r.more && r.err == nil
		}
	}()
	return q
}

// take takes all items that come without a pause, at most so many; if it waits, one at least. It fails if a rank ends
// meanwhile.
func (q *queue[I]) take(ctx context.Context, g Group, most int, waits bool) (round message[I], err error) {
	for len(round.What) < most {
		pause := time.After(pauseOfInput)
		select {
		case r := <-q.items:
			if r.err != nil || !r.more {
				round.Last = true
				round.fail(r.err)
				return round, nil
			}
			round.What = append(round.What, r.item)
		case <-pause:
			if len(round.What) > 0 || !waits {
				return round, nil
			}
			if err := g.Ended(ctx); err != nil {
				return round, err
			}
		case <-ctx.Done():
			return round, ctx.Err()
		}
	}
	return round, nil
}
