package device

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/dsp-go/dsp/cuda/driver"
)

// fake is a driver in Go that is as lazy as a device may be: enqueued work runs only when somebody waits for it, so
// that a too early reuse of memory shows. It has one kernel, fill.
type fake struct {
	total, lent int64
	blocks      map[driver.Address]*block
	next        uintptr
	host        map[unsafe.Pointer][]byte
	queue       []func()
	done        int // operations run since the start
	recorded    map[driver.Event]int
	current     driver.Context
	captured    []func()
	capturing   bool
	graphs      map[driver.Graph][]func()
	failing     map[string]int // result codes of calls that fail
	calls       []string
	loaded      []string // modules
	refused     string   // a module that does not load
	shared      int
}

// block is device memory, allocated on first access.
type block struct {
	bytes   int64
	content []byte
}

func newFake(total int64) *fake {
	return &fake{
		total: total, next: 1 << 20, blocks: map[driver.Address]*block{}, host: map[unsafe.Pointer][]byte{},
		recorded: map[driver.Event]int{}, graphs: map[driver.Graph][]func(){}, failing: map[string]int{},
	}
}

// call records a call and fails it if the test says so; all but a few calls need a context.
func (f *fake) call(name string) error {
	f.calls = append(f.calls, name)
	if code := f.failing[name]; code != 0 {
		return &driver.Error{Code: code, Name: fmt.Sprintf("CUDA_ERROR_%d", code), Call: name}
	}
	if f.current == 0 && !slices.Contains([]string{"cuCtxSetCurrent", "cuDevicePrimaryCtxRetain",
		"cuDevicePrimaryCtxRelease"}, name) {
		return &driver.Error{Code: 201, Name: "CUDA_ERROR_INVALID_CONTEXT", Call: name}
	}
	return nil
}

func (f *fake) handle() uintptr { f.next++; return f.next }

func (f *fake) enqueue(do func()) {
	if f.capturing {
		f.captured = append(f.captured, do)
		return
	}
	f.queue = append(f.queue, do)
}

// run runs the queue up to a position counted from the start.
func (f *fake) run(to int) {
	for f.done < to {
		f.queue[0]()
		f.queue = f.queue[1:]
		f.done++
	}
}

// at returns device memory; an access outside of allocated memory ends the test.
func (f *fake) at(a driver.Address, bytes int64) []byte {
	b, offset := f.find(a, bytes)
	if b.content == nil {
		b.content = make([]byte, b.bytes)
	}
	return b.content[offset : offset+bytes]
}

func (f *fake) find(a driver.Address, bytes int64) (b *block, offset int64) {
	for base, b := range f.blocks {
		if offset := int64(a) - int64(base); offset >= 0 && offset+bytes <= b.bytes {
			return b, offset
		}
	}
	panic(fmt.Sprintf("%d bytes at %#x were not allocated", bytes, a))
}

func (f *fake) Version() int        { return 12040 }
func (f *fake) Count() (int, error) { return 1, nil }
func (f *fake) Properties(int) (driver.Properties, error) {
	return driver.Properties{Name: "fake", Memory: f.total, Major: 9}, nil
}
func (f *fake) Retain(int) (driver.Context, error) { return 1, f.call("cuDevicePrimaryCtxRetain") }
func (f *fake) Release(int) error                  { return f.call("cuDevicePrimaryCtxRelease") }
func (f *fake) SetCurrent(c driver.Context) error {
	f.current = c
	return f.call("cuCtxSetCurrent")
}
func (f *fake) Current() (driver.Context, error)  { return f.current, nil }
func (f *fake) Owner(driver.Address) (int, error) { return 0, nil }
func (f *fake) MemoryInfo() (int64, int64, error) {
	return f.total - f.lent, f.total, f.call("cuMemGetInfo")
}
func (f *fake) Allocate(bytes int64) (driver.Address, error) {
	if f.capturing {
		return 0, errors.New("allocation inside a capture")
	}
	if f.lent+bytes > f.total {
		return 0, &driver.Error{Code: codeOutOfMemory, Name: "CUDA_ERROR_OUT_OF_MEMORY", Call: "cuMemAlloc"}
	}
	f.next = (f.next + 511) / 256 * 256
	at := driver.Address(f.next)
	f.next += uintptr(bytes)
	f.lent += bytes
	f.blocks[at] = &block{bytes: bytes}
	return at, f.call("cuMemAlloc")
}
func (f *fake) Free(at driver.Address) error {
	f.run(f.done + len(f.queue)) // as cuMemFree does
	if f.blocks[at] == nil {
		return errors.New("free of memory that was not allocated")
	}
	f.lent -= f.blocks[at].bytes
	delete(f.blocks, at)
	return f.call("cuMemFree")
}
func (f *fake) AllocateHost(bytes int) (unsafe.Pointer, error) {
	b := make([]byte, bytes)
	p := unsafe.Pointer(&b[0])
	f.host[p] = b
	return p, f.call("cuMemHostAlloc")
}
func (f *fake) FreeHost(p unsafe.Pointer) error {
	delete(f.host, p)
	return f.call("cuMemFreeHost")
}
func (f *fake) CopyIn(to driver.Address, from unsafe.Pointer, bytes int64, _ driver.Stream) error {
	f.enqueue(func() { copy(f.at(to, bytes), unsafe.Slice((*byte)(from), bytes)) })
	return f.call("cuMemcpyHtoDAsync")
}
func (f *fake) CopyOut(to unsafe.Pointer, from driver.Address, bytes int64, _ driver.Stream) error {
	f.enqueue(func() { copy(unsafe.Slice((*byte)(to), bytes), f.at(from, bytes)) })
	return f.call("cuMemcpyDtoHAsync")
}
func (f *fake) Copy(to, from driver.Address, bytes int64, _ driver.Stream) error {
	f.enqueue(func() { copy(f.at(to, bytes), f.at(from, bytes)) })
	return f.call("cuMemcpyDtoDAsync")
}
func (f *fake) Zero(at driver.Address, bytes int64, _ driver.Stream) error {
	f.enqueue(func() { clear(f.at(at, bytes)) })
	return f.call("cuMemsetD8Async")
}
func (f *fake) LoadModule(code string) (driver.Module, error) {
	if f.capturing {
		return 0, errors.New("a module loaded inside a capture")
	}
	f.loaded = append(f.loaded, code)
	if code == f.refused {
		return 0, &driver.Error{Code: 209, Name: "CUDA_ERROR_NO_BINARY_FOR_GPU", Call: "cuModuleLoadDataEx"}
	}
	return driver.Module(f.handle()), f.call("cuModuleLoadDataEx")
}
func (f *fake) UnloadModule(driver.Module) error { return f.call("cuModuleUnload") }
func (f *fake) Function(driver.Module, string) (driver.Function, int, error) {
	if f.capturing {
		return 0, 0, errors.New("a function loaded inside a capture")
	}
	return driver.Function(f.handle()), 512, f.call("cuModuleGetFunction")
}
func (f *fake) SetShared(_ driver.Function, bytes int) error {
	f.shared = bytes
	return f.call("cuFuncSetAttribute")
}
func (f *fake) Launch(_ driver.Function, grid, block [3]int, shared int, _ driver.Stream, args []uint64) error {
	x, value, n := driver.Address(args[0]), math.Float32frombits(uint32(args[1])), int64(args[2])
	f.enqueue(func() {
		b := f.at(x, 4*n)
		for i := range n {
			*(*float32)(unsafe.Pointer(&b[4*i])) = value
		}
	})
	return f.call("cuLaunchKernel")
}
func (f *fake) NewStream() (driver.Stream, error) { return 1, f.call("cuStreamCreate") }
func (f *fake) CloseStream(driver.Stream) error   { return f.call("cuStreamDestroy") }
func (f *fake) NewEvent() (driver.Event, error) {
	return driver.Event(f.handle()), f.call("cuEventCreate")
}
func (f *fake) CloseEvent(driver.Event) error { return f.call("cuEventDestroy") }
func (f *fake) FreeGraph(g driver.Graph) error {
	delete(f.graphs, g)
	return f.call("cuGraphExecDestroy")
}
func (f *fake) BeginCapture(driver.Stream) error {
	f.capturing = true
	return f.call("cuStreamBeginCapture")
}
func (f *fake) Record(e driver.Event, _ driver.Stream) error {
	f.recorded[e] = f.done + len(f.queue)
	return f.call("cuEventRecord")
}
func (f *fake) Wait(driver.Stream) error {
	f.run(f.done + len(f.queue))
	return f.call("cuStreamSynchronize")
}
func (f *fake) WaitEvent(e driver.Event) error {
	f.run(f.recorded[e])
	return f.call("cuEventSynchronize")
}
func (f *fake) Await(driver.Stream, driver.Event) error { return f.call("cuStreamWaitEvent") } // there is one queue
func (f *fake) Reached(e driver.Event) (bool, error) {
	return f.done >= f.recorded[e], f.call("cuEventQuery")
}
func (f *fake) Elapsed(from, to driver.Event) (float64, error) { // one millisecond per call
	return float64(f.recorded[to] - f.recorded[from]), f.call("cuEventElapsedTime")
}
func (f *fake) EndCapture(driver.Stream) (driver.Graph, error) {
	g := driver.Graph(f.handle())
	f.graphs[g], f.captured, f.capturing = f.captured, nil, false
	return g, f.call("cuStreamEndCapture")
}
func (f *fake) LaunchGraph(g driver.Graph, _ driver.Stream) error {
	f.queue = append(f.queue, f.graphs[g]...)
	return f.call("cuGraphLaunch")
}

// idle is a driver whose launches and contexts cost nothing.
type idle struct{ *fake }

func (idle) SetCurrent(driver.Context) error { return nil }
func (idle) Launch(driver.Function, [3]int, [3]int, int, driver.Stream, []uint64) error {
	return nil
}
