//go:build (linux || darwin) && !static

package ranks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// mpiGroup is the group of all processes of MPI_COMM_WORLD. Calls come one at a time: from any thread if the library
// allows that, which saves two switches between threads for each, and else from the one that has initialised MPI. None
// of them waits inside the library: they start something, and test whether it is done, so that the loss of a rank ends
// the wait.
type mpiGroup struct {
	*library
	rank, size int
	calls      chan func()  // for the thread that has initialised MPI
	direct     bool         // calls may come from any thread
	lost       func() error // why the group can go on no longer; nil: never
	broken     error
	entries    atomic.Uint64 // into and out of calls of the library: odd inside one
	traffic    Traffic
	mu         sync.Mutex // of traffic
}

// openMPIGroup initialises MPI, which waits in the library for all ranks. If ctx ends first, that wait stays behind.
func openMPIGroup(ctx context.Context, from Launcher) (*mpiGroup, error) {
	l, err := loadLibrary(from)
	if err != nil {
		return nil, err
	}
	return l.open(ctx)
}

// open is openMPIGroup with a library that is loaded.
func (l *library) open(ctx context.Context) (*mpiGroup, error) {
	g := &mpiGroup{library: l, calls: make(chan func())}
	ready := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // the thread that initialises MPI is the one that may call it
		ready <- g.start()
		for call := range g.calls {
			call()
		}
	}()
	var err error
	select {
	case err = <-ready:
	case <-ctx.Done():
		late := lateStart
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			late = 0
		}
		select {
		case err = <-ready:
		case <-time.After(late):
			return nil, ctx.Err()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.describe(), err)
	}
	return g, nil
}

// lateStart is how long the start of MPI may go on after an interrupt. Launchers interrupt all ranks when one has died,
// and kill them soon after; mpirun of Open MPI 4.1.4 sometimes hangs when they end by themselves before they have told
// it that they run. Tests change it.
var lateStart = 5 * time.Second

func (g *mpiGroup) start() error {
	found := onHeap[int32](3) // the level of threads that the library provides, of which any will do; the rank; the size
	if err := g.do(g.initThread, 0, 0, g.serial, address(found)); err != nil {
		return err
	}
	g.direct = uintptr(found[0]) >= g.serial
	err := errors.Join(g.do(g.setErrhandler, g.world, g.returns), g.do(g.commRank, g.world, address(found[1:])), g.do(g.commSize, g.world, address(found[2:])))
	g.rank, g.size = int(found[1]), int(found[2])
	return err
}

// address returns the address of a slice for a C function. The slice must be on the heap: what is on a stack may move.
func address[E any](x []E) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(x))) }

// onHeap returns zeros that do not move.
//
//go:noinline
func onHeap[E any](n int) []E { return make([]E, n) }

// do calls a function of the library on its thread.
func (g *mpiGroup) do(function uintptr, args ...uintptr) error {
	g.entries.Add(1)
	r, _, _ := purego.SyscallN(function, args...)
	g.entries.Add(1)
	if code := int32(r); code != 0 {
		text, n := onHeap[byte](1024), onHeap[int32](1)
		purego.SyscallN(g.errorString, uintptr(code), address(text), address(n))
		return fmt.Errorf("MPI: %s", text[:min(max(int(n[0]), 0), len(text))])
	}
	return nil
}

// request is something that was started: memory for the library's handle, flag and status, and what it reads and
// writes.
type request struct {
	memory []uint64 // handle, flag, status, of which no library's is longer
	keeps  [][]byte
	bytes  int // received, when it is done
}

// begin starts a function whose last argument is a request. keeps is the memory that it works on, bytes how many of it
// come from other ranks.
func (g *mpiGroup) begin(keeps [][]byte, bytes int, function uintptr, args ...uintptr) (*request, error) {
	r := &request{memory: onHeap[uint64](34), keeps: keeps, bytes: bytes}
	return r, g.do(function, append(args, address(r.memory))...)
}

// A wait that is short is spent looking. Of one that lasts, a rank sleeps: at most this share of the time that it has
// waited, so that it learns soon of what it waits for. Between two sleeps it looks for a while, since a library takes
// several looks for a message that it cuts or for one that has steps.
const (
	untilSleep = 100 * time.Microsecond
	sleepShare = 8
	looking    = 50 * time.Microsecond
	lastPause  = 2 * time.Millisecond
)

// wait waits until requests are done.
func (g *mpiGroup) wait(ctx context.Context, requests ...*request) error {
	for _, r := range requests {
		begun := time.Now()
		for awake := begun; ; {
			done, err := g.look(r)
			if err != nil {
				return err
			}
			if done {
				break
			}
			yield()
			now := time.Now()
			waited := now.Sub(begun)
			if waited < untilSleep || now.Sub(awake) < looking {
				continue
			}
			if err := g.Ended(ctx); err != nil {
				return err
			}
			pause(min(waited/sleepShare, lastPause))
			awake = time.Now()
		}
		if r.bytes > 0 {
			g.mu.Lock()
			g.traffic.Messages++
			g.traffic.Bytes += r.bytes
			g.mu.Unlock()
		}
	}
	return nil
}

// look asks some times whether a request is done. More often than that is not worth a look at the clock.
func (g *mpiGroup) look(r *request) (done bool, err error) {
	for range 8 {
		if err := g.do(g.test, address(r.memory), address(r.memory[1:]), address(r.memory[2:])); err != nil {
			return false, err
		}
		if r.memory[1] != 0 {
			return true, nil
		}
	}
	return false, nil
}

// Ended implements Group. Launchers interrupt all ranks when one has died; a moment later the watch knows of it.
func (g *mpiGroup) Ended(ctx context.Context) error {
	if g.lost == nil {
		return ctx.Err()
	}
	err := g.lost()
	for tries := 0; err == nil && ctx.Err() != nil && tries < 20; tries++ {
		time.Sleep(10 * time.Millisecond)
		err = g.lost()
	}
	return cmp.Or(err, ctx.Err())
}

// onThread runs calls on the thread that has initialised MPI.
func (g *mpiGroup) onThread(calls func() error) error {
	done := make(chan error, 1)
	g.calls <- func() { done <- calls() }
	return <-done
}

// run runs calls of the library. After an error, requests may be under way, and the group is of no more use.
func (g *mpiGroup) run(ctx context.Context, calls func() error) error {
	if g.broken != nil {
		return g.broken
	}
	if g.direct {
		g.broken = calls()
	} else {
		g.broken = g.onThread(calls)
	}
	if g.broken != nil && g.lost != nil && ctx.Err() == nil {
		if err := g.lost(); err != nil { // which MPI noticed first
			g.broken = err
		}
	}
	return g.broken
}

// inside returns a number that is odd while a call of the library goes on, and the same as long as it is the same call.
func (g *mpiGroup) inside() uint64 { return g.entries.Load() }

func (g *mpiGroup) Rank() int { return g.rank }
func (g *mpiGroup) Size() int { return g.size }

func (g *mpiGroup) Traffic() Traffic {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.traffic
}

// close ends MPI. All ranks must get here.
func (g *mpiGroup) close(ctx context.Context) error {
	return g.run(ctx, func() error {
		end := func() error {
			err := g.do(g.finalize)
			finalized.Store(err == nil)
			return err
		}
		if !g.direct {
			return end()
		}
		done := make(chan error, 1) // no other thread may
		go func() { done <- g.onThread(end) }()
		select {
		case err := <-done:
			return err
		case <-time.After(farewell): // all work is done: what is left of the library ends with the process
			return nil
		}
	})
}

func (g *mpiGroup) Barrier(ctx context.Context) error {
	return g.run(ctx, func() error {
		r, err := g.begin(nil, 1, g.ibarrier, g.world)
		if err == nil {
			err = g.wait(ctx, r)
		}
		return err
	})
}

// most is the largest number of bytes in a call, whose counts are C's int. Tests lower it.
var most = 1 << 30

func (g *mpiGroup) Broadcast(ctx context.Context, x []byte, from int) error {
	return g.run(ctx, func() error {
		for ; len(x) > 0; x = x[min(most, len(x)):] {
			r, err := g.spread(x[:min(most, len(x))], from)
			if err == nil {
				err = g.wait(ctx, r)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// spread begins to overwrite x with that of a rank.
func (g *mpiGroup) spread(x []byte, root int) (*request, error) {
	received := len(x)
	if g.rank == root {
		received = 0
	}
	return g.begin([][]byte{x}, received, g.ibcast, address(x), uintptr(len(x)), g.library.bytes, uintptr(root), g.world)
}

func (g *mpiGroup) AllGather(ctx context.Context, mine []byte) ([][]byte, error) {
	all := make([][]byte, g.size)
	err := g.run(ctx, func() error {
		sizes := onHeap[int64](g.size + 1) // of all ranks, then of this one
		sizes[g.size] = int64(len(mine))
		r, err := g.begin([][]byte{vec.Bytes(sizes)}, 8*(g.size-1), g.iallgather, address(sizes[g.size:]), 8, g.library.bytes, address(sizes), 8, g.library.bytes, g.world)
		if err == nil {
			err = g.wait(ctx, r)
		}
		if err != nil {
			return err
		}
		longest := int64(0)
		piece := int64(most / g.size)
		for _, n := range sizes[:g.size] {
			longest = max(longest, n)
		}
		for k, n := range sizes[:g.size] {
			if longest > piece { // else it is in one piece, which is not copied
				all[k] = make([]byte, 0, n)
			}
		}
		for from := int64(0); from < longest; from += piece {
			if err := g.gatherPiece(ctx, mine, sizes[:g.size], from, piece, all); err != nil {
				return err
			}
		}
		return nil
	})
	return all, err
}

func (g *mpiGroup) AllGatherV(ctx context.Context, x []byte, ends []int) error {
	if len(x) > most {
		from := 0
		if g.rank > 0 {
			from = ends[g.rank-1]
		}
		all, err := g.AllGather(ctx, x[from:ends[g.rank]])
		for _, piece := range all {
			x = x[copy(x, piece):]
		}
		return err
	}
	counts, starts, at := onHeap[int32](g.size), onHeap[int32](g.size), 0
	for k, end := range ends {
		counts[k], starts[k] = int32(end-at), int32(at)
		at = end
	}
	return g.run(ctx, func() error { return g.gatherAll(ctx, nil, x, counts, starts) })
}

// gatherAll fills joined with what all ranks give. If own is nil, it is in its place already.
func (g *mpiGroup) gatherAll(ctx context.Context, own, joined []byte, counts, starts []int32) error {
	n, from := int(counts[g.rank]), g.inPlace
	if own != nil {
		from = address(own)
	}
	r, err := g.begin([][]byte{own, joined, vec.Bytes(counts), vec.Bytes(starts)}, len(joined)-n, g.iallgatherv,
		from, uintptr(n), g.library.bytes, address(joined), address(counts), address(starts), g.library.bytes, g.world)
	if err == nil {
		err = g.wait(ctx, r)
	}
	return err
}

// gatherPiece appends to what each rank gave so far the next bytes, up to a number.
func (g *mpiGroup) gatherPiece(ctx context.Context, mine []byte, sizes []int64, from, piece int64, all [][]byte) error {
	counts, starts, total := onHeap[int32](g.size), onHeap[int32](g.size), int32(0)
	for k, n := range sizes {
		counts[k], starts[k] = int32(min(piece, max(0, n-from))), total
		total += counts[k]
	}
	own, joined := mine[min(from, int64(len(mine))):][:counts[g.rank]], onHeap[byte](int(total))
	if err := g.gatherAll(ctx, own, joined, counts, starts); err != nil {
		return err
	}
	for k := range all {
		if x := joined[starts[k]:][:counts[k]:counts[k]]; all[k] == nil {
			all[k] = x
		} else {
			all[k] = append(all[k], x...)
		}
	}
	return nil
}

// Sum passes the pieces from rank to rank, window by window. The last rank spreads the results, which the others begin
// to receive as soon as they have sent their own sums on.
func (g *mpiGroup) Sum(ctx context.Context, pieces [][]byte, window int, add func(lo, hi int) error) error {
	return g.SumToLast(ctx, pieces, len(pieces), window, add)
}

func (g *mpiGroup) SumToLast(ctx context.Context, pieces [][]byte, all, window int, add func(lo, hi int) error) error {
	var coming, sends, spreads []*request
	err := g.run(ctx, func() (err error) {
		coming, err = g.receive(pieces[:min(max(1, window), len(pieces))])
		return err
	})
	if err != nil {
		return err
	}
	spread := func(lo, hi int) error {
		for k := lo; k < min(hi, all); k++ {
			r, err := g.spread(pieces[k], g.size-1)
			if err != nil {
				return err
			}
			spreads = append(spreads, r)
		}
		return nil
	}
	sent := 0 // pieces on their way: those before lo, as many as sends
	err = eachWindow(len(pieces), window, func(lo, hi int) error {
		err := g.run(ctx, func() error {
			err := g.wait(ctx, coming...)
			if err == nil {
				coming, err = g.receive(pieces[hi:min(hi+max(1, window), len(pieces))])
			}
			return err
		})
		if err == nil {
			err = add(lo, hi)
		}
		if err != nil {
			return err
		}
		return g.run(ctx, func() error {
			if g.rank == g.size-1 {
				return spread(lo, hi)
			}
			if err := g.wait(ctx, sends...); err != nil {
				return err
			}
			if err := spread(lo-sent, lo); err != nil {
				return err
			}
			sends, sent = sends[:0], hi-lo
			for _, x := range pieces[lo:hi] {
				r, err := g.begin([][]byte{x}, 0, g.isend, address(x), uintptr(len(x)), g.library.bytes, uintptr(g.rank+1), 1, g.world)
				if err != nil {
					return err
				}
				sends = append(sends, r)
			}
			return nil
		})
	})
	if err != nil {
		g.broken = cmp.Or(g.broken, err) // others wait for pieces that do not come
		return err
	}
	return g.run(ctx, func() error {
		err := g.wait(ctx, sends...)
		if err == nil {
			err = spread(len(pieces)-sent, len(pieces))
		}
		if err == nil {
			err = g.wait(ctx, spreads...)
		}
		return err
	})
}

// receive begins to receive pieces from the rank before, if there is one.
func (g *mpiGroup) receive(pieces [][]byte) (all []*request, err error) {
	if g.rank == 0 {
		return nil, nil
	}
	for _, x := range pieces {
		r, err := g.begin([][]byte{x}, len(x), g.irecv, address(x), uintptr(len(x)), g.library.bytes, uintptr(g.rank-1), 1, g.world)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}
