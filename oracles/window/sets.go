package window

import "github.com/dsp-go/dsp/structured/windows"

// interval is the numbers lo to hi.
type interval struct{ lo, hi int16 }

func (i interval) width() int { return int(i.hi - i.lo) }

// split cuts an interval in two halves.
func (i interval) split() (low, high interval) {
	mid := i.lo + (i.hi-i.lo)/2
	return interval{i.lo, mid}, interval{mid + 1, i.hi}
}

// boxes is a set of boxes: those whose four numbers lie in four intervals, with top ≤ bottom and left ≤ right. Its
// largest box has rows top.lo to bottom.hi and columns left.lo to right.hi. Every box contains the smallest one, rows
// top.hi to bottom.lo and columns left.hi to right.lo, which may be empty.
type boxes struct{ top, left, bottom, right interval }

// clip returns the set without the numbers that no box of it has.
func (s boxes) clip() boxes {
	s.top.hi, s.bottom.lo = min(s.top.hi, s.bottom.hi), max(s.bottom.lo, s.top.lo)
	s.left.hi, s.right.lo = min(s.left.hi, s.right.hi), max(s.right.lo, s.left.lo)
	return s
}

// rowsKnown reports whether all boxes have the same rows.
func (s boxes) rowsKnown() bool { return s.top.lo == s.top.hi && s.bottom.lo == s.bottom.hi }

// pairs returns the number of pairs of a left and a right, those with left > right included.
func (s boxes) pairs() int { return (s.left.width() + 1) * (s.right.width() + 1) }

// split cuts the set in two. It splits rows first, the wider of the two intervals, because the bound knows the best
// columns.
func (s boxes) split() (a, b boxes) {
	a, b = s, s
	switch {
	case !s.rowsKnown() && s.top.width() >= s.bottom.width():
		a.top, b.top = s.top.split()
	case !s.rowsKnown():
		a.bottom, b.bottom = s.bottom.split()
	case s.left.width() >= s.right.width():
		a.left, b.left = s.left.split()
	default:
		a.right, b.right = s.right.split()
	}
	return a.clip(), b.clip()
}

// heights returns the least and the largest number of rows of a box in the set.
func (s boxes) heights() (least, most int) {
	return max(1, int(s.bottom.lo-s.top.hi)+1), int(s.bottom.hi-s.top.lo) + 1
}

// widths returns the least and the largest number of columns of a box in the set.
func (s boxes) widths() (least, most int) {
	return max(1, int(s.right.lo-s.left.hi)+1), int(s.right.hi-s.left.lo) + 1
}

// largestIoU returns an upper bound of the IoU of a gold box with the boxes of the set: |b∩g| / |s∪g| with the largest
// box b and the smallest box s.
func (s boxes) largestIoU(gold []int32) float64 {
	common, union := s.inLargest(gold), windows.Area(gold)+s.smallest()-s.inSmallest(gold)
	return min(1, float64(common)/float64(union))
}

// leastIoU returns a lower bound: |s∩g| / |b∪g|.
func (s boxes) leastIoU(gold []int32) float64 {
	return float64(s.inSmallest(gold)) / float64(s.union(gold))
}

// union returns how many cells the largest box and a gold box cover together.
func (s boxes) union(gold []int32) int {
	largest := (int(s.bottom.hi-s.top.lo) + 1) * (int(s.right.hi-s.left.lo) + 1)
	return windows.Area(gold) + largest - s.inLargest(gold)
}

// smallest returns the number of cells of the smallest box.
func (s boxes) smallest() int {
	return max(0, int(s.bottom.lo-s.top.hi)+1) * max(0, int(s.right.lo-s.left.hi)+1)
}

// inLargest returns how many cells of a gold box are in the largest box.
func (s boxes) inLargest(gold []int32) int {
	return windows.Overlap(int32(s.top.lo), int32(s.bottom.hi), gold[0], gold[2]) *
		windows.Overlap(int32(s.left.lo), int32(s.right.hi), gold[1], gold[3])
}

// inSmallest returns how many are in the smallest box.
func (s boxes) inSmallest(gold []int32) int {
	return windows.Overlap(int32(s.top.hi), int32(s.bottom.lo), gold[0], gold[2]) *
		windows.Overlap(int32(s.left.hi), int32(s.right.lo), gold[1], gold[3])
}

// lossBound returns an upper bound of c·(1 − IoU) over the boxes of the set, with the IoU's loss rounded as in
// windows.Loss. Rounding keeps order, so the bound holds exactly.
func (s boxes) lossBound(c float64, gold []int32) float64 {
	if gold == nil || c == 0 {
		return 0
	}
	l := float32(0)
	if c > 0 {
		l = float32(1 - s.leastIoU(gold))
	} else {
		l = float32(1 - s.largestIoU(gold))
	}
	if l == 0 {
		return 0
	}
	return c * float64(l)
}
