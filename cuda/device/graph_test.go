package device

import (
	"strings"
	"testing"
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

func TestWhatHasNoPlaceInAGraph(t *testing.T) {
	for name, call := range map[string]func(d *Device, x Array[float32]){
		"New":      func(d *Device, x Array[float32]) { New[int32](d, 1, "a test") },
		"Free":     func(d *Device, x Array[float32]) { Free(d, x) },
		"Upload":   func(d *Device, x Array[float32]) { Upload(d, x, []float32{1}) },
		"Download": func(d *Device, x Array[float32]) { Download(d, []float32{1}, x) },
		"Sync":     func(d *Device, x Array[float32]) { d.Sync() },
		"Record":   func(d *Device, x Array[float32]) { d.Record() },
		"Capture":  func(d *Device, x Array[float32]) { d.Capture(func() {}) },
		"Replay":   func(d *Device, x Array[float32]) { d.Replay(&Graph{of: d, at: 1}) },
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
