package cudaoracles

import "github.com/dsp-go/dsp/cuda/device"

// Exports for tests outside of the package.

func (o *Oracle) MaxByChain(θ *Chains, a Augmentation, y device.Array[int32], value, gold device.Array[float64]) {
	o.runMax(θ, a, y, value, gold)
}

func (o *Oracle) MaxInChunks(θ *Chains, a Augmentation, y device.Array[int32], value, gold device.Array[float64]) {
	o.runMaxLong(θ, a, y, value, gold)
}

func (θ *Chains) AreLong() bool { return θ.areLong() }

func (o *Oracle) ExpInChunks(θ *Chains, a Augmentation, μ float64, value device.Array[float64],
	node, edge device.Array[float32], gold device.Array[float64]) {
	o.reserveExp(θ)
	o.reserveExpLong(θ)
	o.runExpLong(θ, a, μ, value, node, edge, gold)
}
