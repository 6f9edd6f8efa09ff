package window

import (
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/windows"
)

var _ oracles.Rounder = (*Oracle)(nil)

// Rounding implements oracles.Rounder. The search compares sums in float64: differences of sums over at most H cells,
// added up over at most W columns, and a few terms. Each of fewer than 4(H + W + 8) operations errs by at most 2⁻⁵³ of
// Σ |potential|.
func (o *Oracle) Rounding(θ *structured.Potentials, b int, μ float64) float64 {
	if θ.Outputs[b] == θ.Outputs[b+1] {
		return 0
	}
	w, sum := θ.Structure.(windows.Window), 0.0
	for k := range θ.Parts {
		for _, x := range θ.Parts[k].Of(b) {
			sum += size(float64(x))
		}
	}
	return slack(w.Height, w.Width) * sum
}

// slack is the relative rounding error of the sums that bound the boxes of a grid, and of the scores that they are
// compared with.
func slack(height, width int) float64 { return 2 * 4 * float64(height+width+8) * oracles.Double }
