package oracles

import (
	"math"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Rounder is an oracle that bounds its own rounding errors. The bounds are theorems about its arithmetic, not
// measurements: they hold for every potential that is finite or −∞, and are usually some ten times larger than the
// errors.
type Rounder interface {
	Maximiser
	// Rounding bounds the rounding error of the value of example b, in the units of the scores. It reads θ once and
	// runs no recurrence.
	//
	// With μ = 0 it speaks of Max: max_y ⟨θ, 1_y⟩ is at most Rounding above the value of Max, or above Bound of a
	// Bounder. The other way, the score of an output differs from its exact sum by no more than Rounding, either.
	//
	// With μ > 0 it speaks of Exp at that temperature: the value differs from μ·log Σ_y exp(⟨θ,1_y⟩/μ) by at most
	// Rounding. The value of a Relaxed oracle is at most Rounding below that sum.
	Rounding(θ *structured.Potentials, b int, μ float64) float64
}

// Largest relative errors of one operation in float32 and in float64, with room for their products: |log(1+δ)| of an
// operation's error δ is at most this, too.
const (
	Single = 0x1p-24 * (1 + 1e-6)
	Double = 0x1p-53 * (1 + 1e-12)
)

// Rounding returns the bound of a Rounder, and a generic one for other oracles. That one holds for an oracle that works
// in float32 and whose recurrence passes every row of potentials at most four times, in sums over at most the width W
// of the widest row: with R rows, n = 4·(R+W) operations lie on the longest path, and each errs by at most 2⁻²⁴ of
// Σ_rows max |θ|, or of that plus μ·log of the number of terms. It is far from tight.
func Rounding(o Maximiser, θ *structured.Potentials, b int, μ float64) float64 {
	if r, ok := o.(Rounder); ok {
		return r.Rounding(θ, b, μ)
	}
	rows, width := 0, 0
	for k := range θ.Parts {
		p := &θ.Parts[k]
		rows, width = rows+rowsOf(θ, p, b), max(width, p.Width)
	}
	n, size := 4*float64(rows+width), Magnitude(θ, b)
	if μ > 0 {
		size += μ * float64(rows) * math.Log(float64(width+1)) // of all values of the recurrence
	}
	γ := n * Single / (1 - min(n*Single, 0.5))
	return γ*(size+μ*n) + γ*size // of the exponents, or of the second path that Max compares
}

// Magnitude returns Σ |θ| over the rows of example b, of the largest finite number in each: no output's score exceeds
// it, nor does any part of one. A tied row counts once for each number of an output, or for each edge of a graph.
func Magnitude(θ *structured.Potentials, b int) float64 {
	sum := 0.0
	for k := range θ.Parts {
		p := &θ.Parts[k]
		x := p.Of(b)
		if p.Offsets == nil {
			sum += float64(rowsOf(θ, p, b)) * Largest(x)
			continue
		}
		for ; len(x) > 0 && p.Width > 0; x = x[p.Width:] {
			sum += Largest(x[:p.Width])
		}
	}
	return sum
}

// rowsOf returns how often an output of example b may use rows of a part.
func rowsOf(θ *structured.Potentials, p *structured.Part, b int) int {
	if p.Offsets == nil {
		n := max(θ.Outputs[b+1]-θ.Outputs[b], 1)
		if len(θ.Graphs) > 0 {
			n = max(n, len(θ.Graphs[b].Ends))
		}
		return n
	}
	return p.Offsets[b+1] - p.Offsets[b]
}

// Largest returns the largest |x| that is not infinite, NaN if some x is NaN, and +∞ if some x is +∞.
func Largest(xs []float32) float64 { return float64(vec.Largest(xs)) }
