package device_test

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/device"
)

// now reads an element in the memory of an emulated device as it is, without waiting for any work.
func now(x device.Array[float32], i int) float32 {
	return *(*float32)(unsafe.Add(pointer(x.Address()), 4*i))
}

// The host gets the first elements while later work has not begun, and each element as it was when it was sent, on a
// device that runs everything as late as it may.
func TestDelivery(t *testing.T) {
	d := cudatest.Emulated(t, "DSP_EMULATED_STREAMS=late")
	const n, first = 1000, 300
	x, later := device.New[float32](d, n, "x"), device.New[float32](d, 1, "later")
	fill := func(x device.Array[float32], value float32) {
		d.Launch("fill", device.Dim{X: 2}, device.Dim{X: 64}, 0, x, value, int64(x.Len()))
	}
	graph := d.Capture(func() { // marks cut the graph only when somebody wants them
		fill(x, 9)
		d.Mark(first)
	})
	d.OnMark(d.Send)
	marked := d.Capture(func() {
		fill(x.Slice(0, first), 1)
		d.Mark(first)
		fill(x.Slice(first, n), 2)
		fill(later, 3)
	})
	for round := range 3 {
		if round == 1 {
			d.OnMark(nil)
			d.Replay(graph)
			d.OnMark(d.Send)
		}
		fill(later, 0)
		cudatest.Must(t, d.Sync())
		d.Deliver(x)
		d.Replay(marked)
		d.Send(n)
		fill(x, -1) // of a next part
		got := make([]float32, n)
		d.Arrived(got[:first-1], 0)
		if got[0] != 1 || got[first-2] != 1 || now(later, 0) != 0 {
			t.Fatalf("round %d: %v, %v first; later work: %v", round, got[0], got[first-2], now(later, 0))
		}
		if round == 2 {
			cudatest.Must(t, d.Sync()) // all that can run has run
		}
		d.Arrived(got[first-1:], first-1)
		if got[first-1] != 1 || got[first] != 2 || got[n-1] != 2 {
			t.Errorf("round %d: %v, %v, %v then", round, got[first-1], got[first], got[n-1])
		}
		cudatest.Must(t, d.Sync())
		if now(later, 0) != 3 || now(x, 0) != -1 {
			t.Errorf("round %d: %v and %v in the end", round, now(later, 0), now(x, 0))
		}
	}
	graph.Free()
	marked.Free()
	d.Deliver(x.Slice(0, 10))
	d.Send(4)
	d.Arrived(make([]float32, 5), 0)
	if err := d.Err(); err == nil || !strings.Contains(err.Error(), "elements up to 5 have not been sent") {
		t.Error(err)
	}
}

// pointer is an address of an emulated device, whose memory is the host's.
func pointer(at uint64) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&at)) }
