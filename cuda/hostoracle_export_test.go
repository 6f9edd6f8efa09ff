package cuda

import "github.com/dsp-go/dsp/train/engine"

// NewAcceleratorWithHostOracle is NewAccelerator as if there were no kernels.
func NewAcceleratorWithHostOracle(d *Device, o *engine.Objective) (*Accelerator, error) {
	return newAccelerator(d, o, false, true)
}

// NewAcceleratorWith is NewAccelerator with a scorer of one's own on the device.
func NewAcceleratorWith(d *Device, o *engine.Objective, scorer Scorer) (*Accelerator, error) {
	s := &shared{d: d, data: NewData(d, o.Data), blas: NewBLAS(d, false), vectors: newVectors(d, o.Scorer.Dim())}
	return s.acceleratorWith(o, scorer)
}
