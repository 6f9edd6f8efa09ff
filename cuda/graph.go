package cuda

import "github.com/dsp-go/dsp/cuda/driver"

// Graph is a sequence of launches that is replayed at once.
type Graph struct {
	of *Device
	at driver.Graph
}

// Capture collects what enqueue enqueues, launches, copies and zeroes, into a graph, without running it. New, Free, Upload,
// Download, Sync and events have no place in it. Replayed, the graph uses the same arrays and arguments. Where enqueue
// launches kernels that were never launched before, it is called twice.
func (d *Device) Capture(enqueue func()) *Graph {
	g := &Graph{of: d}
	for d.outside("Capture") && d.enter() {
		err := d.lib.BeginCapture(d.stream)
		d.leave(err, "")
		if err != nil {
			break
		}
		d.missing = d.missing[:0]
		d.capturing = true
		enqueue()
		d.capturing = false
		failed := d.err
		d.err = nil // even then the stream's capture must end
		if d.enter() {
			g.at, err = d.lib.EndCapture(d.stream)
			d.leave(err, "")
		}
		if failed != nil {
			d.err = failed
		}
		if len(d.missing) == 0 || d.err != nil {
			break
		}
		g.Free() // it lacks launches
		for _, m := range d.missing {
			d.loadModule(m)
		}
	}
	return g
}

// Replay enqueues everything that a graph holds.
func (d *Device) Replay(g *Graph) {
	if g.at != 0 && d.outside("Replay") && d.enter() {
		d.leave(d.lib.LaunchGraph(g.at, d.stream), "")
	}
}

// Free gives the graph's resources back.
func (g *Graph) Free() {
	if d := g.of; g.at != 0 && d.enter() {
		d.leave(d.lib.FreeGraph(g.at), "")
	}
	g.at = 0
}
