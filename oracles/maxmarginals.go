package oracles

import (
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// MaxMarginaler serves a structured.Restricter. It finds, besides the best output, the best output with any given
// number at any given place.
type MaxMarginaler interface {
	Maximiser
	// MaxMarginals answers like Max, and fills m.
	MaxMarginals(θ *structured.Potentials, y []int32, value []float64, m *MaxMarginals)
}

// MaxMarginals holds max{⟨θ, 1_y⟩ : y_v = j} for every example, every place v of its output and every number j: −∞ if
// no allowed output has number j there.
type MaxMarginals struct {
	Offsets []int     // [B+1] where the scores of each example begin
	Widths  []int     // [B] one more than the largest number in an example's outputs
	Score   []float64 // place v of example b has Score[Offsets[b]+v*Widths[b]:][:Widths[b]]
}

// Resize gives m the shape for a batch whose example b has outputs of numbers below width(b), and reuses its memory.
// The scores are undefined.
func (m *MaxMarginals) Resize(θ *structured.Potentials, width func(b int) int) {
	m.Offsets, m.Widths = vec.Grow(m.Offsets, θ.Len()+1), vec.Grow(m.Widths, θ.Len())
	m.Offsets[0] = 0
	for b := range m.Widths {
		m.Widths[b] = width(b)
		m.Offsets[b+1] = m.Offsets[b] + (θ.Outputs[b+1]-θ.Outputs[b])*m.Widths[b]
	}
	m.Score = vec.Grow(m.Score, m.Offsets[θ.Len()])
}

// Of returns the scores of example b: [places × m.Widths[b]].
func (m *MaxMarginals) Of(b int) []float64 { return m.Score[m.Offsets[b]:m.Offsets[b+1]] }
