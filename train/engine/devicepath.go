package engine

import "github.com/dsp-go/dsp/structured/sys/vec"

// devicePath takes a path's steps on a device, where the path lives while it is open. Steps are delayed by one, so that
// a step and the update of the mean share one sweep over the weights.
type devicePath struct {
	*AffinePath
	device Accelerator
	open   bool
	stride Stride // the pending step
	due    bool   // whether there is one
}

// flush opens the path and takes the pending stride.
func (x *devicePath) flush() {
	if !x.open {
		var mean []float32
		if x.Count > 0 {
			mean = x.Mean
		}
		x.device.Open(x.W, x.b, mean)
		x.open = true
	}
	if x.due {
		x.device.Advance(x.stride)
		x.due = false
	}
}

func (x *devicePath) at() Point {
	x.flush()
	return Point{device: true}
}

func (x *devicePath) step(ρ, q, c, β float64, _ Gradient) {
	x.flush()
	x.stride, x.due = Stride{Rho: ρ, Q: q, C: c, Beta: β}, true
}

func (x *devicePath) include(a float64) (share float64) {
	share = x.Weigh(a)
	if !x.due {
		x.stride = Stride{Rho: 1}
	}
	x.stride.Share, x.due = share, true
	x.flush()
	return share
}

func (x *devicePath) observe(_ *Step, _ []float32, b int) { x.device.Observe(b) }

func (x *devicePath) observed() (rise, progress float64, err error) { return x.device.Observed() }

// observeEvery is 1, as every step covers all weights anyway.
func (x *devicePath) observeEvery() int { return 1 }

// finish copies the path to the host.
func (x *devicePath) finish() error {
	if !x.open {
		return nil
	}
	x.flush()
	x.open = false
	var mean []float32
	if x.Count > 0 {
		x.Mean = vec.Grow(x.Mean, len(x.W))
		mean = x.Mean
	}
	return x.device.Finish(x.W, mean)
}
