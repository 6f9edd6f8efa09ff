package images

import (
	"math"

	"github.com/dsp-go/dsp/structured"
)

// CellFeatures is D, the number of features of a cell: mean colour (3), standard deviation of the colour (3), orientations of the
// gradient (9), strength of the gradient (1), and position (2).
const CellFeatures = 3 + 3 + orientations + 1 + 2

// orientations is the number of bins of the gradient's direction, over half a turn: an edge and its negative fall into the same bin.
const orientations = 9

// Offsets of the features of a cell.
const (
	spreadAt   = 3
	gradientAt = 6
	strengthAt = gradientAt + orientations
	positionAt = strengthAt + 1
)

// Cells computes the features of a grid of rows × columns cells that divide the image evenly, and writes them to dst
// [rows·columns×CellFeatures], row by row. Colours are from 0 to 1, the orientations sum to at most 1, as they are divided by the strength of the
// gradient in the cell and its eight neighbours (as in histograms of oriented gradients, Dalal and Triggs 2005), and the position is that of
// the cell's centre, from -1 to 1, x before y. The image must have at least one pixel per cell in both directions.
func (m *Image) Cells(dst []float32, rows, columns int) error {
	if rows < 1 || columns < 1 || rows > m.Height || columns > m.Width {
		return structured.BadInput("a grid of %d × %d cells on an image of %d × %d pixels, expected at least one pixel per cell",
			columns, rows, m.Width, m.Height)
	}
	const d = CellFeatures
	dst = dst[:rows*columns*d]
	clear(dst)
	counts := make([]float32, rows*columns)
	for y := range m.Height {
		for x := range m.Width {
			cell := y*rows/m.Height*columns + x*columns/m.Width
			m.addPixel(dst[cell*d:][:d], x, y)
			counts[cell]++
		}
	}
	for cell, n := range counts {
		f := dst[cell*d:][:d]
		for k := range f {
			f[k] /= n
		}
		for c := range 3 {
			f[spreadAt+c] = sqrt(max(0, f[spreadAt+c]-f[c]*f[c]))
		}
		f[positionAt] = (2*float32(cell%columns)+1)/float32(columns) - 1
		f[positionAt+1] = (2*float32(cell/columns)+1)/float32(rows) - 1
	}
	normalise(dst, rows, columns)
	return nil
}

// addPixel adds the colour, its square, and the gradient of a pixel.
func (m *Image) addPixel(f []float32, x, y int) {
	for c, v := range m.Pixels[3*(y*m.Width+x):][:3] {
		v := float32(v) / 255
		f[c] += v
		f[spreadAt+c] += v * v
	}
	dx := m.grey(min(x+1, m.Width-1), y) - m.grey(max(x-1, 0), y)
	dy := m.grey(x, min(y+1, m.Height-1)) - m.grey(x, max(y-1, 0))
	size := sqrt(dx*dx + dy*dy)
	if size == 0 {
		return
	}
	f[strengthAt] += size
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

// grey returns the brightness of a pixel from 0 to 1.
func (m *Image) grey(x, y int) float32 {
	p := m.Pixels[3*(y*m.Width+x):][:3]
	return (0.299*float32(p[0]) + 0.587*float32(p[1]) + 0.114*float32(p[2])) / 255
}

// normalise divides the orientations of every cell by the mean strength of the gradient around it, or by its own if that is larger.
func normalise(f []float32, rows, columns int) {
	const d = CellFeatures
	const faint = 0.01 // below this strength, noise is not made to look like structure
	for r := range rows {
		for c := range columns {
			sum, n := float32(0), float32(0)
			for y := max(r-1, 0); y <= min(r+1, rows-1); y++ {
				for x := max(c-1, 0); x <= min(c+1, columns-1); x++ {
					sum += f[(y*columns+x)*d+strengthAt]
					n++
				}
			}
			cell := f[(r*columns+c)*d:][:d]
			by := max(sum/n, cell[strengthAt]) + faint
			for k := range cell[gradientAt:strengthAt] {
				cell[gradientAt+k] /= by
			}
		}
	}
}

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }
