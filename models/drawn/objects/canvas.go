package objects

import (
	"math"
	"math/rand/v2"

	"github.com/dsp-go/dsp/structured/boxes"
	"github.com/dsp-go/dsp/structured/images"
)

// colour is red, green and blue from 0 to 1.
type colour [3]float64

// times returns the colour made brighter or darker.
func (c colour) times(f float64) colour { return colour{c[0] * f, c[1] * f, c[2] * f} }

// mix returns the colour between c and d; share 1 is d.
func (c colour) mix(d colour, share float64) colour {
	for k := range c {
		c[k] += share * (d[k] - c[k])
	}
	return c
}

// canvas is an image in the making.
type canvas struct {
	width, height int
	pixels        []colour
}

func newCanvas(width, height int) *canvas {
	return &canvas{width, height, make([]colour, width*height)}
}

// area returns the number of pixels.
func (c *canvas) area() float64 { return float64(c.width * c.height) }

// frame is a place on the canvas: its centre, the length of its unit in pixels, and its direction.
type frame struct{ x, y, unit, sin, cos float64 }

func newFrame(x, y, unit, angle float64) frame {
	sin, cos := math.Sincos(angle)
	return frame{x, y, unit, sin, cos}
}

// local returns a point of the canvas in the units and the direction of the frame.
func (f frame) local(x, y float64) (u, v float64) {
	x, y = (x-f.x)/f.unit, (y-f.y)/f.unit
	return f.cos*x + f.sin*y, f.cos*y - f.sin*x
}

// shape is the signed distance from the rim in units of a frame, negative inside; and texture the colour at a point.
// Both get local points.
type (
	shape   func(u, v float64) float64
	texture func(u, v float64) colour
)

// paint draws a shape with soft edges; reach bounds its distance from the frame's centre, in units. It returns the box
// of the pixels that are covered by half or more, which is empty if there are none.
func (c *canvas) paint(f frame, reach float64, s shape, t texture, opacity float64) extent {
	box := noExtent()
	r := reach*f.unit + 1
	for y := max(0, int(f.y-r)); y < min(c.height, int(f.y+r)+1); y++ {
		for x := max(0, int(f.x-r)); x < min(c.width, int(f.x+r)+1); x++ {
			u, v := f.local(float64(x)+0.5, float64(y)+0.5)
			cover := min(max(0.5-s(u, v)*f.unit, 0), 1)
			if cover == 0 {
				continue
			}
			if cover >= 0.5 {
				box.add(x, y)
			}
			p := &c.pixels[y*c.width+x]
			*p = p.mix(t(u, v), cover*opacity)
		}
	}
	return box
}

// extent is the smallest box around pixels.
type extent struct{ left, top, right, bottom int } // inclusive

func noExtent() extent { return extent{math.MaxInt, math.MaxInt, -1, -1} }

func (e *extent) add(x, y int) {
	e.left, e.top = min(e.left, x), min(e.top, y)
	e.right, e.bottom = max(e.right, x), max(e.bottom, y)
}

// join returns the box around both.
func (e extent) join(o extent) extent {
	return extent{min(e.left, o.left), min(e.top, o.top), max(e.right, o.right), max(e.bottom, o.bottom)}
}

func (e extent) box() boxes.Box {
	return boxes.Box{X: float64(e.left), Y: float64(e.top), Width: float64(e.right - e.left + 1),
		Height: float64(e.bottom - e.top + 1)}
}

// light multiplies the picture by a brightness that grows along a random direction, and adds noise.
func (c *canvas) light(difficulty float64, rng *rand.Rand) {
	gain := math.Exp(0.22 * difficulty * clippedNormal(rng))
	slope := math.Tanh(0.3 * difficulty * clippedNormal(rng))
	sin, cos := math.Sincos(2 * math.Pi * rng.Float64())
	warm := 0.06 * difficulty * clippedNormal(rng)
	noise := 0.03 * difficulty
	tint := colour{1 + warm, 1, 1 - warm}
	for i := range c.pixels {
		x, y := 2*float64(i%c.width)/float64(c.width)-1, 2*float64(i/c.width)/float64(c.height)-1
		f := gain * (1 + 0.7*slope*(cos*x+sin*y))
		for k := range 3 {
			c.pixels[i][k] = c.pixels[i][k]*f*tint[k] + noise*rng.NormFloat64()
		}
	}
}

// image rounds the canvas to bytes.
func (c *canvas) image() *images.Image {
	m := &images.Image{Width: c.width, Height: c.height, Pixels: make([]uint8, 0, 3*len(c.pixels))}
	for _, p := range c.pixels {
		for _, v := range p {
			m.Pixels = append(m.Pixels, uint8(math.Round(255*min(max(v, 0), 1))))
		}
	}
	return m
}

// clippedNormal draws a standard normal number, clipped to [-2, 2].
func clippedNormal(rng *rand.Rand) float64 { return min(max(rng.NormFloat64(), -2), 2) }

// between draws a number from an interval.
func between(rng *rand.Rand, low, high float64) float64 { return low + (high-low)*rng.Float64() }
