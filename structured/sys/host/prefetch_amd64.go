package host

import "unsafe"

// Prefetch asks the processor to bring x into its caches, and does not wait for it.
func Prefetch[E float32 | int32 | int](x []E) {
	if n := len(x) * int(unsafe.Sizeof(*new(E))); n > 0 {
		prefetch(unsafe.Pointer(unsafe.SliceData(x)), (n+lineBytes-1)/lineBytes)
	}
}

const lineBytes = 64

//go:noescape
func prefetch(from unsafe.Pointer, lines int)
