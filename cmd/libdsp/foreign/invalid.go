package foreign

import (
	"math"

	"github.com/dsp-go/dsp/structured"
)

// Potentials that are NaN, +∞ or beyond ±structured.MostPotential have no best output, but callers index arrays by what
// they get. So Max and TopK answer with an output of the structure that has the score NaN: the best one if these
// potentials were 0.

// standIn writes that output of example b to y. It changes the lane's share.
func (l *lane) standIn(t *Batch, values [][]float32, b int, y []int32) {
	l.share(t, values, b, b+1)
	for k := range l.θ.Parts {
		p := &l.θ.Parts[k]
		p.Values = append([]float32(nil), p.Values...)
		for i, x := range p.Values {
			if x != forbidden && !(math.Abs(float64(x)) <= structured.MostPotential) {
				p.Values[i] = 0
			}
		}
	}
	var score [1]float64
	l.max(t, y, score[:])
}
