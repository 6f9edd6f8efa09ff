package scenes

import (
	"math"
	"math/rand/v2"

	"github.com/dsp-go/dsp/models/data/masks"
	"github.com/dsp-go/dsp/structured/images"
)

// draw draws a scene: shapes from the back to the front, then moss that looks like other classes, light and noise. In
// the mask, a pixel beside one of another class is void, as annotators leave out outlines.
func draw(o Options, rng *rand.Rand) (*images.Image, *masks.Mask) {
	side := math.Sqrt(float64(o.Width * o.Height))
	things := []surface{newSurface(0, 0, 0, 2*math.Pi*rng.Float64(), o.Difficulty, rng)}
	classes, of := []uint8{0}, make([]uint8, o.Width*o.Height) // of: the thing that each pixel shows
	count := o.Classes + 1 + rng.IntN(3)
	for k := range count {
		class := 1 + k%(o.Classes-1) // every class, and then some again
		x, y, angle := float64(o.Width)*rng.Float64(), float64(o.Height)*rng.Float64(), 2*math.Pi*rng.Float64()
		things, classes = append(things, newSurface(class, x, y, angle, o.Difficulty, rng)), append(classes, uint8(class))
		fill(of, o.Width, newOutline(x, y, side*between(rng, 0.15, 0.33), angle, rng), uint8(k+1))
	}
	pixels := make([]colour, len(of))
	moss := newMoss(o, rng)
	mask := masks.New(o.Width, o.Height)
	for i, k := range of {
		thing := &things[k]
		if class := moss.over(classes[k], i); class != classes[k] {
			thing = &moss.looks[class]
		}
		pixels[i] = thing.at(float64(i%o.Width), float64(i/o.Width))
		if !onOutline(of, classes, o.Width, i) {
			mask.Labels[i] = classes[k]
		}
	}
	spoil(pixels, o, rng)
	return toImage(pixels, o.Width, o.Height), mask
}

// onOutline reports whether a pixel has one of another class beside, above or below it.
func onOutline(of, classes []uint8, width, i int) bool {
	class := classes[of[i]]
	return i%width > 0 && classes[of[i-1]] != class || i%width < width-1 && classes[of[i+1]] != class ||
		i >= width && classes[of[i-width]] != class || i+width < len(of) && classes[of[i+width]] != class
}

// outline is a shape around a centre.
type outline struct {
	x, y, size, angle float64
	radius            func(angle float64) float64 // of its rim, in units of size
}

// newOutline draws an ellipse, a rectangle, or a shape with bays.
func newOutline(x, y, size, angle float64, rng *rand.Rand) outline {
	s := outline{x: x, y: y, size: size, angle: angle}
	a, b := between(rng, 0.7, 1.3), between(rng, 0.7, 1.3)
	switch rng.IntN(3) {
	case 0:
		s.radius = func(t float64) float64 { return 1 / math.Hypot(math.Cos(t)/a, math.Sin(t)/b) }
	case 1:
		s.radius = func(t float64) float64 { return 0.85 / max(math.Abs(math.Cos(t))/a, math.Abs(math.Sin(t))/b) }
	default:
		bays, depth := float64(3+rng.IntN(4)), between(rng, 0.1, 0.3)
		s.radius = func(t float64) float64 { return a * (1 + depth*math.Cos(bays*t)) }
	}
	return s
}

// fill writes number k into the pixels of a shape.
func fill(of []uint8, width int, s outline, k uint8) {
	for i := range of {
		dx, dy := float64(i%width)-s.x, float64(i/width)-s.y
		if math.Hypot(dx, dy) < s.size*s.radius(math.Atan2(dy, dx)-s.angle) {
			of[i] = k
		}
	}
}

// moss is what grows on things in patches about as large as a cell, and looks like another class than theirs.
type moss struct {
	looks        []surface // of each class
	where, which []float64 // smooth noise: where moss grows, and what it looks like there
	above        float64   // of where there is moss
}

func newMoss(o Options, rng *rand.Rand) *moss {
	// With moss on share (C−1)/C of the pixels, what a pixel looks like would say nothing about its class.
	share := 0.9 * (1 - 1/float64(o.Classes)) * (1 - math.Exp(-o.Difficulty))
	m := &moss{where: blotches(o.Width, o.Height, rng), which: blotches(o.Width, o.Height, rng),
		above: math.Sqrt2 * math.Erfinv(1-2*share)}
	for class := range o.Classes {
		m.looks = append(m.looks, newSurface(class, 0, 0, 2*math.Pi*rng.Float64(), o.Difficulty, rng))
	}
	return m
}

// over returns the class that pixel i looks like on a thing of a class.
func (m *moss) over(class uint8, i int) uint8 {
	if m.where[i] <= m.above {
		return class
	}
	classes := len(m.looks)
	quantile := 0.5 * (1 + math.Erf(m.which[i]/math.Sqrt2)) // from 0 to 1
	other := 1 + min(int(quantile*float64(classes-1)), classes-2)
	return uint8((int(class) + other) % classes)
}

// spoil lights the scene unevenly, and adds noise.
func spoil(pixels []colour, o Options, rng *rand.Rand) {
	slope := 0.15 * math.Tanh(o.Difficulty) * rng.Float64()
	sin, cos := math.Sincos(2 * math.Pi * rng.Float64())
	grey := blotches(o.Width, o.Height, rng)
	for i := range pixels {
		x, y := 2*float64(i%o.Width)/float64(o.Width)-1, 2*float64(i/o.Width)/float64(o.Height)-1
		for k := range pixels[i] {
			pixels[i][k] = pixels[i][k]*(1+slope*(cos*x+sin*y)) + o.Difficulty*(0.03*grey[i]+0.04*rng.NormFloat64())
		}
	}
}

// blotchRadius is half the width of the boxes that blotches are averages over, in pixels.
const blotchRadius = 3

// blotches returns smooth noise of mean 0 and variance 1: white noise averaged twice over boxes.
func blotches(width, height int, rng *rand.Rand) []float64 {
	x := make([]float64, width*height)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	line := make([]float64, max(width, height))
	for range 2 {
		for y := range height {
			average(x[y*width:], line, width, 1)
		}
		for c := range width {
			average(x[c:], line, height, width)
		}
	}
	sum, squares := 0.0, 0.0
	for _, v := range x {
		sum, squares = sum+v, squares+v*v
	}
	n := float64(len(x))
	mean := sum / n
	spread := math.Sqrt(squares/n - mean*mean)
	for i := range x {
		x[i] = (x[i] - mean) / spread
	}
	return x
}

// average replaces n numbers that are step apart by the means of those around them; the line is a circle.
func average(x, line []float64, n, step int) {
	for i := range n {
		line[i] = x[i*step]
	}
	sum := 0.0
	for d := -blotchRadius; d <= blotchRadius; d++ {
		sum += line[(d+n)%n]
	}
	for i := range n {
		x[i*step] = sum / (2*blotchRadius + 1)
		sum += line[(i+blotchRadius+1)%n] - line[(i-blotchRadius+n)%n]
	}
}

// toImage rounds colours to bytes.
func toImage(pixels []colour, width, height int) *images.Image {
	m := &images.Image{Width: width, Height: height, Pixels: make([]uint8, 0, 3*len(pixels))}
	for _, p := range pixels {
		for _, v := range p {
			m.Pixels = append(m.Pixels, uint8(math.Round(255*min(max(v, 0), 1))))
		}
	}
	return m
}

// between draws a number from an interval.
func between(rng *rand.Rand, low, high float64) float64 { return low + (high-low)*rng.Float64() }
