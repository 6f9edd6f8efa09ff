package objects

import (
	"math"
	"math/rand/v2"

	"github.com/dsp-go/dsp/models/data/annotations"
	"github.com/dsp-go/dsp/structured/boxes"
)

// draw draws a scene: the ground, clutter, beetles, the ladybird, what hides a part of it, then light and noise.
func draw(width, height int, difficulty float64, rng *rand.Rand) Scene {
	c := newCanvas(width, height)
	c.meadow(rng)
	side := math.Sqrt(c.area())
	for range int(math.Round(between(rng, 4, 9) + 8*difficulty*rng.Float64())) {
		c.clutter(side, rng)
	}
	target := c.place(side*math.Exp(between(rng, math.Log(0.08), math.Log(0.24))), difficulty, rng)
	taken := []frame{target}
	var scene Scene
	for range int(math.Round(1.6*difficulty + 1.5*rng.Float64() - 0.5)) {
		f, free := c.placeApart(taken, side, difficulty, rng)
		if !free {
			continue
		}
		taken = append(taken, f)
		body := newInsect(false, difficulty, rng).draw(c, f, rng)
		scene.Objects = append(scene.Objects, annotations.Object{Class: beetle, Box: body.box()})
	}
	body := newInsect(true, difficulty, rng).draw(c, target, rng)
	scene.Objects = append([]annotations.Object{{Class: Ladybird, Box: body.box()}}, scene.Objects...)
	for range int(math.Round(difficulty * 1.5 * rng.Float64())) {
		c.blade(body.box(), rng)
	}
	c.light(difficulty, rng)
	scene.Image = c.image()
	return scene
}

// place draws the place of an insect of a size (half its length in pixels), inside the canvas, with its direction.
func (c *canvas) place(size, difficulty float64, rng *rand.Rand) frame {
	angle := 0.1*clippedNormal(rng) + 0.35*difficulty*clippedNormal(rng)
	size = min(size, float64(min(c.width, c.height))/(2*insectReach))
	rim := 1.4 * size // the body's and head's points are nearer to the centre
	return newFrame(between(rng, rim, float64(c.width)-rim), between(rng, rim, float64(c.height)-rim), size, angle)
}

// placeApart draws the place of a beetle that overlaps with no other insect.
func (c *canvas) placeApart(taken []frame, side, difficulty float64, rng *rand.Rand) (f frame, free bool) {
	for range 20 {
		f = c.place(side*math.Exp(between(rng, math.Log(0.07), math.Log(0.24))), difficulty, rng)
		free = true
		for _, t := range taken {
			free = free && math.Hypot(f.x-t.x, f.y-t.y) > 1.35*(f.unit+t.unit)
		}
		if free {
			return f, true
		}
	}
	return f, false
}

// clutter draws a leaf, a petal, a stone, or a patch with spots or stripes.
func (c *canvas) clutter(side float64, rng *rand.Rand) {
	f := newFrame(between(rng, 0, float64(c.width)), between(rng, 0, float64(c.height)),
		side*math.Exp(between(rng, math.Log(0.06), math.Log(0.35))), 2*math.Pi*rng.Float64())
	green := colour{between(rng, 0.1, 0.45), between(rng, 0.35, 0.65), between(rng, 0.08, 0.3)}
	petal := []colour{{0.85, 0.25, 0.2}, {0.9, 0.5, 0.15}, {0.9, 0.8, 0.3}, {0.8, 0.45, 0.65},
		{0.92, 0.9, 0.88}}[rng.IntN(5)].times(between(rng, 0.75, 1.05))
	grey := colour{0.5, 0.48, 0.45}.times(between(rng, 0.5, 1.4))
	switch rng.IntN(6) {
	case 0, 1:
		c.paint(f, 1.1, leaf(between(rng, 0.5, 1.1)), veined(green), 1)
	case 2:
		c.paint(f, 1.1, ellipse(0, 0, between(rng, 0.5, 1), 1), plain(petal), 1)
	case 3:
		c.paint(f, 1.1, ellipse(0, 0, between(rng, 0.6, 1), 0.9), plain(grey), 1)
	case 4:
		f.unit *= 0.6
		c.paint(f, 1.5, ellipse(0, 0, 1, 1),
			spotted(petal, petal.times(between(rng, 0.1, 0.5)), between(rng, 0.4, 0.7), 0.14), 1)
	case 5:
		f.unit *= 0.6
		c.paint(f, 1.5, rectangle(between(rng, 0.5, 1), 1),
			striped(petal.mix(green, 0.5), black, between(rng, 0.3, 0.6), 0.35), 1)
	}
}

// blade draws a blade of grass across a box, which hides an eighth of it or less.
func (c *canvas) blade(over boxes.Box, rng *rand.Rand) {
	f := newFrame(over.X+over.Width*between(rng, 0.1, 0.9), over.Y+over.Height*between(rng, 0.1, 0.9),
		max(over.Width, over.Height)*between(rng, 0.8, 1.4), 2*math.Pi*rng.Float64())
	green := colour{between(rng, 0.2, 0.4), between(rng, 0.45, 0.7), between(rng, 0.1, 0.25)}
	width := min(over.Width, over.Height) / 8 / f.unit
	c.paint(f, 1.1, segment(0, -1, 0, 1, width), plain(green), 1)
}
