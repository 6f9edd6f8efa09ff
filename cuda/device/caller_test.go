package device_test

import (
	"testing"

	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/device"
)

// Work that goes into streams of a caller runs in the order of the calls, whatever stream somebody waits for first, and
// the device's own work around it.
func TestStreamsOfACaller(t *testing.T) {
	d := cudatest.Emulated(t, "DSP_EMULATED_STREAMS=late")
	var callers []*device.Device
	var streams []uint64
	for range 2 {
		c := cudatest.Emulated(t)
		c.Do(func(stream uintptr) error { streams = append(streams, uint64(stream)); return nil })
		callers = append(callers, c)
	}
	const n = 100
	x := device.New[float32](d, n, "a test")
	fill := func(value float32) {
		d.Launch("fill", device.Dim{X: 1}, device.Dim{X: 32}, 0, x, value, int64(n))
	}
	expect := func(c *device.Device, want float32) {
		t.Helper()
		got := make([]float32, n)
		device.Download(c, got, x)
		if c.Err() != nil || got[0] != want || got[n-1] != want {
			t.Errorf("%v: %v, expected %v", c.Err(), got[0], want)
		}
	}
	fill(1)
	for k, stream := range streams {
		if err := d.In(stream, func() { fill(float32(2 + k)) }); err != nil {
			t.Fatal(err)
		}
	}
	expect(callers[1], 3)
	if err := callers[0].Sync(); err != nil {
		t.Fatal(err)
	}
	expect(callers[0], 3)
	for range 2 { // a last time in the default stream, by both of its names
		if err := d.In(0, func() { fill(4) }); err != nil {
			t.Fatal(err)
		}
		fill(5)
		expect(d, 5)
		if err := d.In(1, func() { fill(6) }); err != nil {
			t.Fatal(err)
		}
		expect(d, 6)
	}
}
