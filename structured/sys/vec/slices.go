package vec

import "unsafe"

// Bytes returns the memory of numbers.
func Bytes[E any](x []E) []byte {
	var one E
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(one)))
}

// View returns bytes that Bytes made as numbers: the same memory, or a copy if numbers cannot lie there.
func View[E any](x []byte) []E {
	size := int(unsafe.Sizeof(*new(E)))
	at := unsafe.Pointer(unsafe.SliceData(x))
	if uintptr(at)%unsafe.Alignof(*new(E)) != 0 {
		numbers := make([]E, len(x)/size)
		copy(Bytes(numbers), x)
		return numbers
	}
	return unsafe.Slice((*E)(at), len(x)/size)
}

// Grow returns a slice of length n with undefined content. It returns s itself if its capacity suffices, and otherwise
// a new slice of exactly that capacity. (slices.Grow would copy the old content and round the capacity up.)
func Grow[E any](s []E, n int) []E {
	if cap(s) < n {
		return make([]E, n)
	}
	return s[:n]
}

// Huge returns n zeros, in HugePages: memory that is read in no order, or that is written at once.
func Huge[E any](n int) []E {
	x := make([]E, n)
	HugePages(x)
	return x
}
