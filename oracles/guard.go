package oracles

import (
	"math"

	"github.com/dsp-go/dsp/structured"
)

// Guard finds examples whose potentials are none: NaN, +∞, or beyond ±structured.MostPotential. A scorer that diverges
// gives such numbers. No recurrence can be trusted with them, or even to end, so oracles do not try: see Maximiser.
type Guard struct{ tied bool }

// Begin prepares for a batch.
func (g *Guard) Begin(θ *structured.Potentials) {
	g.tied = true
	for k := range θ.Parts {
		if p := &θ.Parts[k]; p.Offsets == nil {
			g.tied = g.tied && structured.ValidPotentials(p.Values)
		}
	}
}

// Valid reports whether the potentials of example b are −∞ or within ±structured.MostPotential. Begin has seen the
// batch.
func (g *Guard) Valid(θ *structured.Potentials, b int) bool {
	if !g.tied {
		return false
	}
	for k := range θ.Parts {
		if p := &θ.Parts[k]; p.Offsets != nil && !structured.ValidPotentials(p.Of(b)) {
			return false
		}
	}
	return true
}

// Refuse writes the answer of Max for an example whose potentials are not valid, and returns NaN, its value.
func Refuse(y []int32) float64 {
	clear(y)
	return math.NaN()
}

// RefuseSums writes the answer of Exp for such an example b: marginals that are NaN, unless u is nil. It returns NaN,
// the value.
func RefuseSums(u *structured.Marginals, b int) float64 {
	if u != nil {
		for k := range u.Parts {
			x := u.Parts[k].Of(b)
			for i := range x {
				x[i] = float32(math.NaN())
			}
		}
	}
	return math.NaN()
}

// Refuse writes the answer of TopK for such an example b: no output, with the score NaN.
func (kb *KBest) Refuse(θ *structured.Potentials, b int) {
	if kb.Count[b] = min(kb.K, 1); kb.K == 0 {
		return
	}
	kb.Score[b*kb.K] = Refuse(kb.Output(0, θ.Outputs[b], θ.Outputs[b+1]))
}
