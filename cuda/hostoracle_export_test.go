package cuda

import "github.com/dsp-go/dsp/train"

// NewAcceleratorWithHostOracle is NewAccelerator as if there were no kernels.
func NewAcceleratorWithHostOracle(d *Device, o *train.Objective) (*Accelerator, error) {
	return newAccelerator(d, o, false, true)
}
