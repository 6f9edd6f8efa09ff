// Package arenas leaves more of a limited address space (ulimit -v) to the program. The C library, which loads BLAS and
// MPI, reserves 64 MiB of addresses for each thread; one such arena for all threads is enough, but only the environment
// at the start of a process can say so. So a program that imports this package starts again under such a limit, once,
// before other packages begin.
package arenas

import (
	"math"
	"os"
	"syscall"
)

// variable is read by the C library when a process starts.
const variable = "MALLOC_ARENA_MAX"

func init() {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &limit); err != nil || limit.Cur == math.MaxUint64 {
		return
	}
	if _, given := syscall.Getenv(variable); !given {
		// if that fails, the process goes on as it is
		_ = syscall.Exec("/proc/self/exe", os.Args, append(syscall.Environ(), variable+"=1"))
	}
}
