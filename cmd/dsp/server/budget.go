package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// The memory for requests has two halves. One holds bodies, what is parsed of them, and answers: a request takes of it
// what it needs as it goes on. It waits for what its body needs, unless all that hold memory wait, of which none would
// get any; the last quarter is for answers, which do not wait. The other half holds what predictions take: a worker
// waits until what its batch needs is there, and holds nothing else of it meanwhile. So nobody waits for ever.

// leastMemory is the least memory for requests, in bytes.
const leastMemory = 64 << 20

// unknownMemory is the memory for requests where nobody knows how much there is.
const unknownMemory = 1 << 30

// defaultMemory returns the memory for requests: half of what the machine and its control group still allow.
func defaultMemory() int64 {
	available, ok := host.AvailableMemory()
	if !ok {
		return unknownMemory
	}
	return max(leastMemory, int64(available/2))
}

// budget is memory that requests share.
type budget struct {
	mutex   sync.Mutex
	total   int64
	used    int64
	stuck   int64    // of that, what those hold that wait for more
	waiting []*claim // those that hold some first, since they give it back sooner, and else in the order of their arrival
}

// claim waits for memory.
type claim struct {
	bytes int64
	most  int64         // is in use with it
	holds int64         // what it holds already
	there chan struct{} // closed when it has them
}

func newBudget(total int64) *budget { return &budget{total: total} }

// try takes memory, unless it is not there. It does not wait for those that do, who would wait for its holder.
func (b *budget) try(bytes int64) bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if bytes > b.total-b.used {
		return false
	}
	b.used += bytes
	return true
}

// take waits for memory and takes it. More than there is at all counts as all.
func (b *budget) take(bytes int64) (taken int64) {
	c := &claim{bytes: min(bytes, b.total), most: b.total}
	_ = b.await(context.Background(), c) // those that have memory of such a budget do not wait for more
	return c.bytes
}

// errStuck says that all who hold memory wait for more.
var errStuck = errors.New("all requests wait for memory")

// await waits for memory and takes it, until ctx ends. It fails at once if nobody is left who would give some back.
func (b *budget) await(ctx context.Context, c *claim) error {
	b.mutex.Lock()
	if (c.holds > 0 || len(b.waiting) == 0) && c.bytes <= c.most-b.used {
		b.used += c.bytes
		b.mutex.Unlock()
		return nil
	}
	if c.holds > 0 && b.used == b.stuck+c.holds {
		b.mutex.Unlock()
		return errStuck
	}
	at := len(b.waiting)
	if c.holds > 0 {
		if k := slices.IndexFunc(b.waiting, func(o *claim) bool { return o.holds == 0 }); k >= 0 {
			at = k
		}
	}
	c.there = make(chan struct{})
	b.stuck += c.holds
	b.waiting = slices.Insert(b.waiting, at, c)
	b.serve()
	b.mutex.Unlock()
	select {
	case <-c.there:
		return nil
	case <-ctx.Done():
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	k := slices.Index(b.waiting, c)
	if k < 0 { // it was served meanwhile
		b.used -= c.bytes
	} else {
		b.waiting = slices.Delete(b.waiting, k, k+1)
		b.stuck -= c.holds
	}
	b.serve()
	return ctx.Err()
}

// give gives memory back.
func (b *budget) give(bytes int64) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.used -= bytes
	b.serve()
}

// serve gives those that wait their memory, as far as it goes.
func (b *budget) serve() {
	for len(b.waiting) > 0 {
		c := b.waiting[0]
		if c.bytes > c.most-b.used {
			return
		}
		b.used += c.bytes
		b.stuck -= c.holds
		close(c.there)
		b.waiting = b.waiting[1:]
	}
}

// inUse returns the bytes that are taken.
func (b *budget) inUse() int64 {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.used
}

// holding is what a request has of a budget.
type holding struct {
	of    *budget
	mutex sync.Mutex
	bytes int64
	busy  <-chan struct{} // closed when workers are done with what it holds; nil: none has any of it
}

// forBodies is the share of a budget that bodies and what they hold may take; answers have the rest, too.
func forBodies(total int64) int64 { return total - total/4 }

// await takes more memory for a body or what it holds, and waits for it until ctx ends. A request that is larger than
// the budget gets an error that says so; where no other request has memory to give back, the error says that the client
// may try again. The argument what names the use of the memory in the message.
func (h *holding) await(ctx context.Context, bytes int64, what string) error {
	most := forBodies(h.of.total)
	if h.bytes+bytes > most {
		return neverFits(what, h.bytes+bytes, most)
	}
	err := h.of.await(ctx, &claim{bytes: bytes, most: most, holds: h.bytes})
	switch {
	case errors.Is(err, errStuck), errors.Is(err, context.DeadlineExceeded):
		return errFilled
	case err != nil:
		return err
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.bytes += bytes
	return nil
}

// add takes more memory for an answer, or refuses the request.
func (h *holding) add(bytes int64, what string) error {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.bytes+bytes > h.of.total {
		return neverFits(what, h.bytes+bytes, h.of.total)
	}
	if !h.of.try(bytes) {
		return errFilled
	}
	h.bytes += bytes
	return nil
}

var errFilled = refuse(http.StatusServiceUnavailable, "other requests fill the memory (--memory); try again later")

func neverFits(what string, bytes, most int64) error {
	return refuse(http.StatusRequestEntityTooLarge, "%s would take about %s of memory, and all requests together have %s (--memory); send less at once", what, size(bytes), size(most))
}

// shrink gives back what is more than so many bytes.
func (h *holding) shrink(to int64) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.bytes > to {
		h.of.give(h.bytes - to)
		h.bytes = to
	}
}

// release gives all of it back, as soon as no worker uses it any more.
func (h *holding) release() {
	if h.busy == nil {
		h.shrink(0)
		return
	}
	go func() {
		<-h.busy
		h.shrink(0)
	}()
}

// size writes bytes for people.
func size(bytes int64) string {
	if bytes < 1<<20 {
		return fmt.Sprintf("%d KiB", max(1, bytes>>10))
	}
	return fmt.Sprintf("%d MiB", bytes>>20)
}

// checkMemory refuses a budget that is too small, or in which the largest body would not fit. 0 stands for the default.
func (o *Options) checkMemory() error {
	if o.Memory == 0 {
		o.Memory = defaultMemory()
	}
	if o.Memory < leastMemory {
		return structured.BadInput("--memory: %s, expected at least %s", size(o.Memory), size(leastMemory))
	}
	if bodies := o.Memory / 4; o.MaxBody > bodies {
		return structured.BadInput("--max-body of %s needs --memory of at least %s, found %s", size(o.MaxBody), size(4*o.MaxBody), size(o.Memory))
	}
	return nil
}

// keepWithin has the runtime collect garbage more often rather than take more memory than the models and the requests
// need, unless GOMEMLIMIT says something else. It is called when no request has come yet, and when a model was loaded
// again.
func (s *Server) keepWithin() {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	s.keeping.Lock()
	defer s.keeping.Unlock()
	runtime.GC()
	var heap runtime.MemStats
	runtime.ReadMemStats(&heap)
	s.held = max(s.held, int64(heap.HeapAlloc)-s.requests.inUse()-s.work.inUse())
	if s.allowed == 0 {
		s.allowed = debug.SetMemoryLimit(-1) // what the program found at its start
	}
	debug.SetMemoryLimit(min(s.allowed, 2*s.held+s.o.Memory)) // a model that is loaded again is beside the one before
}
