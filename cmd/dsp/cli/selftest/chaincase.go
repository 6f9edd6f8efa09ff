package selftest

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dsp-go/dsp/cuda/cudaoracles"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

func plainPotential(r *rand.Rand) float32 { return float32(r.NormFloat64()) }
func wholePotential(r *rand.Rand) float32 { return float32(r.IntN(3)) }

func forbiddingPotential(r *rand.Rand) float32 {
	if r.IntN(8) == 0 {
		return float32(math.Inf(-1))
	}
	return float32(3 * r.NormFloat64())
}

// chainCase holds the same chains twice: on the device, in arrays larger than the batch, with a loss to add; and on the CPU with the loss added.
type chainCase struct {
	g         *rig
	o         *cudaoracles.Oracle
	host      *potentials
	on        *cudaoracles.Chains
	loss      cudaoracles.Augmentation
	gold      []float64 // scores of the gold labels
	ties      bool      // potentials are whole numbers, so outputs tie
	exact     bool      // nothing is rounded, because the losses are whole numbers too
	tolerance float64
}

const spareChains, spareRows = 2, 5

func (g *rig) newChainCase(r *rand.Rand, labels int, perPosition bool, lengths []int, draw func(*rand.Rand) float32) *chainCase {
	offsets := []int{0}
	for _, t := range lengths {
		offsets = append(offsets, offsets[len(offsets)-1]+t)
	}
	θ := newPotentials(offsets, labels, perPosition)
	c := &chainCase{g: g, o: cudaoracles.NewOracle(g.Device), host: θ, ties: true, tolerance: single}
	for _, x := range [][]float32{θ.Node, θ.Edge} {
		for i := range x {
			x[i] = draw(r)
			c.ties = c.ties && x[i] == float32(math.Trunc(float64(x[i])))
		}
	}
	gold, cost := make([]int32, θ.Positions()), make([]float32, labels)
	for t := range gold {
		gold[t] = int32(r.IntN(labels+1)) - 1
	}
	for l := range cost {
		cost[l] = float32(1 + r.IntN(3))
	}
	h := chains.Hamming{}
	c.loss = cudaoracles.Augmentation{Gold: upload(g, slices.Concat(gold, slices.Repeat([]int32{-1}, spareRows))), Loss: r.IntN(3) > 0}
	if r.IntN(2) == 0 {
		c.loss.Cost, h.LabelWeights = upload(g, cost), cost
	}
	rounds := false
	if r.IntN(2) == 0 {
		c.loss.ByLength, h.ByLength = true, true
		rounds = c.loss.Loss
	}
	c.exact = c.ties && !rounds
	ends, longest := make([]int32, 0, len(offsets)+spareChains), 0
	for b, at := range offsets {
		ends = append(ends, int32(at))
		if b > 0 {
			longest = max(longest, at-offsets[b-1])
		}
	}
	for range spareChains {
		ends = append(ends, ends[len(ends)-1])
	}
	rows, edge := θ.Positions()+spareRows, θ.Edge
	junk := make([]float32, spareRows*labels)
	if perPosition {
		edge = slices.Concat(edge, make([]float32, spareRows*labels*labels))
	}
	c.on = &cudaoracles.Chains{B: len(ends) - 1, N: rows, Y: labels, Longest: longest, PerPosition: perPosition,
		Offsets: upload(g, ends), Node: upload(g, slices.Concat(θ.Node, junk)), Edge: upload(g, edge)}
	for b := range θ.Len() {
		of := gold[offsets[b]:offsets[b+1]]
		c.gold = append(c.gold, goldScore(θ, b, of))
	}
	for b := range θ.Len() {
		if c.loss.Loss {
			h.Augment(θ.all, b, structured.Gold{Output: gold[offsets[b]:offsets[b+1]], Sets: [][]int32{nil}})
		}
	}
	return c
}

// goldScore returns the score of the gold labels of chain b; positions with label −1 contribute nothing.
func goldScore(θ *potentials, b int, gold []int32) float64 {
	s, start := 0., θ.Offsets[b]
	for t, l := range gold {
		if l < 0 {
			continue
		}
		s += float64(θ.Node[(start+t)*θ.Y+int(l)])
		if t > 0 && gold[t-1] >= 0 {
			s += float64(θ.EdgeAt(start + t)[int(gold[t-1])*θ.Y+int(l)])
		}
	}
	return s
}

func (c *chainCase) free() {
	d := c.g.Device
	c.o.Free()
	for _, x := range []device.Array[float32]{c.on.Node, c.on.Edge, c.loss.Cost} {
		device.Free(d, x)
	}
	device.Free(d, c.on.Offsets)
	device.Free(d, c.loss.Gold)
}
