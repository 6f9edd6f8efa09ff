package vec

import "unsafe"

// Prefetch asks the processor to bring x into its caches, and does not wait for it.
func Prefetch[E any](x []E) {
	if n := len(x) * int(unsafe.Sizeof(*new(E))); n > 0 {
		prefetch(unsafe.Pointer(unsafe.SliceData(x)), (n+lineBytes-1)/lineBytes)
	}
}

// PrefetchString is Prefetch of the beginning of a text.
func PrefetchString(x string) { prefetch(unsafe.Pointer(unsafe.StringData(x)), 1) }

const lineBytes = 64

//go:noescape
func prefetch(from unsafe.Pointer, lines int)
