package device

import (
	"errors"
	"runtime"

	"github.com/dsp-go/dsp/cuda/driver"
)

// Graph is a sequence of launches that can be replayed in one call, with marks in between.
type Graph struct {
	of    *Device
	parts []driver.Graph
	marks []int // mark k is between parts k and k+1
}

// OnMark sets what is called for each mark, as it is enqueued or replayed: it may enqueue more, which is no part of a
// captured graph. nil: nothing, and marks do not cut graphs that are captured.
func (d *Device) OnMark(do func(n int)) { d.onMark = do }

// Mark sets a mark, whose number it passes on.
func (d *Device) Mark(n int) {
	switch {
	case d.onMark == nil:
	case !d.capturing:
		d.onMark(n)
	case d.enter():
		err := d.captured.end(d)
		if err == nil {
			d.captured.marks = append(d.captured.marks, n)
			err = d.lib.BeginCapture(d.stream)
		}
		d.leave(err, "")
	}
}

// end ends the capture of a part.
func (g *Graph) end(d *Device) error {
	part, err := d.lib.EndCapture(d.stream)
	if part != 0 {
		g.parts = append(g.parts, part)
	}
	return err
}

// Capture records the launches, copies and zeroes that enqueue makes in a graph, without running them. During a
// capture, New, Free, Upload, Download, Sync and events are errors. A replay uses the same arrays and arguments. If
// enqueue launches kernels that have never been launched, Capture calls it twice.
func (d *Device) Capture(enqueue func()) *Graph {
	g := &Graph{of: d}
	for d.outside("Capture") && d.capture(g, enqueue) && len(d.missing) > 0 {
		g.Free() // some launches are missing
		for _, kernel := range d.missing {
			d.kernel(kernel)
		}
	}
	return g
}

// capture records the graph, and lists in d.missing the kernels that were not loaded. It returns false after an error.
func (d *Device) capture(g *Graph, enqueue func()) bool {
	if !d.enter() {
		return false
	}
	err := d.lib.BeginCapture(d.stream)
	d.leave(err, "")
	if err != nil {
		return false
	}
	d.missing, d.capturing, d.captured = d.missing[:0], true, g
	enqueue()
	d.capturing, d.captured = false, nil
	runtime.LockOSThread() // not enter, which does nothing after an error of enqueue: the stream's capture must end
	if err = d.lib.SetCurrent(d.context); err == nil {
		err = g.end(d)
	}
	if d.err != nil {
		err = g.release()
	}
	d.leave(err, "")
	return d.err == nil
}

// Replay enqueues all work of a graph, and passes on its marks.
func (d *Device) Replay(g *Graph) {
	for k, part := range g.parts {
		if d.outside("Replay") && d.enter() {
			d.leave(d.lib.LaunchGraph(part, d.stream), "")
		}
		if k < len(g.marks) {
			d.Mark(g.marks[k])
		}
	}
}

// release gives the graph's parts back to the driver.
func (g *Graph) release() error {
	var errs []error
	for _, part := range g.parts {
		errs = append(errs, g.of.lib.FreeGraph(part))
	}
	g.parts, g.marks = nil, nil
	return errors.Join(errs...)
}

// Free waits for all enqueued work and releases the graph.
func (g *Graph) Free() {
	if d := g.of; len(g.parts) > 0 && d.enter() {
		err := d.lib.Wait(d.stream)
		if err == nil {
			err = g.release()
		}
		d.leave(err, "")
	}
	g.parts, g.marks = nil, nil
}
