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
