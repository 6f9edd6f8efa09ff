package ocr

import (
	"image"
	"math"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gobolditalic"
	"golang.org/x/image/font/gofont/goitalic"
	"golang.org/x/image/font/gofont/gomedium"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonoitalic"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/gofont/gosmallcaps"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// Letters are drawn in images of letterRows × letterCols pixels, the size of the letters of Taskar et al. 2003.
const (
	letterRows   = 16
	letterCols   = 8
	letterPixels = letterRows * letterCols
)

// A glyph is the signed distance field of a letter, in a frame around the letter image: the distance of every point to
// the letter's outline in pixels of the image, positive inside. Unlike a bitmap, a field can be drawn at any thickness
// and softness: the ink at a point is a ramp over distance + thickness.
type glyph [fieldRows * fieldCols]float32

const (
	fieldScale  = 6 // field points per image pixel, in each direction
	fieldMargin = 3 // image pixels of frame around the image
	fieldRows   = (letterRows + 2*fieldMargin) * fieldScale
	fieldCols   = (letterCols + 2*fieldMargin) * fieldScale
)

// at returns the distance at a point given in image pixels, origin top left, interpolated between field points.
func (g *glyph) at(x, y float64) float64 {
	fx := min(max((x+fieldMargin)*fieldScale-0.5, 0), fieldCols-1.001)
	fy := min(max((y+fieldMargin)*fieldScale-0.5, 0), fieldRows-1.001)
	c, r := int(fx), int(fy)
	ax, ay := float32(fx)-float32(c), float32(fy)-float32(r)
	at := r*fieldCols + c
	top := g[at] + ax*(g[at+1]-g[at])
	low := g[at+fieldCols] + ax*(g[at+fieldCols+1]-g[at+fieldCols])
	return float64(top + ay*(low-top))
}

// A face is the letters a to z of a font, each made on first use: few words need few of them.
type face struct {
	ttf    []byte
	made   [26]sync.Once
	fields [26]*glyph // not the fields themselves: 9 MB of variables, which every collection of garbage would read
}

// letter returns a letter, 0 for a.
func (f *face) letter(l int) *glyph {
	f.made[l].Do(func() {
		f.fields[l] = new(glyph)
		f.fields[l].fill(openFace(f.ttf), rune('a'+l))
	})
	return f.fields[l]
}

var faces = []*face{
	{ttf: goregular.TTF}, {ttf: gomedium.TTF}, {ttf: gobold.TTF}, {ttf: goitalic.TTF},
	{ttf: gobolditalic.TTF}, {ttf: gomono.TTF},
	{ttf: gomonoitalic.TTF}, {ttf: gosmallcaps.TTF},
}

const (
	emPixels    = 14.5 // font size in image pixels
	baseline    = 11.8 // rows above the baseline
	widest      = 7.2  // columns that a letter may fill
	narrowing   = 0.85 // letters are this much narrower than the font's
	rasterScale = 2 * fieldScale
	inkAlpha    = 128 // a raster point with at least this alpha is inside the letter
)

func openFace(ttf []byte) font.Face {
	parsed, err := opentype.Parse(ttf)
	if err == nil {
		var face font.Face
		face, err = opentype.NewFace(parsed, &opentype.FaceOptions{Size: emPixels * rasterScale, DPI: 72})
		if err == nil {
			return face
		}
	}
	panic(err) // the fonts are embedded, so this cannot fail
}

// fill makes g the field of a letter: centred horizontally, squeezed to fit, on the common baseline.
func (g *glyph) fill(face font.Face, letter rune) {
	box, drawn, origin, _, _ := face.Glyph(fixed.P(0, 0), letter)
	mask := drawn.(*image.Alpha) // the masks of opentype
	width := float64(box.Dx()) / rasterScale
	squeeze := min(narrowing, widest/width)
	middle := float64(box.Min.X+box.Max.X) / 2
	var inside [len(g)]bool
	for r := range fieldRows {
		y := (float64(r)+0.5)/fieldScale - fieldMargin
		row := int(math.Floor((y - baseline) * rasterScale)) // of the raster, from the letter's origin on the baseline
		if row < box.Min.Y || row >= box.Max.Y {
			continue
		}
		ink := mask.Pix[mask.PixOffset(origin.X, row-box.Min.Y+origin.Y):][:box.Dx()]
		for c := range fieldCols {
			x := (float64(c)+0.5)/fieldScale - fieldMargin
			column := int(math.Floor(middle + (x-letterCols/2)/squeeze*rasterScale))
			inside[r*fieldCols+c] = column >= box.Min.X && column < box.Max.X && ink[column-box.Min.X] >= inkAlpha
		}
	}
	var out, in [len(g)]float64
	squaredDistances(&out, &inside, true)
	squaredDistances(&in, &inside, false)
	for i := range g {
		g[i] = float32((math.Sqrt(in[i]) - math.Sqrt(out[i])) / fieldScale)
	}
}

// squaredDistances stores in d, for every point of a field, the squared distance to the nearest point where set equals
// value: first within its column, then by the lower envelopes of the parabolas of its row (Felzenszwalb and
// Huttenlocher 2012).
func squaredDistances(d *[len(glyph{})]float64, set *[len(glyph{})]bool, value bool) {
	const far = 1e6
	for c := range fieldCols {
		nearest := func(r, steps int) int { // the distance in the column, given that of the point before
			if set[r*fieldCols+c] == value {
				return 0
			}
			return steps + 1
		}
		for r, steps := 0, fieldRows; r < fieldRows; r++ {
			steps = nearest(r, steps)
			d[r*fieldCols+c] = float64(steps)
		}
		for r, steps := fieldRows-1, fieldRows; r >= 0; r-- {
			steps = nearest(r, steps)
			at := &d[r*fieldCols+c]
			if *at = min(*at, float64(steps)); *at < fieldRows {
				*at *= *at
			} else {
				*at = far
			}
		}
	}
	var e envelope
	for r := range fieldRows {
		e.lower(d[r*fieldCols : (r+1)*fieldCols])
	}
}

// envelope is the lower envelope of the parabolas (p−q)² + f[q] of a row.
type envelope struct {
	vertex [fieldCols]int     // the parabolas of the envelope, from left to right
	height [fieldCols]float64 // f at their vertices
	from   [fieldCols]float64 // where each becomes the lowest
}

// lower replaces every f[p] by min_q (p−q)² + f[q].
func (e *envelope) lower(f []float64) {
	top := 0
	e.vertex[0], e.height[0], e.from[0] = 0, f[0], math.Inf(-1)
	for q := 1; q < len(f); q++ {
		for {
			v := e.vertex[top]
			s := (f[q] + float64(q*q) - e.height[top] - float64(v*v)) / float64(2*(q-v))
			if s > e.from[top] {
				top++
				e.vertex[top], e.height[top], e.from[top] = q, f[q], s
				break
			}
			top--
		}
	}
	k := 0
	for p := range f {
		for k < top && e.from[k+1] < float64(p) {
			k++
		}
		v := e.vertex[k]
		f[p] = float64((p-v)*(p-v)) + e.height[k]
	}
}
