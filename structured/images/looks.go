package images

import (
	"math"

	"github.com/dsp-go/dsp/structured"
)

// Look returns what the image looks like, with a size in pixels that the caller chooses (structured.ImageLook).
func (m *Image) Look(size float64) structured.ImageLook {
	var colour [Channels]int
	var sum, squares float64
	for i := 0; i < len(m.Pixels); i += Channels {
		p := m.Pixels[i:][:Channels]
		for c, v := range p {
			colour[c] += int(v)
		}
		v := 0.299*float64(p[0]) + 0.587*float64(p[1]) + 0.114*float64(p[2])
		sum, squares = sum+v, squares+v*v
	}
	n := float64(len(m.Pixels) / Channels)
	look := structured.ImageLook{Size: float32(size)}
	for c, total := range colour {
		look.Colour[c] = float32(float64(total) / n / 255)
	}
	look.Contrast = float32(math.Sqrt(max(0, squares/n-sum/n*sum/n)) / 255)
	return look
}

// Scale returns the root of the area, the size in pixels of an image whose sides matter alike.
func (m *Image) Scale() float64 { return math.Sqrt(float64(m.Width) * float64(m.Height)) }

// Looks is what several images look like: the means over images of their colours, of the logarithm of their contrast
// and of that of their size, and the standard deviations between images.
type Looks struct {
	Images int             `json:"images"`
	Mean   [looked]float64 `json:"mean"`
	Spread [looked]float64 `json:"spread"`
}

// looked is how many numbers of an image are compared: three colours, contrast and size.
const looked = Channels + 2

// leastContrast is added to contrasts before their logarithm is taken.
const leastContrast = 0.01

// SummariseLooks returns what the images look like that somebody has looked at; nil if there are none.
func SummariseLooks(all []structured.ImageLook) *Looks {
	l := &Looks{}
	var squares [looked]float64
	for _, look := range all {
		if look.Size == 0 {
			continue
		}
		l.Images++
		x := [looked]float64{Channels: math.Log(float64(look.Contrast) + leastContrast),
			Channels + 1: math.Log(float64(look.Size))}
		for c, v := range look.Colour {
			x[c] = float64(v)
		}
		for k, v := range x {
			from := v - l.Mean[k]
			l.Mean[k] += from / float64(l.Images)
			squares[k] += from * (v - l.Mean[k])
		}
	}
	if l.Images == 0 {
		return nil
	}
	for k, s := range squares {
		l.Spread[k] = math.Sqrt(s / float64(max(1, l.Images-1)))
	}
	return l
}

// Colour returns the mean of red, green and blue over the images, from 0 to 1.
func (l *Looks) Colour() [Channels]float64 { return [Channels]float64(l.Mean[:Channels]) }

// Contrast returns the geometric mean of the standard deviations of brightness within images, which is from 0 to 1.
func (l *Looks) Contrast() float64 { return max(0, math.Exp(l.Mean[Channels])-leastContrast) }

// Size returns the geometric mean of the images' sizes, in pixels.
func (l *Looks) Size() float64 { return math.Exp(l.Mean[Channels+1]) }

// Valid reports whether l can be what some images look like.
func (l *Looks) Valid() bool {
	ok := l.Images > 0
	for k, m := range l.Mean {
		ok = ok && math.Abs(m) <= 100 && l.Spread[k] >= 0 && l.Spread[k] <= 100
	}
	return ok
}

// Difference is one in what images look like.
type Difference int

// The differences.
const (
	OtherColours Difference = iota
	OtherContrast
	OtherSize
)

// alike is how far the means of images may differ of which a model reads one as it reads the other: for colours, the
// logarithm of contrast and that of size.
var alike = [looked]float64{.03, .03, .03, math.Log(1.15), math.Log(1.3)}

// Unlike returns in what other images differ from the training images l so much that they are of another kind. The mean
// of a set of n images may be 1 + 6/n^¾ standard deviations between training images away, beyond what is alike anyway:
// a whole set of images each of which would be unusual is of another kind, and so is a single image that is far from
// all. With few training images their standard deviation says little, and more is allowed.
func (l *Looks) Unlike(other *Looks) (all []Difference) {
	if l == nil || other == nil {
		return nil
	}
	few := 1 + 5/float64(l.Images)
	found := map[Difference]bool{}
	for k, m := range other.Mean {
		limit := few * (alike[k] + (1+6/math.Pow(float64(other.Images), 0.75))*l.Spread[k])
		kind := max(OtherColours, Difference(k-Channels+1))
		if math.Abs(m-l.Mean[k]) > limit && !found[kind] {
			found[kind] = true
			all = append(all, kind)
		}
	}
	return all
}
