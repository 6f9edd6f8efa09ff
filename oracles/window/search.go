package window

import (
	"github.com/dsp-go/dsp/structured/windows"
)

// scanPairs is the largest number of pairs of a left and a right column that are tried one by one once the rows are
// known.
const scanPairs = 256

// search is a best-first branch and bound over sets of boxes.
type search struct {
	scores
	queue queue
	found found
	limit int // most sets to take from the queue; 0 for all that it takes

	taken int     // sets taken from the queue
	upper float64 // bound of the best score
	ended bool    // the boxes found are the best ones
}

// run finds the best boxes of the prepared example, beside those that are found already. If the limit cuts it short, it
// finds some good boxes, at least one if any is allowed, and upper bounds the best score.
func (s *search) run() {
	s.queue, s.taken, s.ended = s.queue[:0], 0, true
	rows, columns := interval{0, int16(s.height - 1)}, interval{0, int16(s.width - 1)}
	s.visit(boxes{rows, columns, rows, columns})
	for len(s.queue) > 0 {
		if top := s.queue[0].upper; top <= s.found.threshold() {
			break
		} else if s.limit > 0 && s.taken >= s.limit && len(s.found.boxes) > 0 {
			s.ended, s.upper = false, top
			return
		}
		s.taken++
		next := s.queue.pop().boxes
		if next.rowsKnown() && next.pairs() <= scanPairs {
			s.scan(next)
			continue
		}
		a, b := next.split()
		s.visit(a)
		s.visit(b)
	}
}

// visit puts a set in the queue unless it cannot hold a better box than those found. One box of the set is tried at
// once: the columns of the best bound and the rows in the middle.
func (s *search) visit(set boxes) {
	upper, left, right := s.bound(set)
	threshold := s.found.threshold()
	if upper == minusInf || upper <= threshold {
		return
	}
	s.queue.push(node{upper, set})
	y := box{set.top.lo + (set.top.hi-set.top.lo)/2, left, set.bottom.hi - (set.bottom.hi-set.bottom.lo)/2, right}
	if s.found.k > 1 && set.rowsKnown() { // scan will find it
		return
	}
	if y[0] > y[2] {
		y[0] = y[2]
	}
	if score := s.of(y); score > threshold {
		s.found.add(y, score)
	}
}

// of returns the score of a box.
func (s *search) of(y box) float64 {
	set := boxes{interval{y[0], y[0]}, interval{y[1], y[1]}, interval{y[2], y[2]}, interval{y[3], y[3]}}
	score := s.heights.levels[y[2]-y[0]] + s.widths.levels[y[3]-y[1]] + set.lossBound(s.loss, s.gold)
	for _, x := range s.columns(set) {
		score += x
	}
	return score
}

// scan tries every box of a set with known rows, unless its cells rule it out.
func (s *search) scan(set boxes) {
	column, threshold := s.columns(set), s.found.threshold()
	top, bottom := set.top.lo, set.bottom.lo
	height := int(bottom-top) + 1
	base := s.heights.levels[height-1]
	inRows, area, goldLeft, goldRight := 0, 0, 0, -1
	if s.gold != nil && s.loss != 0 {
		inRows = windows.Overlap(int32(top), int32(bottom), s.gold[0], s.gold[2])
		area, goldLeft, goldRight = windows.Area(s.gold), int(s.gold[1]), int(s.gold[3])
	}
	for l := int(set.left.lo); l <= int(set.left.hi); l++ {
		sum := base
		for r := l; r <= int(set.right.hi); r++ {
			sum += column[r-int(set.left.lo)]
			if sum == minusInf {
				break
			}
			if r < int(set.right.lo) {
				continue
			}
			score := sum + s.widths.levels[r-l]
			if area > 0 {
				common := inRows * max(0, min(r, goldRight)-max(l, goldLeft)+1)
				iou := float64(common) / float64(height*(r-l+1)+area-common)
				if loss := float32(1 - iou); loss > 0 {
					score += s.loss * float64(loss)
				}
			}
			if score > threshold {
				s.found.add(box{top, int16(l), bottom, int16(r)}, score)
				threshold = s.found.threshold()
			}
		}
	}
}
