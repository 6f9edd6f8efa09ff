// Package driver is what package device needs of the CUDA driver, and nothing more.
//
// Built with the tag gpu it reaches the driver through gorgonia.org/cu, which is linked with trampolines in place of
// libcuda.so (see libcuda/trampolines.c), so that the program starts without a driver, too. Built without the tag, Load tells
// that this build has no CUDA.
package driver

import "unsafe"

// Handles of the driver. The zero Handle is none.
type (
	Context  uintptr
	Stream   uintptr
	Event    uintptr
	Module   uintptr
	Function uintptr
	Graph    uintptr // that can be launched
	Address  uint64  // in device memory
)

// Properties of a device. Sizes are in bytes, frequencies in kHz.
type Properties struct {
	Name            string
	Memory          int64
	Major, Minor    int // compute capability
	Multiprocessors int
	Shared          int // the most shared memory of a block
	L2              int
	Clock           int
	MemoryClock     int
	BusWidth        int // of the memory, in bits
}

// Driver is the CUDA driver. All but Version, Count, Properties, Retain and Release work on the current context of the
// calling OS thread. Errors are *Error.
type Driver interface {
	Version() int // 1000 major + 10 minor, as in 12040
	Count() (int, error)
	Properties(ordinal int) (Properties, error)

	Retain(ordinal int) (Context, error) // the primary context
	Release(ordinal int) error
	SetCurrent(Context) error

	MemoryInfo() (free, total int64, err error)
	Allocate(bytes int64) (Address, error)
	Free(Address) error
	AllocateHost(bytes int) (unsafe.Pointer, error) // pinned
	FreeHost(unsafe.Pointer) error

	CopyIn(to Address, from unsafe.Pointer, bytes int64, s Stream) error // from pinned memory
	CopyOut(to unsafe.Pointer, from Address, bytes int64, s Stream) error
	Copy(to, from Address, bytes int64, s Stream) error
	Zero(at Address, bytes int64, s Stream) error

	LoadModule(ptx string) (Module, error) // the error's Log tells what the compiler said
	UnloadModule(Module) error
	Function(m Module, kernel string) (f Function, threads int, err error) // and the most threads of its blocks
	SetShared(f Function, bytes int) error                                 // allows launches with so much shared memory, for more than 48 KiB
	Launch(f Function, grid, block [3]int, shared int, s Stream, args []uint64) error

	NewStream() (Stream, error) // not synchronised with the default stream
	CloseStream(Stream) error
	Wait(Stream) error

	NewEvent() (Event, error)
	CloseEvent(Event) error
	Record(Event, Stream) error
	WaitEvent(Event) error
	Elapsed(from, to Event) (milliseconds float64, err error)

	// BeginCapture makes the stream collect what is enqueued into a graph, which EndCapture returns. Any thread may do either.
	BeginCapture(Stream) error
	EndCapture(Stream) (Graph, error)
	LaunchGraph(Graph, Stream) error
	FreeGraph(Graph) error
}

// Error is a call that failed.
type Error struct {
	Code int    // CUresult
	Name string // CUDA_ERROR_…
	Text string // what the driver says about it; may be empty
	Call string // cu…
	Log  string // of the compiler, for modules
}

func (e *Error) Error() string {
	s := e.Call + ": " + e.Name
	if e.Text != "" {
		s += " (" + e.Text + ")"
	}
	if e.Log != "" {
		s += "\n" + e.Log
	}
	return s
}
