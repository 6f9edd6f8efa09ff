package window

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/structured/windows"
)

var minusInf = math.Inf(-1)

// scores holds the potentials of one example in a form that bounds sets of boxes fast. Sums over cells are differences
// of sums from the top, in float64. Forbidden cells, and masks, count as 0 in the sums and are counted apart.
type scores struct {
	height, width int

	positive  []float64 // [H+1×W] sums of the positive cells of each column above a row
	negative  []float64 // [H+1×W] of the negative ones
	forbidden []int32   // [H+1×W] numbers of forbidden cells; empty if there are none
	magnitude float64   // Σ |potential| of all that are finite: the scale of rounding errors

	heights, widths rangeMax // of the size terms
	sizes           float64  // Σ |size term|
	loss            float64  // potential of the loss
	gold            []int32  // or nil

	column []float64 // [W] scratch memory: bounds of the columns of a set
}

// reset prepares example b without the boxes that have masks.
func (p *scores) reset(w windows.Window, θ *structured.Potentials, b int, masks oracles.Masks) {
	p.height, p.width = w.Height, w.Width
	p.cells(θ.Parts[0].Of(b), masks)
	p.loss, p.gold = float64(θ.Parts[2].Of(b)[0]), windows.GoldOf(θ.Gold, b)
	p.magnitude += p.sizes + size(p.loss)
	p.column = vec.Grow(p.column, p.width)
}

// size returns |x|, or 0 for −∞.
func size(x float64) float64 {
	if x == minusInf {
		return 0
	}
	return math.Abs(x)
}

// share prepares the size terms, which all examples share.
func (p *scores) share(w windows.Window, terms []float32) {
	p.sizes = 0
	for _, x := range terms {
		p.sizes += size(float64(x))
	}
	p.heights.reset(terms[:w.Height])
	p.widths.reset(terms[w.Height:])
}

// cells sums the cells of each column.
func (p *scores) cells(cells []float32, masks oracles.Masks) {
	n := len(cells)
	p.positive, p.negative = vec.Grow(p.positive, n+p.width), vec.Grow(p.negative, n+p.width)
	clear(p.positive[:p.width])
	clear(p.negative[:p.width])
	some := false
	p.magnitude = 0
	for i, x := range cells {
		plus, minus := max(0, float64(x)), min(0, masks.Hide(float64(x)))
		if minus == minusInf {
			some, minus = true, 0
		}
		p.positive[i+p.width], p.negative[i+p.width] = p.positive[i]+plus, p.negative[i]+minus
		p.magnitude += plus - minus
	}
	p.forbidden = p.forbidden[:0]
	if !some {
		return
	}
	p.forbidden = vec.Grow(p.forbidden, n+p.width)
	clear(p.forbidden[:p.width])
	for i, x := range cells {
		p.forbidden[i+p.width] = p.forbidden[i]
		if masks.Hide(float64(x)) == minusInf {
			p.forbidden[i+p.width]++
		}
	}
}

// columns writes, to p.column, an upper bound of the sum of each column's cells over the rows of any box of the set:
// the positive cells of the largest box's rows and the negative cells of the smallest's. It is the sum itself if the
// rows are known. A column with a forbidden cell in the smallest box's rows gets −∞.
func (p *scores) columns(s boxes) []float64 {
	lo, hi := int(s.left.lo), int(s.right.hi)+1
	to := p.column[lo:hi]
	row := func(sums []float64, r int16) []float64 { return sums[int(r)*p.width+lo:][:len(to)] }
	above, below := row(p.positive, s.top.lo), row(p.positive, s.bottom.hi+1)
	if s.top.hi > s.bottom.lo {
		for i := range to {
			to[i] = below[i] - above[i]
		}
		return to
	}
	least, most := row(p.negative, s.top.hi), row(p.negative, s.bottom.lo+1)
	for i := range to {
		to[i] = below[i] - above[i] + (most[i] - least[i])
	}
	if len(p.forbidden) > 0 {
		first, last := p.forbidden[int(s.top.hi)*p.width+lo:], p.forbidden[int(s.bottom.lo+1)*p.width+lo:]
		for i := range to {
			if last[i] > first[i] {
				to[i] = minusInf
			}
		}
	}
	return to
}

// bound returns an upper bound of the scores of a set's boxes, and the columns of the box that has the largest bound of
// its cells. It is −∞ only if no box is allowed.
func (p *scores) bound(s boxes) (upper float64, left, right int16) {
	heights, most := s.heights()
	terms := p.heights.of(heights-1, most-1)
	widths, most := s.widths()
	terms += p.widths.of(widths-1, most-1)
	discounts := p.gold != nil && p.loss > 0
	if discounts {
		terms += p.loss
	} else {
		terms += s.lossBound(p.loss, p.gold)
	}
	if terms == minusInf {
		return minusInf, 0, 0
	}
	column := p.columns(s)
	if discounts {
		p.discount(s, column)
	}
	upper, left, right = bestRun(column, s)
	return upper + terms, left, right
}

// discount bounds the loss c·(1 − IoU) together with the cells, for c > 0: a box with k of the gold box's columns has
//
//	IoU ≥ k·|rows of s∩g| / |b∪g|
//
// with the set's largest box b and smallest box s, which takes off a constant for each gold column. It is at least as
// tight as boxes.lossBound. A loss below 1 is rounded to float32, by at most 2⁻²⁵.
func (p *scores) discount(s boxes, column []float64) {
	rows := windows.Overlap(int32(s.top.hi), int32(s.bottom.lo), p.gold[0], p.gold[2])
	if rows == 0 {
		return
	}
	off := p.loss * (float64(rows)/float64(s.union(p.gold)) - 0x1p-24)
	lo, hi := max(0, int(p.gold[1])-int(s.left.lo)), min(len(column)-1, int(p.gold[3])-int(s.left.lo))
	for i := lo; i <= hi; i++ {
		column[i] -= off
	}
}

// bestRun returns the largest sum of a run of consecutive columns that begins in s.left and ends in s.right, and that
// run (Kadane's algorithm). column[0] is column s.left.lo.
func bestRun(column []float64, s boxes) (best float64, left, right int16) {
	best = minusInf
	sum, from := minusInf, s.left.lo
	for i, x := range column {
		c := s.left.lo + int16(i)
		if sum < 0 && c <= s.left.hi {
			sum, from = 0, c
		}
		sum += x
		if sum > best && c >= s.right.lo {
			best, left, right = sum, from, c
		}
	}
	return best, left, right
}
