package window

// box is a single box: top, left, bottom, right.
type box [4]int16

// found holds the K best distinct boxes that the search has seen, best first. Boxes with equal scores are in the order
// of their numbers, as far as they are kept.
type found struct {
	k     int
	boxes []box
	score []float64
}

func (f *found) reset(k int) { f.k, f.boxes, f.score = k, f.boxes[:0], f.score[:0] }

// threshold returns the score that a further box has to exceed.
func (f *found) threshold() float64 {
	if len(f.boxes) < f.k {
		return minusInf
	}
	return f.score[f.k-1]
}

// add adds a box with a score above the threshold unless it is there already.
func (f *found) add(y box, score float64) {
	for _, z := range f.boxes {
		if z == y {
			return
		}
	}
	if len(f.boxes) < f.k {
		f.boxes, f.score = append(f.boxes, y), append(f.score, score)
	}
	f.place(len(f.boxes)-1, y, score)
}

// place puts a box in its place among the first at boxes.
func (f *found) place(at int, y box, score float64) {
	for at > 0 && (f.score[at-1] < score || f.score[at-1] == score && y.before(f.boxes[at-1])) {
		f.boxes[at], f.score[at] = f.boxes[at-1], f.score[at-1]
		at--
	}
	f.boxes[at], f.score[at] = y, score
}

func (y box) before(z box) bool {
	for i := range y {
		if y[i] != z[i] {
			return y[i] < z[i]
		}
	}
	return false
}
