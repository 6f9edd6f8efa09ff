package device

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/cuda/devicecode"
	"github.com/dsp-go/dsp/cuda/driver"
	"pgregory.net/rapid"
)

// inFolder returns the kernels of the source folder, which builds without the tag gpu do not embed.
func inFolder(t rapid.TB) *devicecode.Set {
	set, err := devicecode.Compiled()
	if !driver.Built {
		set, err = devicecode.Read(os.DirFS("../devicecode/ptx"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// testDevice opens a device over a fake driver.
func testDevice(t rapid.TB, total int64) (*Device, *fake) {
	lib := newFake(total)
	d, err := open(lib, Info{Name: "fake"}, inFolder(t))
	if err != nil {
		t.Fatal(err)
	}
	return d, lib
}

func TestArraysGoThereAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, _ := testDevice(t, 1<<30)
		// Uploads that exceed the staging ring, with small ones in between, so that buffers are refilled many times.
		type there struct {
			x    Array[int32]
			want []int32
		}
		var all []there
		for i := range rapid.IntRange(1, 8).Draw(t, "arrays") {
			n := rapid.OneOf(rapid.IntRange(0, 300), rapid.IntRange(1<<18, 5<<18)).Draw(t, "n")
			a := there{New[int32](d, n, "a test"), make([]int32, n)}
			for j := range a.want {
				a.want[j] = int32(j*7 + i)
			}
			Upload(d, a.x, a.want)
			all = append(all, a)
		}
		for _, a := range all {
			got := make([]int32, a.x.Len())
			Download(d, got, a.x)
			if !slices.Equal(got, a.want) {
				t.Fatalf("an array of %d came back changed", a.x.Len())
			}
		}
		for _, a := range all {
			Free(d, a.x)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// A piece of the staging ring is refilled only after the device has read it: this upload is twice the ring's size.
func TestUploadsWaitForTheRing(t *testing.T) {
	d, _ := testDevice(t, 1<<28)
	x := New[uint8](d, 2*buffers*bufferBytes, "x")
	from := make([]uint8, x.Len())
	for i := range from {
		from[i] = uint8(i >> 20)
	}
	Upload(d, x, from)
	got := make([]uint8, x.Len())
	if Download(d, got, x); !slices.Equal(got, from) {
		t.Error("the upload came back changed")
	}
}

// The device copies a piece while the host empties the one before it.
func TestDownloadsOverlap(t *testing.T) {
	d, lib := testDevice(t, 1<<28)
	x := New[uint8](d, 3*bufferBytes+5, "x")
	from := make([]uint8, x.Len())
	for i := range from {
		from[i] = uint8(i >> 19)
	}
	Upload(d, x, from)
	lib.calls = nil
	got := make([]uint8, x.Len())
	if Download(d, got, x); !slices.Equal(got, from) {
		t.Error("the download differs")
	}
	var order string
	for _, call := range lib.calls {
		switch call {
		case "cuMemcpyDtoHAsync":
			order += "c"
		case "cuEventSynchronize", "cuStreamSynchronize":
			order += "w"
		}
	}
	if order != "ccwcwcww" {
		t.Errorf("copies and waits come as %s, expected a copy before each wait but the last", order)
	}
}

func TestUploadIsDoneWithItsSource(t *testing.T) {
	d, _ := testDevice(t, 1<<28)
	x := New[float32](d, 4, "a test")
	from := []float32{1, 2, 3, 4}
	Upload(d, x, from)
	clear(from)
	got := make([]float32, 4)
	Download(d, got, x)
	if want := []float32{1, 2, 3, 4}; !slices.Equal(got, want) {
		t.Errorf("%v, expected %v", got, want)
	}
}

func TestLaunchesCopiesAndSlices(t *testing.T) {
	d, lib := testDevice(t, 1<<28)
	x, y := New[float32](d, 8, "x"), New[float32](d, 8, "y")
	Zero(d, x)
	d.Launch("fill", Dim{X: 1}, Dim{X: 32}, 0, x.Slice(2, 5), float32(7), int64(3))
	d.Launch("fill", Dim{}, Dim{X: 32}, 0, x, float32(9), int64(8)) // an empty grid
	Copy(d, y, x)
	d.Launch("fill", Dim{X: 1}, Dim{X: 32}, 60<<10, x, float32(5), int64(8))
	got := make([]float32, 8)
	Download(d, got, y)
	if want := []float32{0, 0, 7, 7, 7, 0, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("%v, expected %v", got, want)
	}
	if n := d.Launches("fill"); n != 2 || d.Launches("gather") != 0 {
		t.Errorf("fill was launched %d times, expected 2", n)
	}
	if lib.shared != 60<<10 {
		t.Errorf("%d bytes of shared memory were set up, expected %d", lib.shared, 60<<10)
	}
	if err := d.Close(); err != nil || lib.lent != 0 || len(lib.host) != 0 {
		t.Errorf("close: %v, %d bytes and %d host arrays still lent", err, lib.lent, len(lib.host))
	}
	if err := d.Sync(); err == nil {
		t.Error("a closed device still works")
	}
}

func TestWrongLaunchesAreRefused(t *testing.T) {
	for _, c := range []struct {
		launch   func(d *Device, x Array[float32])
		fragment string
	}{
		{func(d *Device, x Array[float32]) { d.Launch("nothing", Dim{X: 1}, Dim{X: 1}, 0) }, "no kernel nothing"},
		{func(d *Device, x Array[float32]) { d.Launch("fill", Dim{X: 1}, Dim{X: 1}, 0, x) }, "1 arguments, expected 3"},
		{func(d *Device, x Array[float32]) { d.Launch("fill", Dim{X: 1}, Dim{X: 1}, 0, x, 1.0, int64(1)) },
			"argument 1 is of type f64, expected f32"},
		{func(d *Device, x Array[float32]) { d.Launch("fill", Dim{X: 1}, Dim{X: 1}, 0, x, float32(1), 1) },
			"argument 2 is of type unknown, expected u64"},
		{func(d *Device, x Array[float32]) {
			d.Launch("fill", Dim{X: 1}, Dim{X: 64, Y: 32}, 0, x, float32(1), int64(1))
		}, "up to 512 threads"},
		{func(d *Device, x Array[float32]) {
			d.Launch("fill", Dim{X: 1, Y: -1}, Dim{X: 1}, -4, x, float32(1), int64(1))
		}, "-4 bytes shared"},
		{func(d *Device, x Array[float32]) { Copy(d, x, x.Slice(0, 1)) }, "1 elements to 4"},
		{func(d *Device, x Array[float32]) { Upload(d, x, make([]float32, 5)) }, "5 elements to 4"},
		{func(d *Device, x Array[float32]) { Free(d, x); Free(d, x) }, "already free"},
	} {
		d, lib := testDevice(t, 1<<28)
		x := New[float32](d, 4, "x")
		d.Launch("fill", Dim{X: 1}, Dim{X: 1}, 0, x, float32(1), int64(4))
		before := len(lib.calls)
		c.launch(d, x)
		if err := d.Sync(); err == nil || !strings.Contains(err.Error(), c.fragment) {
			t.Errorf("%v, expected an error with %q", err, c.fragment)
		}
		if slices.Contains(lib.calls[before:], "cuLaunchKernel") {
			t.Errorf("%q was launched", c.fragment)
		}
	}
}

func TestErrorsStick(t *testing.T) {
	d, lib := testDevice(t, 1<<28)
	x := New[float32](d, 4, "x")
	lib.failing["cuLaunchKernel"] = 701
	d.Launch("fill", Dim{X: 1}, Dim{X: 1}, 0, x, float32(1), int64(4))
	lib.failing["cuLaunchKernel"] = 719
	before := len(lib.calls)
	d.Launch("fill", Dim{X: 1}, Dim{X: 1}, 0, x, float32(1), int64(4))
	Zero(d, x)
	Copy(d, x, x)
	Upload(d, x, []float32{1})
	Download(d, []float32{1}, x)
	d.Replay(d.Capture(func() { t.Error("captured after an error") }))
	d.Record().Since(d.Record())
	if y := New[int64](d, 3, "y"); y.Len() != 3 || y.Slice(1, 2).Len() != 1 {
		t.Error("arrays after an error have other lengths")
	}
	if calls := lib.calls[before:]; len(calls) > 0 {
		t.Errorf("after an error: %v", calls)
	}
	e, ok := errors.AsType[*Error](d.Sync())
	if !ok || e.Name != "CUDA_ERROR_701" || !strings.Contains(e.Call, "cuLaunchKernel(fill,") {
		t.Errorf("%+v, expected the first error", d.Err())
	}
	if err := d.Close(); err != e || lib.lent != 0 {
		t.Errorf("close after an error: %v, %d bytes still lent", err, lib.lent)
	}
}

func TestLostDevice(t *testing.T) {
	d, lib := testDevice(t, 1<<28)
	x := New[float32](d, 4, "x")
	d.Launch("fill", Dim{X: 1}, Dim{X: 1}, 0, x, float32(1), int64(4))
	lib.failing["cuStreamSynchronize"] = 700
	err := d.Sync()
	if e, ok := errors.AsType[*LostError](err); !ok || e.Err.Name != "CUDA_ERROR_700" ||
		e.Err.Call != "cuStreamSynchronize" {
		t.Errorf("%v, expected a lost device", err)
	}
	if err := d.Close(); err != d.Err() {
		t.Errorf("close of a lost device: %v", err)
	}
}

func TestOutOfMemory(t *testing.T) {
	for _, name := range []string{"fake", "dsp emulated"} {
		lib := newFake(100 << 20)
		d, err := open(lib, Info{Name: name}, inFolder(t))
		if err != nil {
			t.Fatal(err)
		}
		New[float32](d, 10<<20, "the features")
		New[float64](d, 10<<20, "the chains' messages")
		e, ok := errors.AsType[*OutOfMemoryError](d.Err())
		if !ok || *e != (OutOfMemoryError{"the chains' messages", 80 << 20, 60 << 20, 100 << 20}) {
			t.Errorf("%s: %+v", name, d.Err())
		}
		if want := "out of device memory: the chains' messages needs 80.0 MiB, 60.0 " +
			"MiB of 100.0 MiB are free"; d.Err().Error() != want {
			t.Errorf("%s: %v, expected %s", name, d.Err(), want)
		}
		if err := d.Close(); err != e || lib.lent != 0 {
			t.Errorf("%s: close: %v, %d bytes still lent", name, err, lib.lent)
		}
	}
}

func TestWhatCannotBeUsedIsRefused(t *testing.T) {
	for _, c := range []struct {
		info     Info
		fragment string
	}{
		{Info{Name: "H200", Capability: "9.0", Driver: "13.0"}, ""},
		{Info{Name: "A100", Capability: "8.0", Driver: "11.8"}, ""},
		{Info{Name: "B200", Capability: "10.0", Driver: "12.8"}, ""},
		{Info{Name: "T4", Capability: "7.5", Driver: "12.4"}, "cuda:0, T4, has compute capability 7.5; 8.0 or later"},
		{Info{Name: "A100", Capability: "8.0", Driver: "11.4"}, "CUDA 11.4; 11.8 or later"},
	} {
		err := c.info.usable()
		if (err == nil) != (c.fragment == "") || err != nil && !strings.Contains(err.Error(), c.fragment) {
			t.Errorf("%v: %v, expected %q", c.info, err, c.fragment)
		}
	}
}

func TestNoDriver(t *testing.T) {
	infos, err := Devices()
	if err == nil {
		t.Skipf("this machine has %v", infos)
	}
	if _, again := Open(0); again == nil || again.Error() != err.Error() {
		t.Errorf("Open: %v; Devices: %v", again, err)
	}
}

func TestLaunchAllocatesNothing(t *testing.T) {
	d, lib := testDevice(t, 1<<28)
	d.lib = idle{lib}
	x := New[float32](d, 4, "x")
	launch := func() { d.Launch("fill", Dim{X: 1}, Dim{X: 32}, 0, x, float32(1), int64(4)) }
	launch()
	if n := testing.AllocsPerRun(100, launch); n > 0 || d.Err() != nil {
		t.Errorf("%v allocations per launch, %v", n, d.Err())
	}
}
