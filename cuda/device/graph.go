package device

import (
	"runtime"

	"github.com/dsp-go/dsp/cuda/driver"
)

// Graph is a sequence of launches that can be replayed in one call.
type Graph struct {
	of *Device
	at driver.Graph
}

// Capture records the launches, copies and zeroes that enqueue makes in a graph, without running them. During a capture, New, Free,
// Upload, Download, Sync and events are errors. A replay uses the same arrays and arguments. If enqueue launches kernels that have
// never been launched, Capture calls it twice.
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
	d.missing, d.capturing = d.missing[:0], true
	enqueue()
	d.capturing = false
	runtime.LockOSThread() // not enter, which does nothing after an error of enqueue: the stream's capture must end
	if err = d.lib.SetCurrent(d.context); err == nil {
		g.at, err = d.lib.EndCapture(d.stream)
	}
	if g.at != 0 && d.err != nil {
		err = d.lib.FreeGraph(g.at)
		g.at = 0
	}
	d.leave(err, "")
	return d.err == nil
}

// Replay enqueues all work of a graph.
func (d *Device) Replay(g *Graph) {
	if g.at != 0 && d.outside("Replay") && d.enter() {
		d.leave(d.lib.LaunchGraph(g.at, d.stream), "")
	}
}

// Free waits for all enqueued work and releases the graph.
func (g *Graph) Free() {
	if d := g.of; g.at != 0 && d.enter() {
		err := d.lib.Wait(d.stream)
		if err == nil {
			err = d.lib.FreeGraph(g.at)
		}
		d.leave(err, "")
	}
	g.at = 0
}
