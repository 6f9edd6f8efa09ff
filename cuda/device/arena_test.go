package device

import (
	"errors"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/cuda/driver"
)

// lease is memory that a test borrowed from an arena.
type lease struct {
	at    driver.Address
	bytes int64
}

func TestArenaLendsWhatNobodyHas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lib := newFake(int64(rapid.SampledFrom([]int{1, 70, 300, 5000}).Draw(t, "MiB")) << 20)
		lib.current = 1
		a := newArena(lib)
		var leases []lease
		sizes := rapid.OneOf(rapid.Int64Range(1, 2000), rapid.Int64Range(1<<18, 40<<20))
		for range rapid.IntRange(1, 60).Draw(t, "calls") {
			if len(leases) > 0 && rapid.Bool().Draw(t, "give") {
				i := rapid.IntRange(0, len(leases)-1).Draw(t, "which")
				if err := a.release(leases[i].at); err != nil {
					t.Fatal(err)
				}
				leases = slices.Delete(leases, i, i+1)
				continue
			}
			bytes := sizes.Draw(t, "bytes")
			at, err := a.allocate(bytes, "a test")
			if refused, ok := errors.AsType[*OutOfMemoryError](err); ok {
				checkRefusal(t, a, lib, refused, bytes)
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			leases = append(leases, lease{at, bytes})
			checkLeases(t, a, lib, leases)
		}
		for _, l := range leases {
			if err := a.release(l.at); err != nil {
				t.Fatal(err)
			}
		}
		for _, s := range a.blocks {
			if s.next != nil || !s.free {
				t.Fatalf("a block is still in pieces after all of it was freed")
			}
		}
		if err := a.close(); err != nil || lib.lent != 0 {
			t.Fatalf("close: %v, %d bytes still lent", err, lib.lent)
		}
	})
}

// checkLeases checks that leases are aligned, disjoint and inside allocated memory, and that the arena's lists are in
// order.
func checkLeases(t *rapid.T, a *arena, lib *fake, leases []lease) {
	sorted := slices.SortedFunc(slices.Values(leases), func(a, b lease) int { return int(int64(a.at) - int64(b.at)) })
	for i, l := range sorted {
		if l.at%Alignment != 0 {
			t.Fatalf("%#x is not aligned", l.at)
		}
		if i > 0 && sorted[i-1].at+driver.Address(sorted[i-1].bytes) > l.at {
			t.Fatalf("%v and %v overlap", sorted[i-1], l)
		}
		lib.find(l.at, l.bytes)
	}
	for _, s := range a.blocks {
		for ; s.next != nil; s = s.next {
			if s.next.prev != s || s.at+driver.Address(s.bytes) != s.next.at {
				t.Fatalf("pieces %+v and %+v do not meet", s, s.next)
			}
			if s.free && s.next.free {
				t.Fatalf("free neighbours %+v and %+v", s, s.next)
			}
		}
	}
}

// checkRefusal checks that the array really did not fit, and that the error's numbers are right.
func checkRefusal(t *rapid.T, a *arena, lib *fake, e *OutOfMemoryError, bytes int64) {
	rounded := (bytes + Alignment - 1) / Alignment * Alignment
	free, total, _ := lib.MemoryInfo()
	if e.Needed != rounded || e.Total != total || e.Free != free+a.unused() {
		t.Fatalf("%+v, with %d free, %d unused", e, free, a.unused())
	}
	if rounded <= free || a.best(rounded) != nil {
		t.Fatalf("%d bytes refused, although %d are free", rounded, free)
	}
	for _, s := range a.blocks {
		if s.free && s.next == nil {
			t.Fatal("refused, although an unused block could be given back")
		}
	}
}

// On the emulated device every array is a separate allocation; here it uses an arena, as a real device does.
func TestArenaOnADevice(t *testing.T) {
	if os.Getenv("DSP_CUDA_LIBRARY") == "" {
		t.Skip("no device: make test-gpu emulates one")
	}
	lib, err := driver.Load()
	if err != nil {
		t.Fatal(err)
	}
	d, err := open(lib, Info{Name: "with an arena"}, inFolder(t))
	if err != nil {
		t.Fatal(err)
	}
	var arrays []Array[float32]
	for i := range 20 {
		x := New[float32](d, 10+i, "x")
		d.Launch("fill", Dim{X: 1}, Dim{X: 32}, 0, x, float32(i), int64(x.Len()))
		if arrays = append(arrays, x); i%3 == 0 {
			Free(d, arrays[i/3])
			arrays[i/3] = Array[float32]{}
		}
	}
	for i, x := range arrays {
		got := make([]float32, x.Len())
		Download(d, got, x)
		for _, v := range got {
			if v != float32(i) {
				t.Fatalf("array %d holds %v", i, v)
			}
		}
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

func TestArenaTakesTheSmallestPieceThatFits(t *testing.T) {
	lib := newFake(1 << 30)
	lib.current = 1
	a := newArena(lib)
	take := func(bytes int64) driver.Address {
		at, err := a.allocate(bytes, "a test")
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	large := take(4096)
	take(256)
	small := take(1024)
	take(256)
	for _, at := range []driver.Address{large, small} {
		if err := a.release(at); err != nil {
			t.Fatal(err)
		}
	}
	if at := take(1000); at != small {
		t.Errorf("1000 bytes at %#x, expected the free 1024 at %#x", at, small)
	}
	if at := take(1025); at != large {
		t.Errorf("1025 bytes at %#x, expected the free 4096 at %#x", at, large)
	}
	if err := a.release(large + 256); err == nil {
		t.Error("freeing an address that was never lent succeeds")
	}
}
