package objects

import (
	"math"
	"math/rand/v2"
)

// insect is what a ladybird and a beetle share. In the units of its frame the body is an ellipse of half axes wide and
// 1, and looks up.
type insect struct {
	wide  float64
	shell colour
	spots bool // of a ladybird; a beetle has stripes, or neither
	bands int  // stripes across a beetle
}

var black = colour{0.07, 0.06, 0.07}

// insectReach bounds the distance of an insect's points from the centre of its body, in units.
const insectReach = 1.6

// newInsect draws the looks of an insect. Ladybirds are red to orange. The harder the scene, the more beetles share
// their colours.
func newInsect(ladybird bool, difficulty float64, rng *rand.Rand) insect {
	b := insect{wide: 0.95 * math.Exp(0.16*clippedNormal(rng)), spots: ladybird}
	red := colour{between(rng, 0.7, 0.92), between(rng, 0.1, 0.42), between(rng, 0.04, 0.14)}
	b.shell = red
	if !ladybird {
		if rng.Float64() > 0.35+0.3*difficulty {
			b.shell = []colour{{0.2, 0.35, 0.55}, {0.45, 0.3, 0.15}, {0.25, 0.45, 0.3},
				{0.75, 0.65, 0.2}}[rng.IntN(4)].times(between(rng, 0.7, 1.2))
		}
		b.bands = rng.IntN(4)
	}
	return b
}

// draw draws the insect and returns the extent of its body and head; legs and feelers do not count.
func (b insect) draw(c *canvas, f frame, rng *rand.Rand) extent {
	dark := plain(black)
	for _, side := range []float64{-1, 1} {
		for _, v := range []float64{-0.45, 0.05, 0.5} {
			bend := between(rng, -0.15, 0.15)
			c.paint(f, insectReach, segment(side*b.wide*0.8, v, side*(b.wide+0.28), v+0.12+bend, 0.1), dark, 1)
		}
		c.paint(f, insectReach, segment(side*0.15, -1.1, side*0.4, -1.45, 0.06), dark, 1)
	}
	body := c.paint(f, insectReach, ellipse(0, -0.88, 0.55*b.wide, 0.4), dark, 1)
	for _, side := range []float64{-1, 1} { // pale cheeks
		c.paint(f, insectReach, ellipse(side*0.3*b.wide, -1.02, 0.12, 0.1), plain(colour{0.9, 0.9, 0.85}), 0.9)
	}
	shine := func(u, v float64) colour {
		glow := math.Exp(-8 * (math.Pow(u+0.35*b.wide, 2) + math.Pow(v+0.4, 2)))
		return b.shell.times(1-0.3*min(max(u+v, -1), 1)).mix(colour{1, 1, 1}, 0.45*glow)
	}
	shell := ellipse(0, 0, b.wide, 1)
	body = body.join(c.paint(f, insectReach, shell, shine, 1))
	within := func(mark shape) shape { // marks end at the rim of the shell
		return func(u, v float64) float64 { return max(mark(u, v), shell(u, v)) }
	}
	c.paint(f, insectReach, within(segment(0, -1, 0, 1, 0.07)), dark, 0.9)
	switch {
	case b.spots:
		c.paint(f, insectReach, within(ellipse(0, -0.62, 0.2, 0.22)), dark, 1)
		for _, side := range []float64{-1, 1} {
			for _, at := range [][2]float64{{0.5, -0.38}, {0.42, 0.18}, {0.68, 0.4}, {0.3, 0.66}}[:3+rng.IntN(2)] {
				size := between(rng, 0.14, 0.22)
				u, v := side*b.wide*(at[0]+between(rng, -0.06, 0.06)), at[1]+between(rng, -0.06, 0.06)
				c.paint(f, insectReach, within(ellipse(u, v, size, size)), dark, 0.95)
			}
		}
	default:
		for k := range b.bands {
			v := -0.6 + 1.4*float64(k)/float64(max(1, b.bands))
			c.paint(f, insectReach, within(segment(-2, v, 2, v, 0.2)), dark, 0.9)
		}
	}
	return body
}
