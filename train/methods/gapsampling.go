package methods

import "math/rand/v2"

// everyGap is the number of passes after which a pass visits every example, so that all block gaps are recomputed.
const everyGap = 10

// drawn returns a function that returns the example to visit next, one of own examples drawn in proportion to their
// block gaps at their last visits, with replacement (Osokin et al. 2016, section 3.1). Passes 0, everyGap, 2·everyGap,
// … visit every example once, as does one after all gaps were 0.
func (m *BCPFW) drawn(own []int, r *rand.Rand) func() int {
	order, of := r.Perm(len(own)), make([]float32, len(own))
	for k, i := range own {
		of[k] = m.gap[i]
	}
	gaps := newGapTree(of)
	at, last := 0, -1
	return func() int {
		if last >= 0 {
			gaps.set(last, float64(m.gap[own[last]]))
		}
		last = order[at]
		at++
		if m.passes%everyGap != 0 && gaps.total() > 0 {
			last = gaps.find(r.Float64() * gaps.total())
		}
		return own[last]
	}
}

// gapTree holds sums of gaps: node k is the sum of nodes 2k and 2k+1, and the leaves are the gaps.
type gapTree struct {
	sums []float64
	half int // the first leaf
}

func newGapTree(gaps []float32) *gapTree {
	t := &gapTree{half: 1}
	for t.half < len(gaps) {
		t.half *= 2
	}
	t.sums = make([]float64, 2*t.half)
	for i, g := range gaps {
		t.sums[t.half+i] = float64(g)
	}
	for k := t.half - 1; k > 0; k-- {
		t.sums[k] = t.sums[2*k] + t.sums[2*k+1]
	}
	return t
}

func (t *gapTree) total() float64 { return t.sums[1] }

// set changes the gap of example i.
func (t *gapTree) set(i int, gap float64) {
	k := t.half + i
	t.sums[k] = gap
	for k /= 2; k > 0; k /= 2 {
		t.sums[k] = t.sums[2*k] + t.sums[2*k+1]
	}
}

// find returns the example in whose part of the sum of all gaps x lies, one with a gap above 0.
func (t *gapTree) find(x float64) int {
	k := 1
	for k < t.half {
		k *= 2
		if left := t.sums[k]; x >= left && t.sums[k+1] > 0 {
			x -= left
			k++
		}
	}
	return k - t.half
}
