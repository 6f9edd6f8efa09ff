package engine

import "github.com/dsp-go/dsp/structured/vec"

// A path on a device lives there while it is open. Its steps are delayed by one, so that a step and the update of the mean
// share one sweep over the weights.

// flush opens the path and takes the pending stride.
func (x *Path) flush() {
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

// include adds the iterate to the mean with its share.
func (x *Path) include(share float64) {
	if !x.due {
		x.stride = Stride{Rho: 1}
	}
	x.stride.Share, x.due = share, true
	x.flush()
}

// toHost copies the path to the host.
func (x *Path) toHost() error {
	x.flush()
	x.open = false
	var mean []float32
	if x.Count > 0 {
		x.Mean = vec.Grow(x.Mean, len(x.W))
		mean = x.Mean
	}
	return x.device.Finish(x.W, mean)
}
