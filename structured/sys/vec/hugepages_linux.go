package vec

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// HugePages asks the system to back x by pages of 2 MiB, where it has any: what is read row by row, in no order, then
// misses fewer translations of addresses. Slices of less than such a page are left alone.
func HugePages[E any](x []E) {
	const page = 2 << 20
	if len(x) == 0 {
		return
	}
	start, one := unsafe.Pointer(unsafe.SliceData(x)), int(unsafe.Sizeof(x[0]))
	skip := -int(uintptr(start)) & (page - 1)
	if size := (one*len(x) - skip) &^ (page - 1); size > 0 {
		_ = unix.Madvise(unsafe.Slice((*byte)(unsafe.Add(start, skip)), size), unix.MADV_HUGEPAGE) // advice only
	}
}
