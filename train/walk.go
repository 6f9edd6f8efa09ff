package train

import "github.com/dsp-go/dsp/structured/vec"

// A path on a device is there while it is open. Its steps are done one late, so that what the mean takes of an iterate is
// done in the same sweep over the weights.

// walk opens the path, and does the stride that is due.
func (x *path) walk() {
	if !x.open {
		var mean []float32
		if x.count > 0 {
			mean = x.mean
		}
		x.device.Open(x.w, x.b, mean)
		x.open = true
	}
	if x.due {
		x.device.Walk(x.stride)
		x.due = false
	}
}

// takeIn gives the iterate its share of the mean.
func (x *path) takeIn(share float64) {
	if !x.due {
		x.stride = Stride{Rho: 1}
	}
	x.stride.Share, x.due = share, true
	x.walk()
}

// leave copies the path to the host.
func (x *path) leave() error {
	x.walk()
	x.open = false
	var mean []float32
	if x.count > 0 {
		x.mean = vec.Grow(x.mean, len(x.w))
		mean = x.mean
	}
	return x.device.Settle(x.w, mean)
}
