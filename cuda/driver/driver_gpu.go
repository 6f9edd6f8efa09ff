//go:build gpu && linux && amd64

package driver

import (
	"errors"
	"reflect"
	"sync"
	"unsafe"

	"gorgonia.org/cu"
)

// Built reports whether this build can use a driver.
const Built = true

// Load returns the driver, or an error that says why there is none.
func Load() (Driver, error) { return load() }

var load = sync.OnceValues(func() (Driver, error) {
	if err := start(); err != nil {
		return nil, err
	}
	return new(library), nil
})

// library is the driver, called through cu and, for what cu lacks, through calls_gpu.go.
type library struct {
	params []unsafe.Pointer // of the current launch
}

// failed adds the name of the call to an error from cu.
func failed(call string, err error) error {
	if err == nil {
		return nil
	}
	var code reflect.Value // cu's result codes have their own type, which wrapping hides
	for e := err; e != nil; e = errors.Unwrap(e) {
		code = reflect.ValueOf(e)
	}
	if code.Kind() != reflect.Int {
		return &Error{Code: 999, Name: "CUDA_ERROR_UNKNOWN", Text: err.Error(), Call: call}
	}
	return named(call, int(code.Int()))
}

func (*library) Version() int { return cu.Version() }

func (*library) Count() (int, error) {
	n, err := cu.NumDevices()
	return n, failed("cuDeviceGetCount", err)
}

func (*library) Properties(ordinal int) (p Properties, err error) {
	device, err := cu.GetDevice(ordinal)
	if err != nil {
		return p, failed("cuDeviceGet", err)
	}
	if p.Name, err = device.Name(); err != nil {
		return p, failed("cuDeviceGetName", err)
	}
	if p.Memory, err = device.TotalMem(); err != nil {
		return p, failed("cuDeviceTotalMem", err)
	}
	uuid, err := device.UUID()
	if err != nil {
		return p, failed("cuDeviceGetUuid", err)
	}
	p.UUID = uuid.String()
	const maxSharedMemoryPerBlockOptIn cu.DeviceAttribute = 97 // not named in cu
	for attribute, to := range map[cu.DeviceAttribute]*int{
		cu.ComputeCapabilityMajor: &p.Major, cu.ComputeCapabilityMinor: &p.Minor,
		cu.MultiprocessorCount: &p.Multiprocessors, maxSharedMemoryPerBlockOptIn: &p.Shared, cu.L2CacheSize: &p.L2,
		cu.ClockRate: &p.Clock, cu.MemoryClockRate: &p.MemoryClock, cu.GlobalMemoryBusWidth: &p.BusWidth,
	} {
		if *to, err = device.Attribute(attribute); err != nil {
			return p, failed("cuDeviceGetAttribute", err)
		}
	}
	return p, nil
}

func (*library) Retain(ordinal int) (Context, error) {
	c, err := cu.Device(ordinal).RetainPrimaryCtx()
	return *(*Context)(unsafe.Pointer(&c)), failed("cuDevicePrimaryCtxRetain", err)
}

func (*library) Release(ordinal int) error {
	return failed("cuDevicePrimaryCtxRelease", cu.Device(ordinal).ReleasePrimaryCtx())
}

func (*library) SetCurrent(c Context) error {
	return failed("cuCtxSetCurrent", cu.SetCurrentContext(*(*cu.CUContext)(unsafe.Pointer(&c))))
}

func (*library) MemoryInfo() (free, total int64, err error) {
	free, total, err = cu.MemInfo()
	return free, total, failed("cuMemGetInfo", err)
}

func (*library) Allocate(bytes int64) (Address, error) {
	p, err := cu.MemAlloc(bytes)
	return Address(p), failed("cuMemAlloc", err)
}

func (*library) Free(at Address) error {
	return failed("cuMemFree", cu.MemFree(cu.DevicePtr(at)))
}

func (*library) FreeHost(p unsafe.Pointer) error {
	return failed("cuMemFreeHost", cu.MemFreeHost(p))
}

func (*library) CopyIn(to Address, from unsafe.Pointer, bytes int64, s Stream) error {
	return failed("cuMemcpyHtoDAsync", cu.MemcpyHtoDAsync(cu.DevicePtr(to), from, bytes, s.cu()))
}

func (*library) CopyOut(to unsafe.Pointer, from Address, bytes int64, s Stream) error {
	return failed("cuMemcpyDtoHAsync", cu.MemcpyDtoHAsync(to, cu.DevicePtr(from), bytes, s.cu()))
}

func (*library) Copy(to, from Address, bytes int64, s Stream) error {
	return failed("cuMemcpyDtoDAsync", cu.MemcpyDtoDAsync(cu.DevicePtr(to), cu.DevicePtr(from), bytes, s.cu()))
}

func (*library) Zero(at Address, bytes int64, s Stream) error {
	return failed("cuMemsetD8Async", cu.MemsetD8Async(cu.DevicePtr(at), 0, bytes, s.cu()))
}

func (*library) UnloadModule(m Module) error {
	return failed("cuModuleUnload", (*(*cu.Module)(unsafe.Pointer(&m))).Unload())
}

// Function also queries how many threads the function's registers allow. The driver knows that only after loading the
// function, which it may postpone until then.
func (*library) Function(m Module, kernel string) (Function, int, error) {
	f, err := (*(*cu.Module)(unsafe.Pointer(&m))).Function(kernel)
	if err != nil {
		return 0, 0, failed("cuModuleGetFunction", err)
	}
	threads, err := f.Attribute(cu.FnMaxThreadsPerBlock)
	return *(*Function)(unsafe.Pointer(&f)), threads, failed("cuFuncGetAttribute", err)
}

// Launch passes the arguments as cu expects them: as pointers to 8 bytes each.
func (l *library) Launch(f Function, grid, block [3]int, shared int, s Stream, args []uint64) error {
	l.params = l.params[:0]
	for i := range args {
		l.params = append(l.params, unsafe.Pointer(&args[i]))
	}
	return failed("cuLaunchKernel", (*(*cu.Function)(unsafe.Pointer(&f))).Launch(
		grid[0], grid[1], grid[2], block[0], block[1], block[2], shared, s.cu(), l.params))
}

func (s Stream) cu() cu.Stream { return *(*cu.Stream)(unsafe.Pointer(&s)) }
func (e Event) cu() cu.Event   { return *(*cu.Event)(unsafe.Pointer(&e)) }

func (*library) NewStream() (Stream, error) {
	s, err := cu.MakeStream(cu.NonBlocking)
	return *(*Stream)(unsafe.Pointer(&s)), failed("cuStreamCreate", err)
}

func (*library) CloseStream(s Stream) error {
	of := s.cu()
	return failed("cuStreamDestroy", of.Destroy())
}

func (*library) Wait(s Stream) error { return failed("cuStreamSynchronize", s.cu().Synchronize()) }

func (*library) NewEvent() (Event, error) {
	e, err := cu.MakeEvent(cu.DefaultEvent)
	return *(*Event)(unsafe.Pointer(&e)), failed("cuEventCreate", err)
}

func (*library) CloseEvent(e Event) error {
	of := e.cu()
	return failed("cuEventDestroy", cu.DestroyEvent(&of))
}

func (*library) Record(e Event, s Stream) error {
	return failed("cuEventRecord", e.cu().Record(s.cu()))
}

func (*library) WaitEvent(e Event) error {
	return failed("cuEventSynchronize", e.cu().Synchronize())
}

func (*library) Elapsed(from, to Event) (float64, error) {
	ms, err := from.cu().Elapsed(to.cu())
	return ms, failed("cuEventElapsedTime", err)
}
