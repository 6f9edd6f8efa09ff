// Package chaincase has chains with gold labels and a loss twice, on the host and on a device, as the tests of kernels
// and the selftest compare them.
package chaincase

import (
	"github.com/dsp-go/dsp/cuda/cudaoracles"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// Potentials holds the potentials of chains, in the oracle's form and as arrays.
type Potentials struct {
	chains.Potentials
	All *structured.Potentials
}

// NewPotentials returns potentials of chains that end at offsets, all 0.
func NewPotentials(offsets []int, labels int, perPosition bool) *Potentials {
	θ := &Potentials{All: new(structured.Potentials)}
	chains.Resize(θ.All, offsets, labels, perPosition)
	θ.Potentials = chains.Of(θ.All)
	return θ
}

// Copy returns a deep copy of θ.
func (θ *Potentials) Copy() *Potentials {
	to := &Potentials{All: new(structured.Potentials)}
	to.All.Copy(θ.All)
	to.Potentials = chains.Of(to.All)
	return to
}

// Case is a batch of chains with gold labels and a loss.
type Case struct {
	Host *Potentials // without the loss
	Gold []int32     // −1: unknown; it may be missing where there is no loss
	Loss chains.Hamming
	With bool // the loss counts

	On           *cudaoracles.Chains // after Move
	Augmentation cudaoracles.Augmentation
}

// Move uploads the case to arrays with capacity for more chains and positions.
func (c *Case) Move(d *device.Device, chains, positions int) {
	θ := c.Host
	b, n := θ.Len()+chains, θ.Positions()+positions
	edges := θ.Y * θ.Y
	if θ.PerPosition {
		edges *= n
	}
	c.On = &cudaoracles.Chains{
		B: b, N: n, Y: θ.Y, PerPosition: θ.PerPosition,
		Offsets: device.New[int32](d, b+1, "offsets"), Node: device.New[float32](d, n*θ.Y, "node"),
		Edge: device.New[float32](d, edges, "edge"),
	}
	offsets := make([]int32, b+1)
	for i := range offsets {
		offsets[i] = int32(θ.Offsets[min(i, θ.Len())])
		if i > 0 {
			c.On.Longest = max(c.On.Longest, int(offsets[i]-offsets[i-1]))
		}
	}
	c.Augmentation = cudaoracles.Augmentation{Gold: device.New[int32](d, n, "gold"), ByLength: c.Loss.ByLength,
		Loss: c.With}
	device.Upload(d, c.On.Offsets, offsets)
	device.Upload(d, c.On.Node, θ.Node)
	device.Upload(d, c.On.Edge, θ.Edge)
	device.Upload(d, c.Augmentation.Gold, c.Gold)
	if c.Loss.LabelWeights != nil {
		c.Augmentation.Cost = device.NewFrom(d, c.Loss.LabelWeights, "cost")
	}
}

// Free frees the device's arrays.
func (c *Case) Free(d *device.Device) {
	device.Free(d, c.On.Offsets)
	device.Free(d, c.On.Node)
	device.Free(d, c.On.Edge)
	device.Free(d, c.Augmentation.Gold)
	device.Free(d, c.Augmentation.Cost)
}

// Augmented returns the host's potentials, with the loss if it counts, which is added as kernels add it: chains.Hamming
// rounds otherwise.
func (c *Case) Augmented() *Potentials {
	if !c.With {
		return c.Host
	}
	θ := c.Host.Copy()
	for b := range θ.Len() {
		lo, hi := θ.Offsets[b], θ.Offsets[b+1]
		for t := lo; t < hi; t++ {
			g := c.Gold[t]
			if g < 0 {
				continue
			}
			cost := float32(1)
			if c.Loss.LabelWeights != nil {
				cost = c.Loss.LabelWeights[g]
			}
			if c.Loss.ByLength {
				cost /= float32(hi - lo)
			}
			for l := range θ.Y {
				if l != int(g) {
					θ.Node[t*θ.Y+l] += cost
				}
			}
		}
	}
	return θ
}

// GoldScore returns the score of the gold labels of chain b; those that are unknown contribute nothing.
func (c *Case) GoldScore(b int) float64 {
	s, θ := 0.0, c.Host
	for t := θ.Offsets[b]; t < θ.Offsets[b+1]; t++ {
		if c.Gold[t] < 0 {
			continue
		}
		s += float64(θ.Node[t*θ.Y+int(c.Gold[t])])
		if t > θ.Offsets[b] && c.Gold[t-1] >= 0 {
			s += float64(θ.EdgeAt(t)[int(c.Gold[t-1])*θ.Y+int(c.Gold[t])])
		}
	}
	return s
}
