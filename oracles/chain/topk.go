package chain

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
)

// TopK finds the k best outputs of every chain by lazy enumeration on top of Viterbi's table (recursive enumeration, Jiménez and
// Marzal 1999): only cells (t, y) on paths found so far hold more than their best prefix. The table costs T·Y² and each further
// output O(T·Y), usually far less.
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
	score := best.Score[b*best.K : (b+1)*best.K]
	score[0] = c.θ.Score(b, first)
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
		score[n] = c.θ.Score(b, labels)
		// δ and the lattice are float32, so outputs that nearly tie may come in the wrong order.
		for m := n; m > 0 && score[m] > score[m-1]; m-- {
			swapOutputs(best.Output(m, lo, hi), best.Output(m-1, lo, hi))
			score[m], score[m-1] = score[m-1], score[m]
		}
	}
	return best.K
}

func swapOutputs(a, b []int32) {
	for t := range a {
		a[t], b[t] = b[t], a[t]
	}
}
