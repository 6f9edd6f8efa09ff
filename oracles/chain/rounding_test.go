package chain

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"pgregory.net/rapid"
)

// reference returns max_y ⟨θ, 1_y⟩, or μ log Σ_y exp(⟨θ, 1_y⟩/μ) for μ > 0, of a single chain in float64.
func reference(θ *structured.Potentials, μ float64) float64 {
	in := chains.Of(θ)
	y := in.Y
	last, next := make([]float64, y), make([]float64, y)
	for t := range in.Offsets[1] {
		for j := range y {
			if t == 0 {
				next[j] = float64(in.Node[j])
				continue
			}
			edge := in.EdgeAt(t)
			next[j] = soften(last, func(i int) float64 { return float64(edge[i*y+j]) }, μ) + float64(in.Node[t*y+j])
		}
		last, next = next, last
	}
	return soften(last, func(int) float64 { return 0 }, μ)
}

// soften returns the maximum of x + edge, or its smooth version.
func soften(x []float64, edge func(i int) float64, μ float64) float64 {
	m, sum := math.Inf(-1), 0.0
	for i, v := range x {
		m = max(m, v+edge(i))
	}
	if μ == 0 || math.IsInf(m, -1) {
		return m
	}
	for i, v := range x {
		sum += math.Exp((v + edge(i) - m) / μ)
	}
	return m + μ*math.Log(sum)
}

// Values are within Rounding of a float64 recurrence, for potentials of all sizes, offsets up to 1e6 and ranges up to
// 1e4, all or few outputs allowed.
func TestRounding(t *testing.T) {
	for name, o := range Every() {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
			checkRounding(t, o, drawRough(r), []float64{1, 0.1, 10, 1e-3}[r.IntN(4)])
		}))
	}
}

// drawRough draws a chain that is hard for float32.
func drawRough(r *rand.Rand) *structured.Potentials {
	θ := new(structured.Potentials)
	y := 1 + r.IntN(40)
	chains.Resize(θ, []int{0, 1 + r.IntN(150)}, y, r.IntN(2) == 0)
	scale, offset := math.Exp(14*r.Float64()-5), []float64{0, 0, 1e3, -1e6, 1e6}[r.IntN(5)]
	forbidden, same := 0.5*max(0, r.Float64()-0.5), r.IntN(6) == 0
	for k := range θ.Parts {
		x := θ.Parts[k].Values
		for i := range x {
			switch x[i] = float32(offset + scale*(r.Float64()-0.5)); {
			case same:
				x[i] = float32(offset + scale)
			case r.Float64() < forbidden:
				x[i] = float32(math.Inf(-1))
			}
		}
	}
	return θ
}

func checkRounding(t failer, o *Oracle, θ *structured.Potentials, μ float64) (used [2]float64) {
	t.Helper()
	y, value := make([]int32, θ.OutputSize()), make([]float64, 1)
	ref := 1e-14 * float64(θ.OutputSize()) * (oracles.Magnitude(θ, 0) + μ*float64(θ.OutputSize())) // errors of the reference itself
	for k, μ := range []float64{0, μ} {
		if o.Max(θ, y, value); μ > 0 {
			o.Exp(θ, μ, value, nil)
		}
		want, bound := reference(θ, μ), o.Rounding(θ, 0, μ)
		if value[0] == want {
			continue
		}
		if !(math.Abs(value[0]-want) <= bound+ref) {
			t.Fatalf("μ = %g: value %v, want %v within %g, is off by %g", μ, value[0], want, bound, value[0]-want)
		}
		used[k] = math.Abs(value[0]-want) / bound
	}
	return used
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// No step leads into the first position: potentials that stand there, whatever they are, are in no output, and
// change no bound.
func TestRoundingIgnoresTheFirstStep(t *testing.T) {
	for name, o := range Every() {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 4))
			θ := drawRough(r)
			if θ.Parts[1].Rows == structured.Tied {
				return
			}
			into := θ.Parts[1].Of(0)[:θ.Parts[1].Width]
			for _, μ := range []float64{0, 0.1, 1} {
				clear(into)
				want := o.Rounding(θ, 0, μ)
				for _, x := range []float32{1e9, -1e9, float32(math.Inf(-1))} {
					into[r.IntN(len(into))] = x
					if got := o.Rounding(θ, 0, μ); got != want {
						t.Fatalf("μ = %g: %g with %g before the first position, %g with 0", μ, got, x, want)
					}
				}
			}
		}))
	}
}

// The bound is of use: that of centred potentials, as learning has them, is not far above what a long chain loses.
func TestRoundingIsTight(t *testing.T) {
	for name, o := range Every() {
		for _, y := range []int{2, 25, 128} {
			t.Run(fmt.Sprintf("%s, Y=%d", name, y), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(y), 5))
				θ := new(structured.Potentials)
				chains.Resize(θ, []int{0, 40}, y, false)
				for k := range θ.Parts {
					for i := range θ.Parts[k].Values {
						θ.Parts[k].Values[i] = float32(2 * r.NormFloat64())
					}
				}
				checkRounding(t, o, θ, 1)
				if got := o.Rounding(θ, 0, 1); got > 40*(100+float64(y))*oracles.Single {
					t.Errorf("%g units per position for exp", got/40/oracles.Single)
				} else {
					t.Logf("exp: %.3g, that is %.1f units per position", got, got/40/oracles.Single)
				}
				t.Logf("max: %.3g", o.Rounding(θ, 0, 0))
			})
		}
	}
}
