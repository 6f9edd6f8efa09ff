package accelerator

import (
	"github.com/dsp-go/dsp/cuda/cudanets"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train/engine"
)

// NewAcceleratorWithHostOracle is NewAccelerator without kernels.
func NewAcceleratorWithHostOracle(d *device.Device, o *engine.Objective) (*Accelerator, error) {
	return newAccelerator(d, o, oracles.Smoothing{}, false, true)
}

// NewAcceleratorWith is NewAccelerator with a custom scorer on the device.
func NewAcceleratorWith(d *device.Device, o *engine.Objective, scorer cudanets.Scorer) (*Accelerator, error) {
	s := &shared{d: d, data: resident.NewData(d, o.Data), blas: device.NewBLAS(d, false), vectors: newVectors(d, o.Scorer.Dim())}
	return s.acceleratorWith(o, scorer)
}

// PassRows returns how many positions a full pass takes at once.
func (a *Accelerator) PassRows() int { return a.whole.capacity.Rows }
