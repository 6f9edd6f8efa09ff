package device

import (
	"errors"
	"fmt"

	"github.com/dsp-go/dsp/cuda/driver"
	"github.com/dsp-go/dsp/structured"
)

// Error is a failed CUDA call.
type Error struct {
	Name string // CUDA_ERROR_…
	Text string // the driver's description
	Call string // the function, cu…, and the purpose of the call
	Log  string // the driver's compiler log, if it refused a kernel's module
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

// UnsupportedError is bad input that a device cannot work on, and the CPU can.
type UnsupportedError struct{ err error }

// Unsupported returns an UnsupportedError with a message as structured.BadInput has it.
func Unsupported(format string, args ...any) error {
	return &UnsupportedError{structured.BadInput(format, args...)}
}

func (e *UnsupportedError) Error() string { return e.err.Error() }
func (e *UnsupportedError) Unwrap() error { return e.err }

// LostError is an error after which the process can no longer use the device.
type LostError struct{ Err *Error }

func (e *LostError) Error() string { return "the device is lost: " + e.Err.Error() }
func (e *LostError) Unwrap() error { return e.Err }

// OutOfMemoryError says which array did not fit. Sizes are in bytes.
type OutOfMemoryError struct {
	What                string // the array's purpose
	Needed, Free, Total int64  // Free may be fragmented; it includes the arena's unused memory
}

func (e *OutOfMemoryError) Error() string {
	return fmt.Sprintf("out of device memory: %s needs %s, %s of %s are free", e.What, size(e.Needed),
		size(e.Free), size(e.Total))
}

// size formats a number of bytes with its unit.
func size(bytes int64) string {
	switch b := float64(bytes); {
	case bytes < 1<<10:
		return fmt.Sprintf("%d bytes", bytes)
	case bytes < 1<<20:
		return fmt.Sprintf("%.1f KiB", b/(1<<10))
	case bytes < 1<<30:
		return fmt.Sprintf("%.1f MiB", b/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
}

const codeOutOfMemory = 2

// lost holds the result codes after which a context is unusable.
var lost = map[int]bool{
	46:  true, // DEVICE_UNAVAILABLE
	214: true, // ECC_UNCORRECTABLE
	220: true, // NVLINK_UNCORRECTABLE
	226: true, // CONTAINED
	700: true, // ILLEGAL_ADDRESS
	702: true, // LAUNCH_TIMEOUT
	709: true, // CONTEXT_IS_DESTROYED
	710: true, // ASSERT
	714: true, // HARDWARE_STACK_ERROR
	715: true, // ILLEGAL_INSTRUCTION
	716: true, // MISALIGNED_ADDRESS
	717: true, // INVALID_ADDRESS_SPACE
	718: true, // INVALID_PC
	719: true, // LAUNCH_FAILED
	999: true, // UNKNOWN
}

// explain turns a driver's error into one of this package; what is the purpose of the call, or empty.
func explain(err error, what string) error {
	e, ok := errors.AsType[*driver.Error](err)
	if !ok {
		return err
	}
	explained := &Error{Name: e.Name, Text: e.Text, Call: e.Call, Log: e.Log}
	if what != "" {
		explained.Call += "(" + what + ")"
	}
	if lost[e.Code] {
		return &LostError{explained}
	}
	return explained
}
