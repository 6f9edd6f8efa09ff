package objects

import (
	"math"
	"math/rand/v2"
)

// ellipse is centred at (x, y) with half axes a and b. The distance is approximate, and exact at the rim.
func ellipse(x, y, a, b float64) shape {
	return func(u, v float64) float64 {
		u, v = (u-x)/a, (v-y)/b
		r := math.Hypot(u, v)
		if r == 0 {
			return -min(a, b)
		}
		return r * (r - 1) / math.Hypot(u/a, v/b)
	}
}

// rectangle is centred at the frame's centre, with half sides a and b.
func rectangle(a, b float64) shape {
	return func(u, v float64) float64 { return max(math.Abs(u)-a, math.Abs(v)-b) }
}

// segment is a line of a width with round ends.
func segment(u0, v0, u1, v1, width float64) shape {
	du, dv := u1-u0, v1-v0
	length := du*du + dv*dv
	return func(u, v float64) float64 {
		t := min(max(((u-u0)*du+(v-v0)*dv)/length, 0), 1)
		return math.Hypot(u-u0-t*du, v-v0-t*dv) - width/2
	}
}

// leaf is pointed at both ends, from v = -1 to 1, and as wide as given.
func leaf(width float64) shape {
	// The intersection of two circles through (0, ±1).
	radius := (1 + width*width/4) / width
	offset := radius - width/2
	return func(u, v float64) float64 { return math.Hypot(math.Abs(u)+offset, v) - radius }
}

// plain has one colour, a little darker towards the lower right.
func plain(c colour) texture {
	return func(u, v float64) colour { return c.times(1 - 0.18*min(max(u+v, -1), 1)) }
}

// veined is a leaf's surface: a pale midrib and side veins.
func veined(c colour) texture {
	return func(u, v float64) colour {
		base := c.times(1 - 0.2*min(max(u, -1), 1))
		side := math.Abs(math.Mod(math.Abs(u)*1.2-v+10, 0.25) - 0.125)
		if math.Abs(u) < 0.03 || side < 0.02 {
			return base.mix(colour{0.85, 0.9, 0.6}, 0.35)
		}
		return base
	}
}

// spotted has round spots on a grid.
func spotted(c, spot colour, spacing, radius float64) texture {
	return func(u, v float64) colour {
		du := math.Mod(u+100*spacing, spacing) - spacing/2
		dv := math.Mod(v+100*spacing, spacing) - spacing/2
		if math.Hypot(du, dv) < radius {
			return spot
		}
		return c.times(1 - 0.15*min(max(u+v, -1), 1))
	}
}

// striped has stripes across the direction of the frame.
func striped(c, stripe colour, spacing, share float64) texture {
	return func(u, v float64) colour {
		if math.Mod(v+100*spacing, spacing) < share*spacing {
			return stripe
		}
		return c.times(1 - 0.15*min(max(u+v, -1), 1))
	}
}

// meadow fills the canvas with smooth noise of three sizes between two colours.
func (c *canvas) meadow(rng *rand.Rand) {
	low := colour{between(rng, 0.1, 0.3), between(rng, 0.25, 0.45), between(rng, 0.08, 0.2)}
	high := colour{between(rng, 0.4, 0.65), between(rng, 0.5, 0.75), between(rng, 0.2, 0.45)}
	size := math.Sqrt(c.area())
	layers := []noise{newNoise(size/3, rng), newNoise(size/10, rng), newNoise(size/40, rng)}
	for i := range c.pixels {
		x, y := float64(i%c.width), float64(i/c.width)
		v := 0.5*layers[0].at(x, y) + 0.3*layers[1].at(x, y) + 0.2*layers[2].at(x, y)
		c.pixels[i] = low.mix(high, v)
	}
}

// noise is smooth noise from 0 to 1: random numbers on a lattice, interpolated.
type noise struct {
	step   float64
	values [64 * 64]float64 // repeated in both directions
}

func newNoise(step float64, rng *rand.Rand) noise {
	n := noise{step: max(step, 1)}
	for k := range n.values {
		n.values[k] = rng.Float64()
	}
	return n
}

func (n *noise) at(x, y float64) float64 {
	x, y = x/n.step, y/n.step
	i, j := int(x), int(y)
	smooth := func(t float64) float64 { return t * t * (3 - 2*t) }
	tx, ty := smooth(x-float64(i)), smooth(y-float64(j))
	value := func(i, j int) float64 { return n.values[j%64*64+i%64] }
	top := value(i, j) + tx*(value(i+1, j)-value(i, j))
	bottom := value(i, j+1) + tx*(value(i+1, j+1)-value(i, j+1))
	return top + ty*(bottom-top)
}
