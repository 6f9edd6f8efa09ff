package server

import (
	"fmt"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/machine/host"
)

// The memory for requests has two halves. One holds bodies, what is parsed of them, and answers: a request takes of it what it needs as it goes on,
// and is refused where that is not there. The other holds what predictions take: a worker waits until what its batch needs is there, and holds
// nothing else of it meanwhile. So nobody waits for memory whose holder waits, too.

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
	waiting []claim // in the order of their arrival
}

// claim waits for memory.
type claim struct {
	bytes int64
	there chan struct{} // closed when it has them
}

func newBudget(total int64) *budget { return &budget{total: total} }

// try takes memory, unless it is not there. Those that wait go first.
func (b *budget) try(bytes int64) bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if len(b.waiting) > 0 || bytes > b.total-b.used {
		return false
	}
	b.used += bytes
	return true
}

// take waits for memory and takes it. More than there is at all counts as all.
func (b *budget) take(bytes int64) (taken int64) {
	bytes = min(bytes, b.total)
	if b.try(bytes) {
		return bytes
	}
	c := claim{bytes, make(chan struct{})}
	b.mutex.Lock()
	b.waiting = append(b.waiting, c)
	b.serve()
	b.mutex.Unlock()
	<-c.there
	return bytes
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
	for len(b.waiting) > 0 && b.waiting[0].bytes <= b.total-b.used {
		b.used += b.waiting[0].bytes
		close(b.waiting[0].there)
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

// add takes more memory, or refuses the request: for good if there is not as much at all, else for now. What names what it is for.
func (h *holding) add(bytes int64, what string) error {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.bytes+bytes > h.of.total {
		return refuse(http.StatusRequestEntityTooLarge, "%s would take about %s of memory, and all requests together have %s (--memory); send less at once",
			what, size(h.bytes+bytes), size(h.of.total))
	}
	if !h.of.try(bytes) {
		return refuse(http.StatusServiceUnavailable, "other requests fill the memory (--memory); try again later")
	}
	h.bytes += bytes
	return nil
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

// keepWithin has the runtime collect garbage more often rather than take more memory than the models and the requests need, unless GOMEMLIMIT says
// something else. It is called when no request has come yet, and when a model was loaded again.
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
