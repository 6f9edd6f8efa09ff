package ranks

import (
	"syscall"
	"time"
	"unsafe"
)

// pause puts the thread to sleep, at most for lastPause. Go's scheduler does not know of it and leaves the thread its
// processor: of a call that it knows, it takes the processor away, looks for other work, and watches closely for a
// while, which costs more than the rest of the wait.
func pause(d time.Duration) {
	length := syscall.NsecToTimespec(int64(d))
	_, _, _ = syscall.RawSyscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&length)), 0, 0) // a signal ends it early
}

// yield lets another thread of the machine run that waits for this core, such as the rank for which this one waits.
func yield() { _, _, _ = syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0) }
