package window

import "math/bits"

// rangeMax answers range maxima of a list in constant time: level j holds the maxima of all runs of 2^j numbers (a
// sparse table).
type rangeMax struct {
	n      int
	levels []float64 // [⌊log₂ n⌋+1 × n]
}

// reset fills the table with a list.
func (m *rangeMax) reset(x []float32) {
	m.n = len(x)
	m.levels = m.levels[:0]
	for _, v := range x {
		m.levels = append(m.levels, float64(v))
	}
	for half := 1; 2*half <= m.n; half *= 2 {
		below := m.levels[len(m.levels)-m.n:]
		for i := range m.n {
			m.levels = append(m.levels, max(below[i], below[min(i+half, m.n-1)]))
		}
	}
}

// of returns the largest of numbers lo to hi.
func (m *rangeMax) of(lo, hi int) float64 {
	j := bits.Len(uint(hi-lo+1)) - 1
	level := m.levels[j*m.n:]
	return max(level[lo], level[hi-1<<j+1])
}
