// Package driver wraps the part of the CUDA driver that package device needs.
//
// Built with the tag gpu, it calls the driver through gorgonia.org/cu, which is linked with trampolines instead of
// libcuda.so (see libcuda/trampolines.c), so that the program also starts without a driver. Without the tag, Load
// reports that this build has no CUDA.
package driver

import "unsafe"

// Handles of the driver. Zero is no handle.
type (
	Context  uintptr
	Stream   uintptr
	Event    uintptr
	Module   uintptr
	Function uintptr
	Graph    uintptr // an executable graph
	Address  uint64  // in device memory
)

// Properties of a device. Sizes are in bytes, frequencies in kHz.
type Properties struct {
	Name            string
	Memory          int64
	UUID            string
	Major, Minor    int // compute capability
	Multiprocessors int
	Shared          int // largest shared memory of a block
	L2              int
	Clock           int
	MemoryClock     int
	BusWidth        int // of the memory, in bits
}

// Driver is the CUDA driver. All methods but Version, Count, Properties, Retain, Release and Owner work on the current
// context of the calling OS thread. Errors are *Error.
type Driver interface {
	Version() int // 1000 major + 10 minor: 12.4 is 12040
	Count() (int, error)
	Properties(ordinal int) (Properties, error)

	Retain(ordinal int) (Context, error) // the primary context
	Release(ordinal int) error
	SetCurrent(Context) error
	Current() (Context, error) // 0: none

	// Owner returns the device in whose memory an address is, also if another library of this process allocated it;
	// −1 for memory of the host.
	Owner(Address) (ordinal int, err error)

	MemoryInfo() (free, total int64, err error)
	Allocate(bytes int64) (Address, error)
	Free(Address) error
	AllocateHost(bytes int) (unsafe.Pointer, error) // pinned
	FreeHost(unsafe.Pointer) error

	CopyIn(to Address, from unsafe.Pointer, bytes int64, s Stream) error // from pinned memory
	CopyOut(to unsafe.Pointer, from Address, bytes int64, s Stream) error
	Copy(to, from Address, bytes int64, s Stream) error
	Zero(at Address, bytes int64, s Stream) error

	// PTX, which the driver compiles, or a cubin; the error's Log holds the compiler's messages
	LoadModule(code string) (Module, error)
	UnloadModule(Module) error
	Function(m Module, kernel string) (f Function, threads int, err error) // threads is the largest block
	// allows launches with this much shared memory; needed above 48 KiB
	SetShared(f Function, bytes int) error
	Launch(f Function, grid, block [3]int, shared int, s Stream, args []uint64) error

	NewStream() (Stream, error) // not synchronised with the default stream
	CloseStream(Stream) error
	Wait(Stream) error

	NewEvent() (Event, error)
	CloseEvent(Event) error
	Record(Event, Stream) error
	WaitEvent(Event) error
	Await(Stream, Event) error   // later work of the stream waits for the event's last record
	Reached(Event) (bool, error) // does not wait
	Elapsed(from, to Event) (milliseconds float64, err error)

	// BeginCapture makes the stream record enqueued work in a graph, which EndCapture returns. Both may run on any
	// thread.
	BeginCapture(Stream) error
	EndCapture(Stream) (Graph, error)
	LaunchGraph(Graph, Stream) error
	FreeGraph(Graph) error
}

// Error is a failed call.
type Error struct {
	Code int    // CUresult
	Name string // CUDA_ERROR_…
	Text string // the driver's description; may be empty
	Call string // cu…
	Log  string // the compiler's log, for modules
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
