package window

import (
	"math"
	"math/rand/v2"
	"testing"
)

// bestRun finds the best run of columns, by enumeration; of several the one that ends first, and of those the longest.
func TestBestRun(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		n, lo := 1+r.IntN(6), int16(r.IntN(3))
		column := make([]float64, n)
		for i := range column {
			if column[i] = float64(r.IntN(5) - 2); r.IntN(8) == 0 {
				column[i] = minusInf
			}
		}
		hi := lo + int16(n) - 1
		s := boxes{left: interval{lo, lo + int16(r.IntN(n))}, right: interval{lo + int16(r.IntN(n)), hi}}
		want, first, last := minusInf, int16(0), int16(0)
		for to := s.right.lo; to <= hi; to++ {
			for from := lo; from <= min(to, s.left.hi); from++ {
				sum := 0.0
				for c := from; c <= to; c++ {
					sum += column[c-lo]
				}
				if sum > want {
					want, first, last = sum, from, to
				}
			}
		}
		best, left, right := bestRun(column, s)
		if best != want || !math.IsInf(want, -1) && (left != first || right != last) {
			t.Fatalf("%v, from %v to %v: %v of %d to %d, expected %v of %d to %d", column, s.left, s.right, best,
				left, right, want, first, last)
		}
	}
}
