package oracles

import (
	"math"

	"github.com/dsp-go/dsp/structured"
)

// Most is the largest absolute value of a potential that is not −∞: sums of a hundred million of them stay within float32.
const Most = 0x1p100

// Guard finds examples whose potentials are none: NaN, +∞, or beyond ±Most. A scorer that diverges gives such numbers. No recurrence can be
// trusted with them, or even to end, so oracles do not try: see Maximiser.
type Guard struct{ tied bool }

// Begin prepares for a batch.
func (g *Guard) Begin(θ *structured.Potentials) {
	g.tied = true
	for k := range θ.Parts {
		if p := &θ.Parts[k]; p.Offsets == nil {
			g.tied = g.tied && Valid(p.Values)
		}
	}
}

// Valid reports whether the potentials of example b are −∞ or within ±Most. Begin has seen the batch.
func (g *Guard) Valid(θ *structured.Potentials, b int) bool {
	if !g.tied {
		return false
	}
	for k := range θ.Parts {
		if p := &θ.Parts[k]; p.Offsets != nil && !Valid(p.Of(b)) {
			return false
		}
	}
	return true
}

// Valid reports whether all numbers are −∞ or within ±Most.
func Valid(xs []float32) bool {
	const sign, forbidden = 1 << 31, 0xff800000
	most := math.Float32bits(Most)
	wrong := 0
	for _, x := range xs {
		b := math.Float32bits(x)
		if b&^sign > most && b != forbidden {
			wrong++
		}
	}
	return wrong == 0
}

// Refuse writes the answer of Max for an example whose potentials are not valid, and returns NaN, its value.
func Refuse(y []int32) float64 {
	clear(y)
	return math.NaN()
}

// Refuse writes the answer of TopK for such an example b: no output, with the score NaN.
func (kb *KBest) Refuse(θ *structured.Potentials, b int) {
	if kb.Count[b] = min(kb.K, 1); kb.K == 0 {
		return
	}
	kb.Score[b*kb.K] = Refuse(kb.Output(0, θ.Outputs[b], θ.Outputs[b+1]))
}
