//go:build linux || darwin

package packed

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapped returns the content of a file, mapped for reading.
func mapped(f *os.File, size int) ([]byte, error) {
	return unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
}

// unmap ends a mapping.
func unmap(b []byte) error { return unix.Munmap(b) }

// sequential says that b will be read from its beginning to its end, or that the order is open again.
func sequential(b []byte, on bool) {
	advice := unix.MADV_NORMAL
	if on {
		advice = unix.MADV_SEQUENTIAL
	}
	_ = unix.Madvise(b, advice) // advice only
}

// forget takes the pages of b out of the process. They stay in the system's cache as long as it has room.
func forget(b []byte) {
	_ = unix.Madvise(b, unix.MADV_DONTNEED) // advice only
}
