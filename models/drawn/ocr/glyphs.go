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

// A glyph is the signed distance field of a letter, in a frame around the letter image: the distance of every point to the
// letter's outline in pixels of the image, positive inside. Unlike a bitmap, a field can be drawn at any thickness and
// softness: the ink at a point is a ramp over distance + thickness.
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

// glyphs returns the letters a to z in every face. It builds them on first use.
var glyphs = sync.OnceValue(func() [][26]glyph {
	faces := [][]byte{
		goregular.TTF, gomedium.TTF, gobold.TTF, goitalic.TTF, gobolditalic.TTF, gomono.TTF, gomonoitalic.TTF, gosmallcaps.TTF,
	}
	all := make([][26]glyph, len(faces))
	for i, ttf := range faces {
		face := openFace(ttf)
		for l := range all[i] {
			all[i][l].fill(face, rune('a'+l))
		}
	}
	return all
})

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
	mask := drawn.(*image.Alpha)     // the masks of opentype
	ink := func(x, y float64) bool { // in raster pixels, from the letter's origin on the baseline
		p := image.Pt(int(math.Floor(x)), int(math.Floor(y)))
		return p.In(box) && mask.AlphaAt(p.X-box.Min.X+origin.X, p.Y-box.Min.Y+origin.Y).A >= inkAlpha
	}
	width := float64(box.Dx()) / rasterScale
	squeeze := min(narrowing, widest/width)
	middle := float64(box.Min.X+box.Max.X) / 2
	inside := make([]bool, len(g))
	for r := range fieldRows {
		y := (float64(r)+0.5)/fieldScale - fieldMargin
		for c := range fieldCols {
			x := (float64(c)+0.5)/fieldScale - fieldMargin
			inside[r*fieldCols+c] = ink(middle+(x-letterCols/2)/squeeze*rasterScale, (y-baseline)*rasterScale)
		}
	}
	out, in := squaredDistances(inside, true), squaredDistances(inside, false)
	for i := range g {
		g[i] = float32((math.Sqrt(in[i]) - math.Sqrt(out[i])) / fieldScale)
	}
}

// squaredDistances returns, for every point of a field, the squared distance to the nearest point where set equals value: first within its
// column, then by the lower envelopes of the parabolas of its row (Felzenszwalb and Huttenlocher 2012).
func squaredDistances(set []bool, value bool) []float64 {
	const far = 1e6
	d := make([]float64, len(set))
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
	return d
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
