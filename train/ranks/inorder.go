package ranks

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"sync"
	"time"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/machine/host"
)

// itemsPerThread is how many items of a round a thread of a rank gets: enough that a slow one holds up the others for a small part of the round.
const itemsPerThread = 8

// pauseOfInput is how long rank 0 waits for one more item before it begins a round: items of a file come faster, and those that someone types are answered at once.
const pauseOfInput = 2 * time.Millisecond

// InOrder is host.InOrder for ranks that share the work. It goes in rounds. Rank 0 alone reads items from next, as many as are there, and tells the others; each rank
// works on a share of them; then all have all results, and use them in the order of the items. The first error of next or of work in that order ends it on all
// ranks. Items and results go from rank to rank as encoding/gob has them.
func InOrder[S, I, R any](ctx context.Context, g Group, threads int, next func() (I, bool, error), scratch func() S,
	work func(s S, item I) (R, error), use func(r R) error) error {
	if g == nil || g.Size() == 1 {
		return host.InOrder(ctx, threads, next, scratch, work, use)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	threads = host.Threads(threads)
	var input *queue[I]
	if g.Rank() == 0 {
		input = newQueue(ctx, next)
	}
	scratches := &kept[S]{make: scratch}
	for {
		round, err := nextRound(ctx, g, input, threads*g.Size()*itemsPerThread)
		if err != nil {
			return err
		}
		lo, hi := Share(g, len(round.What))
		var mine answers[R]
		failed := host.InOrder(ctx, threads, host.Each(round.What[lo:hi]), scratches.take, work, func(r R) error {
			mine.What = append(mine.What, r)
			return nil
		})
		if ctx.Err() != nil {
			return failed
		}
		scratches.back()
		mine.fail(failed)
		all, err := tell(ctx, g, mine)
		if err != nil {
			return err
		}
		all[g.Rank()] = mine
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
		switch err := round.err(); {
		case err != nil:
			return err
		case round.Last:
			return nil
		}
	}
}

// answers are what one rank tells all others in a round: items, or results, and the error that came after them.
type answers[E any] struct {
	What     []E
	Last     bool // no more follow
	Failed   string
	BadInput bool
}

func (a *answers[E]) fail(err error) {
	if err != nil {
		a.Failed, a.BadInput = err.Error(), structured.IsBadInput(err)
	}
}

func (a *answers[E]) err() error {
	switch {
	case a.BadInput:
		return structured.BadInput("%s", a.Failed)
	case a.Failed != "":
		return errors.New(a.Failed)
	}
	return nil
}

// tell returns what each rank tells.
func tell[T any](ctx context.Context, g Group, mine T) ([]T, error) {
	var message bytes.Buffer
	if err := gob.NewEncoder(&message).Encode(mine); err != nil {
		return nil, err
	}
	messages, err := g.Gather(ctx, message.Bytes())
	if err != nil {
		return nil, err
	}
	all := make([]T, len(messages))
	for rank, m := range messages {
		if err := gob.NewDecoder(bytes.NewReader(m)).Decode(&all[rank]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Lead returns what rank 0 has, on all ranks.
func Lead[T any](ctx context.Context, g Group, mine T) (T, error) {
	var none T
	if g.Rank() > 0 {
		mine = none
	}
	all, err := tell(ctx, g, mine)
	if err != nil {
		return none, err
	}
	if g.Rank() == 0 {
		return mine, nil
	}
	return all[0], nil
}

// nextRound returns the items of the next round, at most so many, which rank 0 takes from its input.
func nextRound[I any](ctx context.Context, g Group, input *queue[I], most int) (round answers[I], err error) {
	if input != nil {
		if round, err = input.take(ctx, g, most); err != nil {
			return round, err
		}
	}
	return Lead(ctx, g, round)
}

// queue reads items ahead.
type queue[I any] struct{ items chan read[I] }

type read[I any] struct {
	item I
	more bool
	err  error
}

func newQueue[I any](ctx context.Context, next func() (I, bool, error)) *queue[I] {
	q := &queue[I]{make(chan read[I])}
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

// take waits for an item, and takes all that come without a pause, at most so many. It fails if a rank ends meanwhile.
func (q *queue[I]) take(ctx context.Context, g Group, most int) (round answers[I], err error) {
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
			if len(round.What) > 0 {
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

// kept hands out scratches that are kept from round to round.
type kept[S any] struct {
	make func() S

	mu         sync.Mutex
	idle, busy []S
}

func (k *kept[S]) take() S {
	var s S
	k.mu.Lock()
	n := len(k.idle)
	if n > 0 {
		s, k.idle = k.idle[n-1], k.idle[:n-1]
	}
	k.mu.Unlock()
	if n == 0 {
		s = k.make()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.busy = append(k.busy, s)
	return s
}

// back takes all scratches back, which nobody uses any more.
func (k *kept[S]) back() { k.idle, k.busy = append(k.idle, k.busy...), nil }
