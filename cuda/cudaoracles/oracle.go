package cudaoracles

import "github.com/dsp-go/dsp/cuda/device"

// Oracle answers the oracle queries of package oracles for every chain of a batch, on the device. Every run gives the same bits. An
// Oracle owns scratch memory, which grows with the batches. Before a call is captured in a graph, call the Reserve method of the same
// name.
type Oracle struct {
	d       *device.Device
	max     maxScratch
	maxLong maxLongScratch
	top     topScratch
	exp     expScratch
	expLong expLongScratch
	answer  answerScratch
}

// NewOracle returns an oracle on a device.
func NewOracle(d *device.Device) *Oracle { return &Oracle{d: d} }

// Free releases the scratch memory.
func (o *Oracle) Free() {
	o.max.free(o.d)
	o.maxLong.free(o.d)
	o.top.free(o.d)
	o.exp.free(o.d)
	o.expLong.free(o.d)
	o.answer.free(o.d)
}
