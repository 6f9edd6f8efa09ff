// Package chain does inference for linear chains: best labelings by Viterbi, the K best by lazy enumeration of its
// table, and sums over all labelings with their marginals by forward-backward.
//
// The inner loops (kernels) exist in plain Go, for AVX2 and for AVX-512; command halve generates the AVX2 files from
// those for AVX-512. Forward-backward works on scaled probabilities in float32 or float64, or in the log domain if
// their range is too small.
package chain

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Oracle is the oracle of linear chains. Its inner loops use SIMD if the build and the machine support it (see Vector).
// The answer for a chain has the same bits in every batch.
type Oracle struct {
	k *kernels

	θ      chains.Potentials
	y      int
	stride int // length of a scratch row: Y rounded up to whole vectors

	edge, column            []float32 // [Y×stride] and [stride] buffers of edgeInto and columnInto
	into                    []float32 // [Y×stride] shared edge potentials transposed, rows "to"
	isAligned, isTransposed bool      // edge and into hold those of θ
	transposes              bool      // the batch is long enough for a transposed copy to pay off

	shared  bounds // of shared edges, if checked
	checked bool

	sum      []float32 // [stride]
	lastNode []float32 // [stride] copy of node potentials too close to the end of θ for whole vectors

	δ     []float32 // [T×stride] best score of a prefix that ends there, minus the shifts so far
	shift []float32 // [T] what was subtracted from a row of δ to keep its numbers small

	lattice lattice
	single  scaledSums[float32]
	double  scaledSums[float64]
	logs    logSums
	doubly  doubleSums
	draws   oracles.Draws
}

// New returns an oracle of linear chains with the fastest kernels of this build and machine.
func New() *Oracle { return &Oracle{k: fastest} }

// NewPlain returns an oracle of linear chains with the plain Go kernels, on any machine. It is the reference.
func NewPlain() *Oracle { return &Oracle{k: &plain} }

var minusInf = float32(math.Inf(-1))

// prepare starts a new batch.
func (c *Oracle) prepare(θ *structured.Potentials) {
	c.θ = chains.Of(θ)
	c.y = c.θ.Y
	c.stride = roundUp(c.y, c.k.lanes)
	c.column, c.sum = vec.Grow(c.column, c.stride), vec.Grow(c.sum, c.stride)
	pad(c.column, c.y)
	c.isAligned, c.isTransposed, c.checked = false, false, false
	c.transposes = !c.θ.PerPosition && c.θ.Positions() >= c.y
}

// padRows copies rows of y numbers to rows of whole vectors.
func padRows(to, from []float32, rows, y, stride int) []float32 {
	to = vec.Grow(to, rows*stride)
	for i := range rows {
		row := to[i*stride : (i+1)*stride]
		copy(row, from[i*y:(i+1)*y])
		pad(row, y)
	}
	return to
}

// pad writes −∞ into a row after its first y numbers.
func pad(row []float32, y int) {
	for j := y; j < len(row); j++ {
		row[j] = minusInf
	}
}

// transpose sets to_ji to from_ij, and pads the rows.
func transpose(to, from []float32, y, stride int) []float32 {
	to = vec.Grow(to, y*stride)
	for j := range y {
		row := to[j*stride : (j+1)*stride]
		for i := range y {
			row[i] = from[i*y+j]
		}
		pad(row, y)
	}
	return to
}

// edgeInto returns the edge potentials of the step into position t (of the batch), readable in whole vectors, and the
// stride of their rows. The next call overwrites them.
func (c *Oracle) edgeInto(t int) ([]float32, int) {
	if !c.θ.PerPosition {
		if !c.isAligned {
			c.edge = padRows(c.edge, c.θ.Edge, c.y, c.y, c.stride)
			c.isAligned = true
		}
		return c.edge, c.stride
	}
	from := t * c.y * c.y
	if end := from + (c.y-1)*c.y + c.stride; end <= len(c.θ.Edge) {
		return c.θ.Edge[from:], c.y
	}
	c.edge = padRows(c.edge, c.θ.Edge[from:], c.y, c.y, c.stride)
	return c.edge, c.stride
}

// columnInto returns the potentials of the steps into label l at position t of the batch, padded. The next call
// overwrites them.
func (c *Oracle) columnInto(t int, l int32) []float32 {
	if c.transposes {
		if !c.isTransposed {
			c.into = transpose(c.into, c.θ.Edge, c.y, c.stride)
			c.isTransposed = true
		}
		return c.into[int(l)*c.stride : (int(l)+1)*c.stride]
	}
	edge := c.θ.EdgeAt(t)
	for i := range c.y {
		c.column[i] = edge[i*c.y+int(l)]
	}
	return c.column
}

// node returns the node potentials of position t of the batch, readable in whole vectors.
func (c *Oracle) node(t int) []float32 {
	from := t * c.y
	if from+c.stride <= len(c.θ.Node) {
		return c.θ.Node[from:]
	}
	c.lastNode = padRows(c.lastNode, c.θ.Node[from:], 1, c.y, c.stride)
	return c.lastNode
}

// row returns δ at position t of the chain.
func (c *Oracle) row(t int) []float32 { return c.δ[t*c.stride : (t+1)*c.stride] }

func roundUp(n, to int) int { return (n + to - 1) / to * to }
