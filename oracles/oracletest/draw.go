package oracletest

import (
	"math"
	"math/rand/v2"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
)

var minusInf = float32(math.Inf(-1))

// numbers is a distribution of potentials.
type numbers int

const (
	integers numbers = iota // small integers: sums are exact, and ties are common
	// integers, many of them about ±10 000: sums are exact, and most outputs are nearly impossible
	large
	reals      // between -3 and 3
	anyNumbers // one of the above
	rough      // of any size up to 1e4, some around ±1e6: differences lose most digits of float32
	near       // around 1e6, with differences up to 1e4: recurrences lose them in float32
	mixed      // positive, of sizes from 1e-13 to 1: sums lose digits of float64
	// some are about 1, and the others a little less than half a unit in its last place in float64: sums lose each
	absorbed
	// large next to small ones, in parts where others are often all −∞: what no output has may be far above all outputs
	hiding
)

// drawPotentials draws a few small examples with forbidden parts. The shapes and numbers derive from one seed, which
// covers more cases than drawing each of them.
func drawPotentials(t *rapid.T, kind registry.Kind, from numbers) *structured.Potentials {
	if from == anyNumbers {
		from = numbers(rapid.IntRange(0, int(anyNumbers)-1).Draw(t, "numbers"))
	}
	return smallPotentials(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)), kind, from)
}

// smallPotentials is drawPotentials with a generator of its own.
func smallPotentials(r *rand.Rand, kind registry.Kind, from numbers) *structured.Potentials {
	θ := kind.Small(r)
	scale, offset := float32(math.Exp(14*r.Float64()-5)), []float32{0, 0, 1e6, -1e6}[r.IntN(4)]
	forbidden, most := 0.1*float64(max(0, r.IntN(6)-2)), float32(0)
	if from == hiding {
		most = float32(math.Exp(5 * r.Float64()))
	}
	for k := range θ.Parts {
		x := θ.Parts[k].Values
		if from == hiding {
			hide(r, x, most)
			continue
		}
		for i := range x {
			switch {
			case r.Float64() < forbidden:
				x[i] = minusInf
			case from == integers:
				x[i] = float32(r.IntN(5) - 2)
			case from == large:
				x[i] = float32(10_000*(r.IntN(3)-1) + r.IntN(5) - 2)
			case from == rough:
				x[i] = offset + scale*(r.Float32()-0.5)
			case from == near:
				x[i] = 1e6 + scale*(r.Float32()-0.5)
			case from == mixed:
				x[i] = float32(math.Exp(-30 * r.Float64()))
			case from == absorbed && r.IntN(4) > 0:
				x[i] = 0x1p-54 * (1.9 + 0.09*r.Float32())
			case from == absorbed:
				x[i] = 1 + r.Float32()/16
			default:
				x[i] = 6*r.Float32() - 3
			}
		}
	}
	kind.Prepare(θ)
	return θ
}

// hide draws the potentials of a part that has large ones, or of one that forbids: some in a row, as all steps from a
// label are, and others here and there.
func hide(r *rand.Rand, x []float32, large float32) {
	rare, often := large*(0.9+0.2*r.Float32()), 0.2*r.Float64()
	if r.IntN(2) == 0 {
		rare = minusInf
	}
	lo := r.IntN(len(x) + 1)
	hi := min(len(x), lo+1+r.IntN(4))
	for i := range x {
		if x[i] = 0.001 * large * r.Float32(); lo <= i && i < hi || r.Float64() < often {
			x[i] = rare
		}
	}
}

// drawOutput draws an output of example b, forbidden or not.
func drawOutput(t *rapid.T, θ *structured.Potentials, b int) []int32 {
	all := everyOutput(θ, b)
	return all[rapid.IntRange(0, len(all)-1).Draw(t, "output")]
}

func drawMu(t *rapid.T) float64 {
	return rapid.SampledFrom([]float64{10, 1, 0.3, 0.1, 0.03, 1e-2, 1e-3, 1e-4}).Draw(t, "μ")
}

func clone(θ *structured.Potentials) *structured.Potentials {
	c := new(structured.Potentials)
	c.Copy(θ)
	return c
}

// zeros returns marginals of θ's form with all entries zero.
func zeros(θ *structured.Potentials) *structured.Marginals {
	u := new(structured.Marginals)
	u.Like(θ)
	u.Clear()
	return u
}
