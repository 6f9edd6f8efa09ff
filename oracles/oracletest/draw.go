package oracletest

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dsp-go/dsp/structured"
	"pgregory.net/rapid"
)

var never = float32(math.Inf(-1))

// values says which numbers potentials are drawn from.
type values int

const (
	integers values = iota // small: sums are exact and ties are many
	reals
)

// drawPotentials draws a few short chains: lengths from 0, a single label, forbidden labels and transitions. The shapes
// and numbers follow from one seed, which spreads them better than drawing each.
func drawPotentials(t *rapid.T, kind values) *structured.Potentials {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	y := 1 + r.IntN(5)
	longest := []int{0, 9, 9, 6, 5, 4}[y]
	offsets := []int{0}
	for range 1 + r.IntN(3) {
		offsets = append(offsets, offsets[len(offsets)-1]+r.IntN(longest+1))
	}
	θ := new(structured.Potentials)
	θ.Resize(offsets, y, r.IntN(2) == 0)
	forbidden := 0.1 * float64(max(0, r.IntN(6)-2))
	draw := func(x []float32) {
		for i := range x {
			switch {
			case r.Float64() < forbidden:
				x[i] = never
			case kind == integers:
				x[i] = float32(r.IntN(5) - 2)
			default:
				x[i] = 6*r.Float32() - 3
			}
		}
	}
	draw(θ.Node)
	draw(θ.Edge)
	return θ
}

// LongChain returns a batch of one chain without forbidden parts, with numbers in steps of 1/8 that float32 sums exactly
// as long as they stay below 2²¹.
func LongChain(r *rand.Rand, length, y int, perPosition bool) *structured.Potentials {
	θ := new(structured.Potentials)
	θ.Resize([]int{0, length}, y, perPosition)
	for _, x := range [][]float32{θ.Node, θ.Edge} {
		for i := range x {
			x[i] = float32(r.IntN(64)) / 8
		}
	}
	return θ
}

func drawMu(t *rapid.T) float64 {
	return rapid.SampledFrom([]float64{10, 1, 0.3, 0.1, 0.03, 1e-2, 1e-3, 1e-4}).Draw(t, "μ")
}

func clone(θ *structured.Potentials) *structured.Potentials {
	c := *θ
	c.Node, c.Edge = slices.Clone(θ.Node), slices.Clone(θ.Edge)
	return &c
}

// view returns the batch of chain b alone.
func view(θ *structured.Potentials, b int) *structured.Potentials {
	lo, hi, y := θ.Offsets[b], θ.Offsets[b+1], θ.Y
	v := &structured.Potentials{Y: y, Offsets: []int{0, hi - lo}, Node: θ.Node[lo*y : hi*y], Edge: θ.Edge, PerPosition: θ.PerPosition}
	if θ.PerPosition {
		v.Edge = θ.Edge[lo*y*y : hi*y*y]
	}
	return v
}
