package images

import (
	"math"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/boxes"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// CellFeatures is D, the number of features of a cell: mean colour (3), standard deviation of the colour (3),
// orientations of the gradient (9), strength of the gradient (1), and position (2).
const CellFeatures = 3 + 3 + orientations + 1 + 2

// orientations is the number of bins of the gradient's direction, over half a turn: an edge and its negative fall into
// the same bin.
const orientations = 9

// Offsets of the features of a cell. The mean colour is at 0.
const (
	spreadAt   = 3
	gradientAt = 6
	positionAt = StrengthAt + 1

	// StrengthAt is the offset of the strength of the gradient.
	StrengthAt = gradientAt + orientations
)

// Cells computes the features of a grid of rows × columns cells that divide the image evenly, and writes them to dst
// [rows·columns×CellFeatures], row by row. Colours are from 0 to 1. The orientations sum to at most 1, as they are
// divided by the strength of the gradient in the cell and its eight neighbours (as in histograms of oriented gradients,
// Dalal and Triggs 2005). The position is that of the cell's centre, from -1 to 1, x before y. The image must have at
// least one pixel per cell in both directions.
func (m *Image) Cells(dst []float32, rows, columns int) error {
	return m.plane().cells(dst, rows, columns)
}

// plane returns the image as numbers.
func (m *Image) plane() *plane {
	p := &plane{width: m.Width, height: m.Height, pixels: make([]float32, len(m.Pixels))}
	for i, v := range m.Pixels {
		p.pixels[i] = float32(v) / 255
	}
	return p
}

// Describer computes the features of the cells of crops. It keeps scratch memory and serves one goroutine at a time.
type Describer struct {
	Side int // a crop is resized to Side × Side pixels
	Grid int // and divided into Grid × Grid cells, at most Side
	crop Cropper
	plane
}

// Width returns the number of features of a box.
func (d *Describer) Width() int { return d.Grid * d.Grid * CellFeatures }

// Describe writes the features of a box to dst [Grid×Grid×CellFeatures], the cells row by row. The box must overlap the
// image.
func (d *Describer) Describe(dst []float32, m *Image, box boxes.Box) error {
	d.width, d.height = d.Side, d.Side
	d.pixels = vec.Grow(d.pixels, 3*d.Side*d.Side)
	d.crop.Crop(d.pixels, m, box, d.Side, d.Side)
	return d.cells(dst, d.Grid, d.Grid)
}

// plane is an image as numbers from 0 to 1.
type plane struct {
	width, height int
	pixels        []float32 // [height×width×3]
	grey          []float32 // [height×width] brightness
	counts        []float32 // pixels per cell
}

func (p *plane) cells(dst []float32, rows, columns int) error {
	if rows < 1 || columns < 1 || rows > p.height || columns > p.width {
		return structured.BadInput("a grid of %d × %d cells on an image of %d × %d pixels, expected at "+
			"least one pixel per cell",
			columns, rows, p.width, p.height)
	}
	const d = CellFeatures
	dst = dst[:rows*columns*d]
	clear(dst)
	p.begin(rows * columns)
	for y := range p.height {
		for x := range p.width {
			cell := y*rows/p.height*columns + x*columns/p.width
			p.addPixel(dst[cell*d:][:d], x, y)
			p.counts[cell]++
		}
	}
	p.average(dst)
	for cell := range p.counts {
		f := dst[cell*d:][:d]
		f[positionAt] = (2*float32(cell%columns)+1)/float32(columns) - 1
		f[positionAt+1] = (2*float32(cell/columns)+1)/float32(rows) - 1
	}
	normalise(dst, rows, columns)
	return nil
}

// begin prepares the plane for the features of n cells.
func (p *plane) begin(n int) {
	p.counts = vec.Grow(p.counts, n)
	clear(p.counts)
	p.grey = vec.Grow(p.grey, p.width*p.height)
	for i := range p.grey {
		c := p.pixels[3*i:][:3]
		p.grey[i] = 0.299*c[0] + 0.587*c[1] + 0.114*c[2]
	}
}

// average turns the sums over the pixels of every cell into means, and those of squared colours into standard
// deviations.
func (p *plane) average(dst []float32) {
	for cell, n := range p.counts {
		f := dst[cell*CellFeatures:][:CellFeatures]
		for k := range f {
			f[k] /= n
		}
		for c := range 3 {
			f[spreadAt+c] = sqrt(max(0, f[spreadAt+c]-f[c]*f[c]))
		}
	}
}

// addPixel adds the colour, its square, and the gradient of a pixel.
func (p *plane) addPixel(f []float32, x, y int) {
	for c, v := range p.pixels[3*(y*p.width+x):][:3] {
		f[c] += v
		f[spreadAt+c] += v * v
	}
	row := p.grey[y*p.width:][:p.width]
	dx := row[min(x+1, p.width-1)] - row[max(x-1, 0)]
	dy := p.grey[min(y+1, p.height-1)*p.width+x] - p.grey[max(y-1, 0)*p.width+x]
	size := sqrt(dx*dx + dy*dy)
	if size == 0 {
		return
	}
	f[StrengthAt] += size
	// The two nearest bins share the gradient. Bin k is centred at the angle k·π/9.
	bin := math.Atan2(float64(dy), float64(dx)) / math.Pi * orientations
	if bin < 0 {
		bin += orientations
	}
	low := int(bin)
	share := float32(bin - float64(low))
	f[gradientAt+low%orientations] += (1 - share) * size
	f[gradientAt+(low+1)%orientations] += share * size
}

// faint is the strength of a gradient below which noise is not made to look like structure.
const faint = 0.01

// normalise divides the orientations of every cell by the mean strength of the gradient around it, or by its own if
// that is larger.
func normalise(f []float32, rows, columns int) {
	const d = CellFeatures
	for r := range rows {
		for c := range columns {
			sum, n := float32(0), float32(0)
			for y := max(r-1, 0); y <= min(r+1, rows-1); y++ {
				for x := max(c-1, 0); x <= min(c+1, columns-1); x++ {
					sum += f[(y*columns+x)*d+StrengthAt]
					n++
				}
			}
			cell := f[(r*columns+c)*d:][:d]
			by := max(sum/n, cell[StrengthAt]) + faint
			for k := range cell[gradientAt:StrengthAt] {
				cell[gradientAt+k] /= by
			}
		}
	}
}

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }
