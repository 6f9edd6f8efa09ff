package device

import (
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/cuda/driver"
)

func TestGraphs(t *testing.T) {
	d, lib := testDevice(t, 1<<28)
	x, y := New[float32](d, 4, "x"), New[float32](d, 4, "y")
	calls := 0
	g := d.Capture(func() { // fill's module is not loaded yet
		calls++
		d.Launch("fill", Dim{X: 1}, Dim{X: 1}, 0, x, float32(3), int64(4))
		Copy(d, y, x)
		Zero(d, x)
	})
	if err := d.Err(); err != nil || calls != 2 || len(lib.graphs) != 1 {
		t.Fatalf("%v, captured %d times, %d graphs", err, calls, len(lib.graphs))
	}
	got := make([]float32, 4)
	Zero(d, y)
	if Download(d, got, y); got[3] != 0 {
		t.Errorf("%v: the capture has run its work", got)
	}
	d.Replay(g)
	if Download(d, got, y); got[3] != 3 {
		t.Errorf("%v, expected threes", got)
	}
	if Download(d, got, x); got[0] != 0 {
		t.Errorf("%v, expected zeros", got)
	}
	d.Capture(func() {
		calls++
		d.Launch("fill", Dim{X: 1}, Dim{X: 1}, 0, x, float32(3), int64(4))
	}).Free()
	if g.Free(); calls != 3 || len(lib.graphs) != 0 || d.Sync() != nil {
		t.Errorf("captured %d times, %d graphs left, %v", calls, len(lib.graphs), d.Err())
	}
}

// Marks cut a graph, and are passed on when it is replayed, between the work before and after them. Freed, no part is
// left.
func TestMarksOfGraphs(t *testing.T) {
	d, lib := testDevice(t, 1<<28)
	x, got, seen := New[float32](d, 1, "x"), make([]float32, 1), []float32(nil)
	fill := func(value float32) { d.Launch("fill", Dim{X: 1}, Dim{X: 1}, 0, x, value, int64(1)) }
	d.OnMark(func(n int) {
		Download(d, got, x)
		seen = append(seen, float32(n), got[0])
	})
	g := d.Capture(func() {
		fill(1)
		d.Mark(10)
		fill(2)
		d.Mark(20)
		fill(3)
	})
	if len(seen) > 0 || len(lib.graphs) != 3 {
		t.Fatalf("%v seen by the capture, %d graphs, %v", seen, len(lib.graphs), d.Err())
	}
	d.Replay(g)
	if Download(d, got, x); !slices.Equal(append(seen, got[0]), []float32{10, 1, 20, 2, 3}) {
		t.Errorf("%v, then %v", seen, got)
	}
	d.OnMark(nil)
	d.Replay(g)
	if g.Free(); len(seen) != 4 || len(lib.graphs) != 0 || d.Sync() != nil {
		t.Errorf("%v, %d graphs left, %v", seen, len(lib.graphs), d.Err())
	}
	d.OnMark(func(int) {})
	d.Capture(func() {
		d.Mark(10)
		d.Sync() // an error
	})
	if lib.capturing || len(lib.graphs) != 0 {
		t.Errorf("after an error %d graphs are left", len(lib.graphs))
	}
}

func TestWhatHasNoPlaceInAGraph(t *testing.T) {
	for name, call := range map[string]func(d *Device, x Array[float32]){
		"New":      func(d *Device, x Array[float32]) { New[int32](d, 1, "a test") },
		"Free":     func(d *Device, x Array[float32]) { Free(d, x) },
		"Upload":   func(d *Device, x Array[float32]) { Upload(d, x, []float32{1}) },
		"Download": func(d *Device, x Array[float32]) { Download(d, []float32{1}, x) },
		"Sync":     func(d *Device, x Array[float32]) { d.Sync() },
		"Record":   func(d *Device, x Array[float32]) { d.Record() },
		"Deliver":  func(d *Device, x Array[float32]) { d.Deliver(x) },
		"Send":     func(d *Device, x Array[float32]) { d.delivery.from = x; d.Send(1) },
		"Arrived":  func(d *Device, x Array[float32]) { d.Arrived([]float32{1}, 0) },
		"Capture":  func(d *Device, x Array[float32]) { d.Capture(func() {}) },
		"Replay":   func(d *Device, x Array[float32]) { d.Replay(&Graph{of: d, parts: []driver.Graph{1}}) },
	} {
		d, lib := testDevice(t, 1<<28)
		x := New[float32](d, 1, "x")
		d.Capture(func() { call(d, x) })
		if err := d.Sync(); err == nil || !strings.Contains(err.Error(), name+" inside a captured graph") {
			t.Errorf("%s: %v", name, err)
		}
		if lib.capturing || len(lib.graphs) > 0 {
			t.Errorf("%s: the stream is still capturing, or a graph has leaked", name)
		}
	}
}

func TestEvents(t *testing.T) {
	d, _ := testDevice(t, 1<<28)
	x := New[float32](d, 4, "x")
	from := d.Record()
	Zero(d, x)
	Zero(d, x)
	if ms := d.Record().Since(from).Milliseconds(); ms != 2 || d.Err() != nil {
		t.Errorf("%d ms, expected 2; %v", ms, d.Err())
	}
}
