package benchmarks

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dsp-go/dsp/oracles/choice"
	"github.com/dsp-go/dsp/oracles/window"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/choices"
	"github.com/dsp-go/dsp/structured/windows"
)

// choiceMeasures measures every answer of the oracle of choices, among 100 and among 1000 candidates.
func choiceMeasures() []measure {
	const examples = 64
	var all []measure
	for _, candidates := range []int{100, 1000} {
		θ := &structured.Potentials{}
		rows := multiples(examples, candidates)
		θ.Reshape(choices.Form(), multiples(examples, 1), func(string) []int { return rows })
		drawNormal(θ, rand.New(rand.NewPCG(1, 1)))
		all = append(all, oracleMeasures(fmt.Sprintf("oracle, choice, %d candidates", candidates), choice.New(), θ,
			answerNames{max: "max", topK: "top-5", exp: "exp"})...)
	}
	return all
}

// windowMeasures measures every answer of the oracle of windows on maps of 32×32 and of 64×64 cells.
func windowMeasures() []measure {
	const examples = 16
	var all []measure
	for _, side := range []int{32, 64} {
		all = append(all, oracleMeasures(fmt.Sprintf("oracle, window, %d×%d cells", side, side), window.New(), randomMaps(examples, side),
			answerNames{max: "max (branch and bound)", topK: "top-5"})...)
	}
	return all
}

// randomMaps draws potentials like those of a trained network, with the loss added: a blob of positive cells around an
// object on a negative background, with noise.
func randomMaps(examples, side int) *structured.Potentials {
	r, w, θ := rand.New(rand.NewPCG(1, 1)), windows.Window{Height: side, Width: side}, &structured.Potentials{}
	cells, one := multiples(examples, side*side), multiples(examples, 1)
	θ.Reshape(w.Form(), multiples(examples, 4), func(table string) []int {
		if table == structured.Examples {
			return one
		}
		return cells
	})
	clear(θ.Parts[1].Values)
	for b := range examples {
		gold := w.Draw(r)
		θ.Gold = append(θ.Gold, gold)
		from := func(at int, lo, hi int32) float64 { // distance from the object's centre, 1 at its edge
			return (2*float64(at) - float64(lo+hi)) / float64(hi-lo+1)
		}
		for i := range θ.Parts[0].Of(b) {
			y, x := from(i/side, gold[0], gold[2]), from(i%side, gold[1], gold[3])
			θ.Parts[0].Of(b)[i] = float32(0.08*math.Exp(-(x*x+y*y)*(x*x+y*y)/2) - 0.03 + 0.03*r.NormFloat64())
		}
		θ.Parts[2].Of(b)[0] = 1
	}
	return θ
}

// multiples returns 0, step, …, n·step.
func multiples(n, step int) []int {
	all := make([]int, n+1)
	for i := range all {
		all[i] = i * step
	}
	return all
}
