package cudaoracles

import (
	"math"

	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/chain"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// ChainOracle is a device oracle for linear chains whose potentials and answers are in the host's memory; each call
// copies them to the device and back. After a device error (see Device.Err), values are NaN, and labels and marginals
// 0.
type ChainOracle struct {
	d *device.Device
	o *Oracle
	θ Chains

	guard oracles.Guard
	host  *chain.Oracle // for its bounds

	y          device.Array[int32]
	value      device.Array[float64]
	node, edge device.Array[float32]
	best       KBest
	offsets    []int32
	count      []int32
}

var (
	_ oracles.Oracle  = (*ChainOracle)(nil)
	_ oracles.Rounder = (*ChainOracle)(nil)
)

// Rounding implements oracles.Rounder. The kernels add and multiply in float32 as those of the CPU do, in no longer
// sums, so that its bounds hold.
func (c *ChainOracle) Rounding(θ *structured.Potentials, b int, μ float64) float64 {
	return c.host.RoundingOfSingle(θ, b, μ)
}

func NewChainOracle(d *device.Device) *ChainOracle {
	return &ChainOracle{d: d, o: NewOracle(d), host: chain.New()}
}

// upload moves a batch to the device.
func (c *ChainOracle) upload(potentials *structured.Potentials) {
	d, what, θ := c.d, "potentials", chains.Of(potentials)
	c.offsets = c.offsets[:0]
	longest := 0
	for b, at := range θ.Offsets {
		c.offsets = append(c.offsets, int32(at))
		if b > 0 {
			longest = max(longest, at-θ.Offsets[b-1])
		}
	}
	g, n := &c.θ, θ.Positions()
	g.B, g.N, g.Y, g.Longest, g.PerPosition = θ.Len(), n, θ.Y, longest, θ.PerPosition
	device.Upload(d, device.Grow(d, &g.Offsets, len(c.offsets), what), c.offsets)
	device.Upload(d, device.Grow(d, &g.Node, len(θ.Node), what), θ.Node)
	device.Upload(d, device.Grow(d, &g.Edge, len(θ.Edge), what), θ.Edge)
}

// failed reports whether the device has an error; if so, it sets the values to NaN.
func (c *ChainOracle) failed(value []float64) bool {
	if c.d.Err() == nil {
		return false
	}
	for b := range value {
		value[b] = math.NaN()
	}
	return true
}

// Exp implements oracles.Summer.
func (c *ChainOracle) Exp(θ *structured.Potentials, μ float64, value []float64, u *structured.Marginals) {
	c.upload(θ)
	d := c.d
	to := device.Grow(d, &c.value, θ.Len(), "values")
	var node, edge device.Array[float32]
	if u != nil {
		u.Like(θ)
		view := chains.In(u)
		node, edge = device.Grow(d, &c.node, len(view.Node), "marginals"),
			device.Grow(d, &c.edge, len(view.Edge), "marginals")
	}
	c.o.Exp(&c.θ, Augmentation{}, μ, to, node, edge, device.Array[float64]{})
	device.Download(d, value[:θ.Len()], to)
	if u != nil {
		view := chains.In(u)
		device.Download(d, view.Node, node)
		device.Download(d, view.Edge, edge)
	}
	if c.failed(value) && u != nil {
		u.Clear()
	}
	c.refuse(θ, func(b int) {
		value[b] = oracles.RefuseSums(u, b)
	})
}

// Max implements oracles.Maximiser.
func (c *ChainOracle) Max(θ *structured.Potentials, y []int32, value []float64) {
	c.upload(θ)
	d := c.d
	labels, to := device.Grow(d, &c.y, θ.OutputSize(), "labels"), device.Grow(d, &c.value, θ.Len(), "values")
	c.o.Max(&c.θ, Augmentation{}, labels, to, device.Array[float64]{})
	device.Download(d, y[:θ.OutputSize()], labels)
	device.Download(d, value[:θ.Len()], to)
	if c.failed(value) {
		clear(y)
	}
	c.refuse(θ, func(b int) { value[b] = oracles.Refuse(y[θ.Outputs[b]:θ.Outputs[b+1]]) })
}

// refuse calls answer for every example with potentials that are not valid.
func (c *ChainOracle) refuse(θ *structured.Potentials, answer func(b int)) {
	c.guard.Begin(θ)
	for b := range θ.Len() {
		if !c.guard.Valid(θ, b) && θ.Outputs[b] < θ.Outputs[b+1] {
			answer(b)
		}
	}
}

// TopK implements oracles.Ranker.
func (c *ChainOracle) TopK(θ *structured.Potentials, k int, best *oracles.KBest) {
	best.Resize(θ, k)
	c.upload(θ)
	d := c.d
	c.o.TopK(&c.θ, Augmentation{}, k, &c.best)
	c.count = vec.Grow(c.count, θ.Len())
	clear(c.count)
	device.Download(d, c.count, c.best.Count)
	device.Download(d, best.Score, c.best.Score)
	device.Download(d, best.Values, c.best.Labels)
	for b, n := range c.count {
		best.Count[b] = int(n)
	}
	if c.failed(best.Score) {
		clear(best.Count)
	}
	c.refuse(θ, func(b int) { best.Refuse(θ, b) })
}
