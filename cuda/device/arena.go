package device

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/dsp-go/dsp/cuda/driver"
)

const (
	Alignment  = 256      // bytes
	firstBlock = 64 << 20 // bytes of an arena's first block
	largeBlock = 1 << 30  // bytes of its largest blocks for small arrays
)

// memory lends a device's memory. The context is current in every call.
type memory interface {
	allocate(bytes int64, what string) (driver.Address, error)
	release(driver.Address) error
	unused() int64 // bytes it holds but has not lent
	close() error
}

// held counts the bytes that memories have lent.
var held atomic.Int64

// Held returns how many bytes the arrays of all devices of this process hold. It does not depend on other processes, as
// what is free on a device does.
func Held() int64 { return held.Load() }

// memoryVariable names the environment variable that chooses how a device lends memory: from an arena, or each array as
// an allocation of its own, so that tools find accesses beyond its ends. Without it, an emulated device guards and
// others have an arena.
const memoryVariable = "DSP_CUDA_MEMORY"

func newMemory(lib driver.Driver, info Info) (memory, error) {
	switch way := os.Getenv(memoryVariable); {
	case way == "guarded" || way == "" && info.Emulated():
		return &guarded{lib: lib, sizes: map[driver.Address]int64{}}, nil
	case way == "arena" || way == "":
		return newArena(lib), nil
	default:
		return nil, fmt.Errorf("%s=%s: expected arena or guarded", memoryVariable, way)
	}
}

// arena lends pieces of a few large blocks of device memory. It picks the smallest free piece that is large enough, and
// joins a freed piece with its free neighbours. The arena never waits for the device: the single stream runs every use
// of an array before any use of the next array at the same address.
type arena struct {
	lib    driver.Driver
	blocks []*span
	used   map[driver.Address]*span
	next   int64 // size of the next block
}

// span is a piece of a block and an element of the block's list of pieces.
type span struct {
	at         driver.Address
	bytes      int64
	free       bool
	prev, next *span
}

func newArena(lib driver.Driver) *arena {
	return &arena{lib: lib, used: map[driver.Address]*span{}, next: firstBlock}
}

func (a *arena) allocate(bytes int64, what string) (driver.Address, error) {
	bytes = (bytes + Alignment - 1) / Alignment * Alignment
	best := a.best(bytes)
	if best == nil {
		var err error
		if best, err = a.grow(bytes, what); err != nil {
			return 0, err
		}
	}
	if rest := best.bytes - bytes; rest > 0 {
		after := &span{at: best.at + driver.Address(bytes), bytes: rest, free: true, prev: best, next: best.next}
		if after.next != nil {
			after.next.prev = after
		}
		best.bytes, best.next = bytes, after
	}
	best.free = false
	a.used[best.at] = best
	held.Add(best.bytes)
	return best.at, nil
}

// best returns the smallest free span of at least the given size, the first among equals, or nil.
func (a *arena) best(bytes int64) (best *span) {
	for _, s := range a.blocks {
		for ; s != nil; s = s.next {
			if s.free && s.bytes >= bytes && (best == nil || s.bytes < best.bytes) {
				best = s
			}
		}
	}
	return best
}

// grow allocates a block from the driver: a large one or, if the device lacks the memory, one of the bytes needed,
// after releasing all unused blocks.
func (a *arena) grow(bytes int64, what string) (*span, error) {
	block := max(bytes, a.next)
	at, err := a.lib.Allocate(block)
	if outOfMemory(err) {
		if err := a.shrink(); err != nil {
			return nil, err
		}
		block = bytes
		at, err = a.lib.Allocate(block)
	}
	if outOfMemory(err) {
		return nil, tooLarge(a.lib, bytes, a.unused(), what)
	}
	if err != nil {
		return nil, err
	}
	a.next = min(2*a.next, largeBlock)
	s := &span{at: at, bytes: block, free: true}
	a.blocks = append(a.blocks, s)
	return s, nil
}

// shrink releases unused blocks to the driver. The driver waits for the device first.
func (a *arena) shrink() error {
	kept := a.blocks[:0]
	var errs []error
	for _, s := range a.blocks {
		if s.free && s.next == nil {
			errs = append(errs, a.lib.Free(s.at))
		} else {
			kept = append(kept, s)
		}
	}
	a.blocks = kept
	return errors.Join(errs...)
}

func (a *arena) release(at driver.Address) error {
	s := a.used[at]
	if s == nil {
		return errors.New("cuda: Free of an array that New did not return, or that is already free")
	}
	delete(a.used, at)
	held.Add(-s.bytes)
	s.free = true
	if n := s.next; n != nil && n.free {
		s.absorb(n)
	}
	if p := s.prev; p != nil && p.free {
		p.absorb(s)
	}
	return nil
}

// absorb joins s with the next span.
func (s *span) absorb(next *span) {
	s.bytes += next.bytes
	s.next = next.next
	if s.next != nil {
		s.next.prev = s
	}
}

func (a *arena) unused() (bytes int64) {
	for _, s := range a.blocks {
		for ; s != nil; s = s.next {
			if s.free {
				bytes += s.bytes
			}
		}
	}
	return bytes
}

func (a *arena) close() error {
	var errs []error
	for _, s := range a.blocks {
		errs = append(errs, a.lib.Free(s.at))
	}
	for _, s := range a.used {
		held.Add(-s.bytes)
	}
	a.blocks, a.used = nil, map[driver.Address]*span{}
	return errors.Join(errs...)
}

// guarded makes every array a separate allocation, so that an emulated device, or compute-sanitizer on a real one,
// detects accesses out of bounds.
type guarded struct {
	lib   driver.Driver
	sizes map[driver.Address]int64
}

func (g *guarded) allocate(bytes int64, what string) (driver.Address, error) {
	at, err := g.lib.Allocate(bytes)
	if outOfMemory(err) {
		return 0, tooLarge(g.lib, bytes, 0, what)
	}
	if err == nil {
		g.sizes[at] = bytes
		held.Add(bytes)
	}
	return at, err
}

func (g *guarded) release(at driver.Address) error {
	bytes, ok := g.sizes[at]
	if !ok {
		return errors.New("cuda: Free of an array that New did not return, or that is already free")
	}
	delete(g.sizes, at)
	held.Add(-bytes)
	return g.lib.Free(at)
}

func (g *guarded) unused() int64 { return 0 }

func (g *guarded) close() error {
	var errs []error
	for at, bytes := range g.sizes {
		held.Add(-bytes)
		errs = append(errs, g.lib.Free(at))
	}
	clear(g.sizes)
	return errors.Join(errs...)
}

func outOfMemory(err error) bool {
	e, ok := errors.AsType[*driver.Error](err)
	return ok && e.Code == codeOutOfMemory
}

func tooLarge(lib driver.Driver, needed, unused int64, what string) error {
	free, total, err := lib.MemoryInfo()
	if err != nil {
		return err
	}
	return &OutOfMemoryError{What: what, Needed: needed, Free: free + unused, Total: total}
}
