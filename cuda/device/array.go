package device

import (
	"fmt"
	"unsafe"

	"github.com/dsp-go/dsp/cuda/driver"
)

// Element is the type of an array's elements.
type Element interface {
	float32 | float64 | int32 | uint32 | int64 | uint64 | uint8
}

// Array is an array in a device's memory. The zero Array is empty.
type Array[E Element] struct {
	at driver.Address
	n  int
}

// Len returns the number of elements.
func (x Array[E]) Len() int { return x.n }

// IsEmpty reports whether there are no elements.
func (x Array[E]) IsEmpty() bool { return x.n == 0 }

// Slice returns elements lo to hi, hi excluded, of the same memory.
func (x Array[E]) Slice(lo, hi int) Array[E] {
	if lo < 0 || hi < lo || hi > x.n {
		panic(fmt.Sprintf("cuda: elements %d to %d of an array of %d", lo, hi, x.n))
	}
	if x.at == 0 {
		return Array[E]{0, hi - lo}
	}
	return Array[E]{x.at + driver.Address(lo)*driver.Address(x.width()), hi - lo}
}

// Address returns the array's address in the device's memory, for libraries that take a CUdeviceptr.
func (x Array[E]) Address() uint64 { return uint64(x.at) }

func (x Array[E]) width() int   { var e E; return int(unsafe.Sizeof(e)) }
func (x Array[E]) bytes() int64 { return int64(x.n) * int64(x.width()) }

// New returns an array of n elements of undefined content, aligned to 256 bytes; what names its purpose in errors.
func New[E Element](d *Device, n int, what string) Array[E] {
	x := Array[E]{n: n}
	if n < 0 {
		d.Fail(fmt.Errorf("cuda: %s of %d elements", what, n))
		return Array[E]{}
	}
	if n == 0 || !d.outside("New") || !d.enter() {
		return x
	}
	var err error
	x.at, err = d.memory.allocate(x.bytes(), what)
	d.leave(err, what)
	return x
}

// Free releases an array that New returned. Work enqueued earlier may still use it.
func Free[E Element](d *Device, x Array[E]) {
	if x.at == 0 || !d.outside("Free") || !d.enter() {
		return
	}
	d.leave(d.memory.release(x.at), "")
}

// Copy copies elements within the device's memory. The arrays must have equal lengths and must not overlap.
func Copy[E Element](d *Device, to, from Array[E]) {
	if to.n != from.n {
		d.Fail(fmt.Errorf("cuda: a copy of %d elements to %d", from.n, to.n))
	}
	if to.n > 0 && d.enter() {
		d.leave(d.lib.Copy(to.at, from.at, from.bytes(), d.stream), "")
	}
}

// Zero sets every element to 0.
func Zero[E Element](d *Device, x Array[E]) {
	if x.n > 0 && d.enter() {
		d.leave(d.lib.Zero(x.at, x.bytes(), d.stream), "")
	}
}

// Upload copies from to the first elements of an array. The caller may change from as soon as Upload returns.
func Upload[E Element](d *Device, to Array[E], from []E) {
	if len(from) > to.n {
		d.Fail(fmt.Errorf("cuda: an upload of %d elements to %d", len(from), to.n))
	}
	if len(from) > 0 && d.outside("Upload") && d.enter() {
		d.leave(d.staging.upload(d.lib, d.stream, to.at, bytesOf(from)), "")
	}
}

// Download waits for all enqueued work and copies the first elements of an array.
func Download[E Element](d *Device, to []E, from Array[E]) {
	if len(to) > from.n {
		d.Fail(fmt.Errorf("cuda: a download of %d elements of %d", len(to), from.n))
	}
	if len(to) > 0 && d.outside("Download") && d.enter() {
		d.leave(d.staging.download(d.lib, d.stream, bytesOf(to), from.at), "")
	}
}

func bytesOf[E Element](x []E) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(x[0])))
}

// NewFrom returns a new array that holds a copy of x. If x is empty, so is the array.
func NewFrom[E Element](d *Device, x []E, what string) Array[E] {
	if len(x) == 0 {
		return Array[E]{}
	}
	to := New[E](d, len(x), what)
	Upload(d, to, x)
	return to
}

// Grow returns the first n elements of scratch. If scratch has fewer, Grow replaces it with an array of undefined
// content: of n elements, or of half as many again as it had, if that is more. So an array that grows step by step is
// replaced rarely, and graphs captured before stay valid longer. what names the array's purpose in an OutOfMemoryError.
func Grow[E Element](d *Device, scratch *Array[E], n int, what string) Array[E] {
	if have := scratch.Len(); have < n {
		if have > 0 {
			d.moves++
		}
		spare := min(have/2, mostSpare/scratch.width())
		Free(d, *scratch)
		*scratch = New[E](d, max(n, have+spare), what)
	}
	return scratch.Slice(0, n)
}

// mostSpare is the most bytes that Grow adds to an array beyond what it is asked for.
const mostSpare = 256 << 20
