package device_test

import (
	"testing"

	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/device"
)

// BenchmarkLaunch measures the host's cost of a launch; the kernel does nothing.
func BenchmarkLaunch(b *testing.B) {
	d := cudatest.Device(b)
	x := device.New[float32](d, 1, "x")
	launch := func() { d.Launch("fill", device.Dim{X: 1}, device.Dim{X: 1}, 0, x, float32(1), int64(0)) }
	launch() // loads the kernel
	b.ReportAllocs()
	for b.Loop() {
		launch()
	}
}

func BenchmarkReplay(b *testing.B) {
	d := cudatest.Device(b)
	x := device.New[float32](d, 1, "x")
	g := d.Capture(func() { d.Launch("fill", device.Dim{X: 1}, device.Dim{X: 1}, 0, x, float32(1), int64(0)) })
	b.ReportAllocs()
	for b.Loop() {
		d.Replay(g)
	}
}

func BenchmarkUploadHeader(b *testing.B) {
	d := cudatest.Device(b)
	x := device.New[int32](d, 64, "x")
	from := make([]int32, 64)
	b.ReportAllocs()
	for b.Loop() {
		device.Upload(d, x, from)
	}
}

func BenchmarkNewFree(b *testing.B) {
	d := cudatest.Device(b)
	b.ReportAllocs()
	for b.Loop() {
		device.Free(d, device.New[int32](d, 64, "x"))
	}
}
