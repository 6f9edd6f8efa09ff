package safetensors

import (
	"math/bits"
	"unsafe"
)

// Native reports whether this machine stores numbers as files do: little-endian, with int of 64 bits.
func Native() bool {
	one := uint16(1)
	return *(*byte)(unsafe.Pointer(&one)) == 1 && bits.UintSize == 64
}

// Bytes returns the bytes of numbers, which share memory. They are those of a file if the machine is Native.
func Bytes[E int | Element](x []E) []byte {
	if len(x) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), len(x)*int(unsafe.Sizeof(x[0])))
}
