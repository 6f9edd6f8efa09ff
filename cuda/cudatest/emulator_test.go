package cudatest_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/dsp-go/dsp/cuda/driver"
)

// TestMain uses the emulator library that includes testdata/broken.cu; it lies beside the one without.
func TestMain(m *testing.M) {
	// the library that finds races includes them
	if library := os.Getenv("DSP_CUDA_LIBRARY"); library != "" && !looksForRaces() {
		os.Setenv("DSP_CUDA_LIBRARY", filepath.Join(filepath.Dir(library), "libcuda-broken.so"))
	}
	os.Exit(m.Run())
}

func looksForRaces() bool { return filepath.Base(os.Getenv("DSP_CUDA_LIBRARY")) == "libcuda-races.so" }

// rig is a device with the kernels of testdata/broken.cu and an array of n numbers.
type rig struct {
	driver.Driver
	module driver.Module
	stream driver.Stream
	x      driver.Address
	n      int
}

func newRig(t *testing.T, n int) *rig {
	t.Helper()
	if os.Getenv("DSP_CUDA_LIBRARY") == "" {
		t.Skip("needs the emulated device: make test-gpu")
	}
	d, err := driver.Load()
	if err != nil && strings.Contains(err.Error(), "this build has no CUDA") {
		t.Skip(err)
	}
	ptx, unread := os.ReadFile("testdata/broken.ptx")
	err = errors.Join(err, unread)
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	r := &rig{Driver: d, n: n}
	var c driver.Context
	for _, step := range []func() error{
		func() (err error) { c, err = d.Retain(0); return },
		func() error { return d.SetCurrent(c) },
		func() (err error) { r.stream, err = d.NewStream(); return },
		func() (err error) { r.module, err = d.LoadModule(string(ptx)); return },
		func() (err error) { r.x, err = d.Allocate(4 * int64(n)); return },
	} {
		if err == nil {
			err = step()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Release(0); err != nil {
			t.Error(err)
		}
	})
	return r
}

// launch runs a kernel on two blocks.
func (r *rig) launch(t *testing.T, kernel string, threads, shared int) error {
	t.Helper()
	return r.launchGrid(t, kernel, [3]int{2, 1, 1}, threads, shared)
}

func (r *rig) launchGrid(t *testing.T, kernel string, grid [3]int, threads, shared int) error {
	t.Helper()
	f, _, err := r.Function(r.module, kernel)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Launch(f, grid, [3]int{threads, 1, 1}, shared, r.stream,
		[]uint64{uint64(r.x), uint64(math.Float32bits(2)), uint64(r.n)}); err != nil {
		return err
	}
	return r.Wait(r.stream)
}

func (r *rig) numbers(t *testing.T) []float32 {
	t.Helper()
	x := make([]float32, r.n)
	if err := r.CopyOut(unsafe.Pointer(unsafe.SliceData(x)), r.x, 4*int64(r.n), r.stream); err != nil {
		t.Fatal(err)
	}
	if err := r.Wait(r.stream); err != nil {
		t.Fatal(err)
	}
	return x
}

var orders = []string{"forward", "reverse", "random", "random:7"}

func TestRightKernelInEveryOrder(t *testing.T) {
	for _, order := range orders {
		for _, threads := range []string{"1", "3"} {
			t.Run(order+" "+threads, func(t *testing.T) {
				t.Setenv("DSP_EMULATED_ORDER", order)
				t.Setenv("DSP_EMULATED_THREADS", threads)
				r := newRig(t, 64)
				for range 3 {
					if err := r.launch(t, "right", 64, 256); err != nil {
						t.Fatal(err)
					}
				}
				if x := r.numbers(t); x[0] != 64*63/2+2*31*16+3 || x[1] != x[0] {
					t.Errorf("blocks found %v", x[:2])
				}
			})
		}
	}
}

func TestWrongKernelsAreTold(t *testing.T) {
	for _, c := range []struct {
		kernel  string
		threads int
		error   string // result of the launch
		report  string // what the emulator prints
	}{
		{"overrun", 64, "CUDA_ERROR_ILLEGAL_ADDRESS",
			`overrun<<<2, 64, 64>>>: block 1, thread 5: illegal address 0x\w+, 160 bytes behind the end of an allocation of 252 bytes`},
		{"overrun_by_one", 64, "CUDA_ERROR_ILLEGAL_ADDRESS",
			`overrun_by_one, parameter 0: wrote 0 bytes past the end of an allocation of 252 bytes`},
		{"null", 64, "CUDA_ERROR_ILLEGAL_ADDRESS", `block \d, thread 3: illegal address 0x0, near null`},
		{"much_shared", 64, "CUDA_ERROR_ILLEGAL_ADDRESS",
			`thread 0: .* 64 bytes after the beginning of the block's shared memory of 64 bytes`},
		{"much_stack", 32, "CUDA_ERROR_ILLEGAL_ADDRESS", `thread 0: .* the thread's stack is full`},
		{"misaligned", 64, "CUDA_ERROR_MISALIGNED_ADDRESS", `thread 0: a misaligned address`},
		{"outside", 64, "CUDA_ERROR_MISALIGNED_ADDRESS", `thread 8: .* an index outside of a local array`},
		{"divides", 64, "CUDA_ERROR_LAUNCH_FAILED", `thread 9: division of an integer by zero`},
		{"divergent", 64, "CUDA_ERROR_LAUNCH_FAILED", `threads 0-6, 8-31 at the barrier, broken.cu:\d+; thread 7 ended`},
		{"divergent_warps", 64, "CUDA_ERROR_LAUNCH_FAILED",
			`threads 0-31 at the barrier, broken.cu:(\d+); threads 32-63 at the barrier`},
		{"divergent_shuffle", 64, "CUDA_ERROR_LAUNCH_FAILED",
			`threads 0-19 at the shuffle, device.cuh:\d+; threads 20-31 ended`},
		{"missing_lane", 40, "CUDA_ERROR_LAUNCH_FAILED",
			`thread 32: the shuffle at device.cuh:\d+ reads lane 16, the warp has 8 threads`},
	} {
		t.Run(c.kernel, func(t *testing.T) {
			t.Setenv("DSP_EMULATED_ORDER", "forward")
			t.Setenv("DSP_EMULATED_THREADS", "1")
			r := newRig(t, 63)
			err := r.launch(t, c.kernel, c.threads, 64)
			var failed *driver.Error
			if !errors.As(err, &failed) {
				t.Fatalf("error %v", err)
			}
			if failed.Name != c.error || !regexp.MustCompile(c.report).MatchString(failed.Text) {
				t.Errorf("error %v\nexpected %s (%s)", err, c.error, c.report)
			}
			if err := r.Wait(r.stream); !errors.As(err, &failed) || failed.Name != c.error {
				t.Errorf("the next call: %v", err)
			}
		})
	}
}

func TestOneArrayForTwoParametersIsTold(t *testing.T) {
	r := newRig(t, 64)
	f, _, err := r.Function(r.module, "copies")
	if err != nil {
		t.Fatal(err)
	}
	launch := func(from driver.Address) error {
		return r.Launch(f, [3]int{1, 1, 1}, [3]int{32, 1, 1}, 0, r.stream,
			[]uint64{uint64(r.x), uint64(math.Float32bits(2)), uint64(from)})
	}
	if err := launch(r.x + 32*4); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(launch(r.x), r.Wait(r.stream)); err == nil ||
		!strings.Contains(err.Error(), "copies: parameters 0 and 2 are one array, which is written") {
		t.Errorf("error %v", err)
	}
}

// OS threads share the blocks, and each of them can report an error.
func TestErrorOnAnyThread(t *testing.T) {
	for _, threads := range []string{"1", "2", "5"} {
		for _, kernel := range []string{"null", "divergent", "divides"} {
			t.Run(kernel+" "+threads, func(t *testing.T) {
				t.Setenv("DSP_EMULATED_THREADS", threads)
				r := newRig(t, 64)
				for range 3 {
					if err := r.launchGrid(t, "right", [3]int{8, 2, 2}, 64, 256); err != nil {
						t.Fatal(err)
					}
				}
				err := r.launchGrid(t, kernel, [3]int{50, 20, 3}, 64, 64)
				if err == nil || !strings.Contains(err.Error(), kernel+"<<<(50,20,3), 64, 64>>>: block (") {
					t.Errorf("error %v", err)
				}
			})
		}
	}
}

func TestUninitialisedSharedMemoryIsPoison(t *testing.T) {
	r := newRig(t, 64)
	if err := r.launch(t, "uninitialised", 64, 256); err != nil {
		t.Fatal(err)
	}
	if x := r.numbers(t); slices.ContainsFunc(x, func(v float32) bool { return v == v }) {
		t.Errorf("numbers: %v", x)
	}
}

// A missing barrier shows in some order of threads: one in which a thread reads before another writes.
func TestOrderShowsMissingBarrier(t *testing.T) {
	if looksForRaces() {
		t.Skip("the race checker finds this in any order")
	}
	for _, order := range orders {
		t.Run(order, func(t *testing.T) {
			t.Setenv("DSP_EMULATED_ORDER", order)
			r := newRig(t, 64)
			if err := r.launch(t, "missing_barrier", 64, 256); err != nil {
				t.Fatal(err)
			}
			right := true
			for i, v := range r.numbers(t) {
				right = right && v == float32(max(i-1, 0))
			}
			if order == "forward" != right {
				t.Errorf("right: %v", right)
			}
		})
	}
}

// The race checker names both accesses.
func TestRacesAreTold(t *testing.T) {
	if !looksForRaces() {
		t.Skip("make test-races")
	}
	for kernel, report := range map[string]string{
		"right":           "",
		"missing_barrier": `thread 1 reads .* what thread 0 wrote .* with no barrier between: byte 0 of the block's shared memory`,
		"blocks_meet":     `block 1: thread 0 writes .* what thread 0 of another block wrote .* with no barrier between: at byte 0 of an allocation of 256 bytes`,
	} {
		t.Run(kernel, func(t *testing.T) {
			r := newRig(t, 64)
			switch err := r.launch(t, kernel, 64, 256); {
			case report == "" && err != nil:
				t.Error(err)
			case report != "" && (err == nil || !regexp.MustCompile(report).MatchString(err.Error())):
				t.Errorf("error %v\nexpected %s", err, report)
			}
		})
	}
}

func TestFreedMemoryIsGone(t *testing.T) {
	r := newRig(t, 64)
	if err := r.Free(r.x); err != nil {
		t.Fatal(err)
	}
	err := r.launch(t, "shuffles", 64, 0)
	if err == nil || !strings.Contains(err.Error(), "which was freed") {
		t.Errorf("error %v", err)
	}
}

func TestLaunchesAreLimited(t *testing.T) {
	r := newRig(t, 2048)
	const most = 227 << 10
	f, _, err := r.Function(r.module, "right")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.launch(t, "right", 1025, 8192); err == nil {
		t.Error("a launch with 1025 threads per block succeeds")
	}
	if err := r.launch(t, "right", 64, 48<<10+1); err == nil {
		t.Error("a launch with more than 48 KiB of shared memory succeeds without opting in")
	}
	if err := r.SetShared(f, most+1); err == nil {
		t.Error("more than 227 KiB of shared memory are granted")
	}
	if err := r.SetShared(f, most); err != nil {
		t.Error(err)
	}
	if err := r.launch(t, "right", 64, most); err != nil {
		t.Error(err)
	}
	if _, _, err := r.Function(r.module, "nobody"); err == nil {
		t.Error("a kernel that does not exist is found")
	}
}

// Go still handles its own signals after the emulator has installed its handler before Go's.
func TestGoKeepsItsSignals(t *testing.T) {
	r := newRig(t, 64)
	if err := r.launch(t, "barriers", 64, 0); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if e, ok := recover().(runtime.Error); !ok || !strings.Contains(e.Error(), "nil pointer") {
			t.Errorf("recovered %v", e)
		}
	}()
	var nobody *rig
	nobody.n++
}
