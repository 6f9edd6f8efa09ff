package scenes

import (
	"math"
	"math/rand/v2"
)

// colour is red, green and blue from 0 to 1.
type colour [3]float64

// material is a class of things.
type material struct {
	name    string
	base    colour
	pattern func(u, v float64) float64 // brightness from -1 to 1 at a point in pixels, in the direction of the shape
}

// materials are the classes, the ground first.
var materials = []material{
	{"ground", colour{0.56, 0.46, 0.32}, grains},
	{"stone", colour{0.62, 0.61, 0.60}, cracks},
	{"water", colour{0.34, 0.48, 0.62}, waves},
	{"leaf", colour{0.36, 0.54, 0.27}, veins},
}

// grains are small and in no direction.
func grains(u, v float64) float64 { return math.Sin(1.9*u) * math.Sin(2.1*v) }

// cracks are rare dark lines in two directions.
func cracks(u, v float64) float64 {
	return 0.4 - 1.4*max(math.Pow(math.Cos(0.27*u+0.6*math.Sin(0.2*v)), 20), math.Pow(math.Cos(0.23*v), 20))
}

// waves are broad.
func waves(u, v float64) float64 { return math.Sin(0.9*v + 0.8*math.Sin(0.15*u)) }

// veins are fine and lie slantwise to both sides of a rib.
func veins(u, v float64) float64 { return math.Sin(1.3 * (math.Abs(u) + 0.6*v)) }

// surface is the look of one thing.
type surface struct {
	material
	colour         colour
	x, y, sin, cos float64 // the centre and the direction of its pattern
	contrast       float64
}

// newSurface draws the look of a thing. The harder the scene, the more its colour differs from that of its class, and
// the fainter its pattern is.
func newSurface(class int, x, y, angle, difficulty float64, rng *rand.Rand) surface {
	s := surface{material: materials[class], x: x, y: y}
	s.sin, s.cos = math.Sincos(angle)
	s.contrast = 0.1 / (1 + difficulty)
	bright := 0.02 * difficulty * rng.NormFloat64()
	for k := range s.colour {
		s.colour[k] = s.base[k] + bright + 0.01*difficulty*rng.NormFloat64()
	}
	return s
}

// at returns the colour of a pixel.
func (s *surface) at(x, y float64) colour {
	x, y = x-s.x, y-s.y
	b := s.contrast * s.pattern(s.cos*x+s.sin*y, s.cos*y-s.sin*x)
	return colour{s.colour[0] + b, s.colour[1] + b, s.colour[2] + b}
}
