package cuda_test

import (
	"testing"

	"github.com/dsp-go/dsp/cuda"
	"github.com/dsp-go/dsp/cuda/cudatest"
)

// What a call costs the host; the kernel has nothing to do.
func BenchmarkLaunch(b *testing.B) {
	d := cudatest.Device(b)
	x := cuda.New[float32](d, 1, "x")
	launch := func() { d.Launch("fill", cuda.Dim{X: 1}, cuda.Dim{X: 1}, 0, x, float32(1), int64(0)) }
	launch() // loads the kernel
	b.ReportAllocs()
	for b.Loop() {
		launch()
	}
}

func BenchmarkReplay(b *testing.B) {
	d := cudatest.Device(b)
	x := cuda.New[float32](d, 1, "x")
	g := d.Capture(func() { d.Launch("fill", cuda.Dim{X: 1}, cuda.Dim{X: 1}, 0, x, float32(1), int64(0)) })
	b.ReportAllocs()
	for b.Loop() {
		d.Replay(g)
	}
}

func BenchmarkUploadHeader(b *testing.B) {
	d := cudatest.Device(b)
	x := cuda.New[int32](d, 64, "x")
	from := make([]int32, 64)
	b.ReportAllocs()
	for b.Loop() {
		cuda.Upload(d, x, from)
	}
}

func BenchmarkNewFree(b *testing.B) {
	d := cudatest.Device(b)
	b.ReportAllocs()
	for b.Loop() {
		cuda.Free(d, cuda.New[int32](d, 64, "x"))
	}
}
