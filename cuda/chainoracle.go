package cuda

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/vec"
)

// ChainOracle is the oracle of linear chains on a device for potentials and answers in the host's memory, which each call
// moves there and back. Once the device has failed (see Device.Err) values are NaN, and there are neither labels nor
// marginals.
type ChainOracle struct {
	d *Device
	o *Oracle
	θ Chains

	y          Array[int32]
	value      Array[float64]
	node, edge Array[float32]
	best       KBest
	offsets    []int32
	count      []int32
}

var _ oracles.Oracle = (*ChainOracle)(nil)

// NewChainOracle returns an oracle on a device.
func NewChainOracle(d *Device) *ChainOracle { return &ChainOracle{d: d, o: NewOracle(d)} }

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
	Upload(d, grow(d, &g.Offsets, len(c.offsets), what), c.offsets)
	Upload(d, grow(d, &g.Node, len(θ.Node), what), θ.Node)
	Upload(d, grow(d, &g.Edge, len(θ.Edge), what), θ.Edge)
}

// failed reports whether the device has an error, and if so, says so in the values.
func (c *ChainOracle) failed(value []float64) bool {
	if c.d.Err() == nil {
		return false
	}
	for b := range value {
		value[b] = math.NaN()
	}
	return true
}

// Exp is oracles.Oracle's.
func (c *ChainOracle) Exp(θ *structured.Potentials, μ float64, value []float64, u *structured.Marginals) {
	c.upload(θ)
	d := c.d
	to := grow(d, &c.value, θ.Len(), "values")
	var node, edge Array[float32]
	if u != nil {
		u.Like(θ)
		view := chains.In(u)
		node, edge = grow(d, &c.node, len(view.Node), "marginals"), grow(d, &c.edge, len(view.Edge), "marginals")
	}
	c.o.Exp(&c.θ, Augmentation{}, μ, to, node, edge, Array[float64]{})
	Download(d, value[:θ.Len()], to)
	if u != nil {
		view := chains.In(u)
		Download(d, view.Node, node)
		Download(d, view.Edge, edge)
	}
	if c.failed(value) && u != nil {
		u.Clear()
	}
}

// Max is oracles.Oracle's.
func (c *ChainOracle) Max(θ *structured.Potentials, y []int32, value []float64) {
	c.upload(θ)
	d := c.d
	labels, to := grow(d, &c.y, θ.OutputSize(), "labels"), grow(d, &c.value, θ.Len(), "values")
	c.o.Max(&c.θ, Augmentation{}, labels, to, Array[float64]{})
	Download(d, y[:θ.OutputSize()], labels)
	Download(d, value[:θ.Len()], to)
	if c.failed(value) {
		clear(y)
	}
}

// TopK is oracles.Oracle's.
func (c *ChainOracle) TopK(θ *structured.Potentials, k int, best *oracles.KBest) {
	best.Resize(θ, k)
	c.upload(θ)
	d := c.d
	c.o.TopK(&c.θ, Augmentation{}, k, &c.best)
	c.count = vec.Grow(c.count, θ.Len())
	clear(c.count)
	Download(d, c.count, c.best.Count)
	Download(d, best.Score, c.best.Score)
	Download(d, best.Values, c.best.Labels)
	for b, n := range c.count {
		best.Count[b] = int(n)
	}
	if c.failed(best.Score) {
		clear(best.Count)
	}
}
