package host

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// HugePages asks the system to back x by pages of 2 MiB, where it has any: what is read row by row, in no order, then misses fewer translations of
// addresses. Slices of less than such a page are left alone.
func HugePages(x []float32) {
	const page = 2 << 20
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(x)))) & (page - 1)
	if size := (4*len(x) - skip) &^ (page - 1); size > 0 {
		_ = unix.Madvise(unsafe.Slice((*byte)(unsafe.Pointer(&x[skip/4])), size), unix.MADV_HUGEPAGE) // advice only
	}
}
