package chain

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
)

// TopK finds the k best outputs of every chain by lazy enumeration on top of Viterbi's table (recursive enumeration,
// Jiménez and Marzal 1999): only cells (t, y) on paths found so far hold more than their best prefix. The table costs
// T·Y² and each further output O(T·Y), usually far less.
func (c *Oracle) TopK(θ *structured.Potentials, k int, best *oracles.KBest) {
	c.prepare(θ)
	best.Resize(θ, k)
	for b := range θ.Len() {
		lo, hi := c.θ.Offsets[b], c.θ.Offsets[b+1]
		score := best.Score[b*k : (b+1)*k]
		switch {
		case lo == hi:
			best.Count[b], score[0] = 1, 0
		default:
			switch allowed, valid := c.forward(lo, hi); {
			case !valid:
				best.Refuse(θ, b)
			case !allowed:
				best.Count[b] = 0
			default:
				if best.Count[b] = c.enumerate(b, best); math.IsInf(score[0], 0) {
					best.Refuse(θ, b)
				}
			}
		}
	}
}

// enumerate writes the K best outputs of chain b, given its δ, and returns how many there are.
func (c *Oracle) enumerate(b int, best *oracles.KBest) int {
	lo, hi := c.θ.Offsets[b], c.θ.Offsets[b+1]
	first := best.Output(0, lo, hi)
	c.backtrack(lo, first)
	best.Place(b, 0, lo, hi, c.θ.Score(b, first))
	if best.K == 1 {
		return 1
	}
	c.openLattice(lo, first)
	for n := 1; n < best.K; n++ {
		if !c.advance() {
			return n
		}
		labels := best.Output(n, lo, hi)
		c.readPath(labels)
		best.Place(b, n, lo, hi, c.θ.Score(b, labels))
	}
	return best.K
}
