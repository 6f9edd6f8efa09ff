// Package device opens NVIDIA GPUs and runs kernels on them. It has arrays, launches, captured graphs, events and
// matrix products.
//
// A Device has one stream, which runs everything in the order of the calls. Any goroutine may call it, but only one at
// a time. Errors are sticky: once a call fails, later calls do nothing, and Sync and Err return that first error. So
// callers need not check every launch.
package device

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"github.com/dsp-go/dsp/cuda/devicecode"
	"github.com/dsp-go/dsp/cuda/driver"
)

// Info describes a device. Sizes are in bytes, frequencies in kHz.
type Info struct {
	Ordinal         int    `json:"ordinal"`
	Name            string `json:"name"`
	Memory          int64  `json:"memory"`
	Capability      string `json:"capability"` // major.minor
	Driver          string `json:"driver"`     // newest CUDA version that the driver supports
	Multiprocessors int    `json:"multiprocessors"`
	Shared          int    `json:"shared"` // largest shared memory of a block
	L2              int    `json:"l2"`
	Clock           int    `json:"clock"`
	MemoryClock     int    `json:"memory_clock"`
	BusWidth        int    `json:"bus_width"` // of the memory, in bits
	UUID            string `json:"uuid"`      // of the card, or of its part
}

// Emulated reports whether the device is a GPU emulated by the CPU, for tests.
func (i Info) Emulated() bool { return strings.HasPrefix(i.Name, "dsp emulated") }

func (i Info) String() string {
	return fmt.Sprintf("cuda:%d %s, %s, compute capability %s, CUDA %s", i.Ordinal, i.Name, size(i.Memory), i.Capability,
		i.Driver)
}

// Built reports whether this build can use a device.
const Built = driver.Built

// Devices returns the machine's devices. If there are none, the error says why.
func Devices() ([]Info, error) {
	lib, err := driver.Load()
	if err != nil {
		return nil, explain(err, "")
	}
	n, err := lib.Count()
	switch {
	case err != nil:
		return nil, explain(err, "")
	case n == 0:
		return nil, errors.New("the NVIDIA driver sees no device")
	}
	infos := make([]Info, n)
	for i := range infos {
		if infos[i], err = describe(lib, i); err != nil {
			return nil, err
		}
	}
	return infos, nil
}

func describe(lib driver.Driver, ordinal int) (Info, error) {
	p, err := lib.Properties(ordinal)
	if err != nil {
		return Info{}, explain(err, fmt.Sprintf("cuda:%d", ordinal))
	}
	v := lib.Version()
	return Info{
		Ordinal: ordinal, Name: p.Name, Memory: p.Memory,
		Capability:      fmt.Sprintf("%d.%d", p.Major, p.Minor),
		Driver:          fmt.Sprintf("%d.%d", v/1000, v%1000/10),
		Multiprocessors: p.Multiprocessors, Shared: p.Shared, L2: p.L2,
		Clock: p.Clock, MemoryClock: p.MemoryClock, BusWidth: p.BusWidth, UUID: p.UUID,
	}, nil
}

// Device is an opened device.
type Device struct {
	lib     driver.Driver
	info    Info
	context driver.Context
	stream  driver.Stream
	err     error
	closed  bool

	memory   memory
	staging  staging
	delivery delivery
	moves    int // arrays that Grow has replaced
	compiled *devicecode.Set
	kernels  map[string]*kernel // loaded kernels
	modules  map[string]driver.Module
	args     [maxArgs]uint64 // of the current launch

	communicator *Communicator // or nil
	joining      bool          // a library still waits in the context, for other ranks

	capturing bool
	captured  *Graph   // so far
	missing   []string // kernels that a capture needs and that are not loaded
	onMark    func(n int)

	spare struct { // events for reuse
		sync.Mutex
		events []driver.Event
	}
}

// Open opens a device by its number. The caller must close the device.
func Open(ordinal int) (*Device, error) {
	infos, err := Devices()
	switch {
	case err != nil:
		return nil, err
	case ordinal < 0 || ordinal >= len(infos):
		return nil, fmt.Errorf("there is no device cuda:%d: this machine has %d, counted from cuda:0", ordinal, len(infos))
	}
	if err := infos[ordinal].usable(); err != nil {
		return nil, err
	}
	lib, err := driver.Load()
	if err != nil {
		return nil, err
	}
	compiled, err := devicecode.Compiled()
	if err != nil {
		return nil, err
	}
	return open(lib, infos[ordinal], compiled)
}

// usable returns an error if the kernels cannot run on the device: their PTX 7.8 targets compute capability 8.0 and up.
func (i Info) usable() error {
	var major, minor int
	if fmt.Sscanf(i.Capability, "%d.%d", &major, &minor); major < 8 {
		return fmt.Errorf("cuda:%d, %s, has compute capability %s; 8.0 or later is needed", i.Ordinal, i.Name, i.Capability)
	}
	if fmt.Sscanf(i.Driver, "%d.%d", &major, &minor); 100*major+minor < 1108 {
		return fmt.Errorf("the NVIDIA driver supports CUDA %s; 11.8 or later is needed", i.Driver)
	}
	return nil
}

func open(lib driver.Driver, info Info, compiled *devicecode.Set) (*Device, error) {
	d := &Device{lib: lib, info: info, compiled: compiled, kernels: map[string]*kernel{},
		modules: map[string]driver.Module{}}
	var err error
	if d.memory, err = newMemory(lib, info); err != nil {
		return nil, err
	}
	if d.context, err = lib.Retain(info.Ordinal); err != nil {
		return nil, explain(err, info.Name)
	}
	if d.enter() {
		d.stream, err = lib.NewStream()
		d.leave(err, "")
	}
	if d.err != nil {
		return nil, errors.Join(d.err, lib.Release(info.Ordinal))
	}
	return d, nil
}

// Info describes the device.
func (d *Device) Info() Info { return d.info }

// Err returns the first error since Open. An error in a running kernel may show only at the next Sync.
func (d *Device) Err() error { return d.err }

// Sync waits for all enqueued work and returns the first error since Open.
func (d *Device) Sync() error {
	if d.outside("Sync") && d.enter() {
		d.leave(d.lib.Wait(d.stream), "")
	}
	return d.err
}

// Memory returns the free and the total bytes of the device's memory. Memory that the arena holds but does not use
// counts as free.
func (d *Device) Memory() (free, total int64) {
	if d.enter() {
		var err error
		free, total, err = d.lib.MemoryInfo()
		d.leave(err, "")
	}
	return free + d.memory.unused(), total
}

// Moves returns how often Grow has replaced an array since Open: a graph that was captured before may use memory that
// is gone.
func (d *Device) Moves() int { return d.moves }

// Do calls f with the device's stream, as a CUstream, on a thread that has the device's context. It is for libraries
// that enqueue work into the stream. An error from f is sticky.
func (d *Device) Do(f func(stream uintptr) error) {
	if d.enter() {
		d.leave(f(uintptr(d.stream)), "")
	}
}

// Close waits for all enqueued work and releases all resources. Later calls do nothing. Close returns the first error
// since Open.
func (d *Device) Close() error {
	if d.closed {
		return d.err
	}
	d.closed = true
	failed := d.err
	if d.joining { // the end of the process releases what the library uses
		return failed
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	note := func(err error) {
		if failed == nil {
			failed = explain(err, "")
		}
	}
	note(d.lib.SetCurrent(d.context))
	note(d.lib.Wait(d.stream)) // the calls below only release resources, and may fail after an error
	if d.communicator != nil {
		note(d.communicator.close(d.err != nil))
	}
	note(d.staging.close(d.lib))
	note(d.delivery.close(d.lib))
	note(d.closeEvents())
	note(d.memory.close())
	for _, m := range d.modules {
		note(d.lib.UnloadModule(m))
	}
	note(d.lib.CloseStream(d.stream))
	note(d.lib.SetCurrent(0))
	note(d.lib.Release(d.info.Ordinal))
	d.Fail(errors.New("the device is closed"))
	return failed
}

// enter makes the device's context current on the calling thread until leave is called. It returns false after an
// error.
func (d *Device) enter() bool {
	if d.err != nil {
		return false
	}
	runtime.LockOSThread()
	if err := d.lib.SetCurrent(d.context); err != nil {
		d.leave(err, "")
		return false
	}
	return true
}

// leave ends what enter began. If err is not nil, it becomes the sticky error; what is the purpose of the failed call.
func (d *Device) leave(err error, what string) {
	runtime.UnlockOSThread()
	if err != nil {
		d.Fail(explain(err, what))
	}
}

// Fail makes err the device's sticky error, unless it already has one.
func (d *Device) Fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

// outside reports whether no graph is being captured. During a capture it records an error for the named call.
func (d *Device) outside(call string) bool {
	if d.capturing {
		d.Fail(errors.New("cuda: " + call + " inside a captured graph"))
	}
	return !d.capturing
}
