package oracles

import (
	"math"

	"github.com/dsp-go/dsp/structured"
)

// Chain is the oracle of linear chains. Its inner loops run on vectors where the build and the machine have them (see
// Vector); a chain's answer has the same bits whatever batch it is in.
type Chain struct {
	k *kernels

	y      int
	θ      *structured.Potentials
	stride int       // of a row of scratch: Y rounded up to whole vectors
	padded []float32 // [Y×stride] shared edge potentials, rows "from"
	into   []float32 // [Y×stride] the same transposed, rows "to"
	isInto bool      // padded and into are those of θ
	column []float32 // [Y] edge potentials into one label

	δ     []float32 // [T×stride] best score of a prefix that ends there, less the shifts so far
	shift []float32 // [T] what was subtracted from a row of δ to keep its numbers small

	lattice lattice
	exp     sumProduct
}

// NewChain returns an oracle of linear chains on the fastest kernels of this build and machine.
func NewChain() *Chain { return &Chain{k: fastest} }

// NewPlainChain returns an oracle of linear chains on plain Go kernels, whatever the machine has: the reference.
func NewPlainChain() *Chain { return &Chain{k: &plain} }

// Structure returns "chain".
func (c *Chain) Structure() string { return "chain" }

var never = float32(math.Inf(-1))

// prepare takes up a batch. Where it is long enough to pay, shared edges are copied to whole vectors and transposed.
func (c *Chain) prepare(θ *structured.Potentials) {
	c.θ, c.y = θ, θ.Y
	c.stride = roundUp(θ.Y, c.k.lanes)
	c.column = grow(c.column, θ.Y)
	c.isInto = !θ.PerPosition && θ.Positions() >= 2*θ.Y
	if c.isInto {
		c.padded = grow(c.padded, θ.Y*c.stride)
		c.into = grow(c.into, θ.Y*c.stride)
		for i := range θ.Y {
			row := θ.Edge[i*θ.Y : (i+1)*θ.Y]
			copy(c.padded[i*c.stride:], row)
			for j, e := range row {
				c.into[j*c.stride+i] = e
			}
		}
	}
}

// edgeInto returns the edge potentials of the step into position t (of the batch) and the stride of their rows.
func (c *Chain) edgeInto(t int) ([]float32, int) {
	if c.isInto {
		return c.padded, c.stride
	}
	return c.θ.EdgeAt(t), c.y
}

// columnInto returns the Y potentials of the steps into label l at position t of the batch. They hold until the next call.
func (c *Chain) columnInto(t int, l int32) []float32 {
	if c.isInto {
		return c.into[int(l)*c.stride : int(l)*c.stride+c.y]
	}
	edge := c.θ.EdgeAt(t)
	for i := range c.column {
		c.column[i] = edge[i*c.y+int(l)]
	}
	return c.column
}

// node returns the node potentials of position t of the batch.
func (c *Chain) node(t int) []float32 { return c.θ.Node[t*c.y : (t+1)*c.y] }

// row returns the δ of position t of the chain.
func (c *Chain) row(t int) []float32 { return c.δ[t*c.stride : t*c.stride+c.y] }

func roundUp(n, to int) int { return (n + to - 1) / to * to }
