package selftest

import (
	"math"
	"math/rand/v2"

	"github.com/dsp-go/dsp/cuda/cases"
	"github.com/dsp-go/dsp/cuda/cudaoracles"
)

func plainPotential(r *rand.Rand) float32 { return float32(r.NormFloat64()) }
func wholePotential(r *rand.Rand) float32 { return float32(r.IntN(3)) }

func forbiddingPotential(r *rand.Rand) float32 {
	if r.IntN(8) == 0 {
		return float32(math.Inf(-1))
	}
	return float32(3 * r.NormFloat64())
}

// chainCase is a case on a device, in arrays larger than the batch, with what the CPU says of it.
type chainCase struct {
	cases.Chains
	g         *rig
	o         *cudaoracles.Oracle
	host      *cases.Potentials // with the loss
	gold      []float64         // scores of the gold labels
	ties      bool              // potentials are whole numbers, so outputs tie
	exact     bool              // nothing is rounded, because the losses are whole numbers too
	tolerance float64
}

const spareChains, spareRows = 2, 5

func (g *rig) newChainCase(r *rand.Rand, labels int, perPosition bool, lengths []int, draw func(*rand.Rand) float32) *chainCase {
	offsets := []int{0}
	for _, t := range lengths {
		offsets = append(offsets, offsets[len(offsets)-1]+t)
	}
	θ := cases.NewPotentials(offsets, labels, perPosition)
	c := &chainCase{Chains: cases.Chains{Host: θ}, g: g, o: cudaoracles.NewOracle(g.Device), ties: true, tolerance: single}
	for _, x := range [][]float32{θ.Node, θ.Edge} {
		for i := range x {
			x[i] = draw(r)
			c.ties = c.ties && x[i] == float32(math.Trunc(float64(x[i])))
		}
	}
	for range θ.Positions() {
		c.Gold = append(c.Gold, int32(r.IntN(labels+1))-1)
	}
	c.With = r.IntN(3) > 0
	if r.IntN(2) == 0 {
		for range labels {
			c.Loss.LabelWeights = append(c.Loss.LabelWeights, float32(1+r.IntN(3)))
		}
	}
	c.Loss.ByLength = r.IntN(2) == 0
	c.exact = c.ties && !(c.With && c.Loss.ByLength)
	c.Move(g.Device, spareChains, spareRows)
	c.host = c.Augmented()
	for b := range θ.Len() {
		c.gold = append(c.gold, c.GoldScore(b))
	}
	return c
}

func (c *chainCase) free() {
	c.o.Free()
	c.Free(c.g.Device)
}
