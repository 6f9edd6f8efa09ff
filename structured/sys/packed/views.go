package packed

import (
	"fmt"
	"unsafe"

	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// elements are the types that slices of mapped bytes can have.
type elements interface {
	int | int32 | float32 | float64 | uint8
}

// view returns the bytes as a slice of numbers that shares them.
func view[E elements](b []byte) ([]E, error) {
	var e E
	size := int(unsafe.Sizeof(e))
	switch {
	case len(b) == 0:
		return []E{}, nil
	case len(b)%size != 0 || uintptr(unsafe.Pointer(&b[0]))%unsafe.Alignof(e) != 0:
		return nil, fmt.Errorf("%d bytes that are not aligned to numbers of %d", len(b), size)
	}
	return unsafe.Slice((*E)(unsafe.Pointer(&b[0])), len(b)/size), nil
}

// aligned returns size bytes that begin where any number may.
func aligned(size int) []byte {
	words := make([]uint64, (size+7)/8)
	if len(words) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), size)
}

// pairsOf returns the numbers as pairs that share them; there must be an even number.
func pairsOf(x []int32) [][2]int32 {
	if len(x) == 0 {
		return nil
	}
	return unsafe.Slice((*[2]int32)(unsafe.Pointer(&x[0])), len(x)/2)
}

// flat is the inverse of pairsOf.
func flat(x [][2]int32) []int32 {
	if len(x) == 0 {
		return []int32{}
	}
	return unsafe.Slice(&x[0][0], 2*len(x))
}

// int64s returns ints as a tensor holds them; they share memory. The machine must be native.
func int64s(x []int) []int64 {
	if len(x) == 0 {
		return []int64{}
	}
	return unsafe.Slice((*int64)(unsafe.Pointer(&x[0])), len(x))
}

// dtypes are the names of elements in the format.
func dtype[E elements]() string {
	var e E
	switch any(e).(type) {
	case int:
		return "I64"
	case int32:
		return "I32"
	case float32:
		return "F32"
	case float64:
		return "F64"
	}
	return "U8"
}

// add puts an array into f unless it is nil.
func add[E safetensors.Element](f *safetensors.File, name string, x []E, shape ...int) {
	if x != nil {
		safetensors.Add(f, name, x, shape...)
	}
}
