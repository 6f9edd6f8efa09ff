package nets

import (
	"math/bits"

	"github.com/dsp-go/dsp/structured"
)

// Size is how many rows of each kind a program has memory for, padding included.
type Size struct {
	Rows  int // positions, of all examples together: a Bucket
	Pairs int // pairs of positions of the same example: a PairBucket, or 0 where the network makes no pairs
}

// Bucket rounds a number of rows up to one of few: multiples of 8 up to 64, then eight steps a doubling, so that at most
// an eighth of the rows is padding and few distinct programs occur.
func Bucket(rows int) int {
	if rows <= 64 {
		return max(8, roundUp(rows, 8))
	}
	return roundUp(rows, 1<<(bits.Len(uint(rows-1))-4))
}

// PairBucket rounds a number of pairs up to a power of two, at least 64. It is coarse because programs differ in both numbers of
// rows, and because padding costs little here: the ops that make pairs skip it.
func PairBucket(pairs int) int { return 1 << bits.Len(uint(max(64, pairs)-1)) }

// Size returns the size of the program for a batch.
func (n *Net) Size(batch *structured.Batch) Size {
	s := Size{Rows: Bucket(batch.Positions())}
	if n.shape.Needs.Pairs {
		s.Pairs = PairBucket(pairs(batch.Offsets))
	}
	return s
}

// pairs returns how many pairs of positions of the same example there are, with each position paired with itself too.
func pairs(offsets []int) int {
	all := 0
	for b := range len(offsets) - 1 {
		n := offsets[b+1] - offsets[b]
		all += n * n
	}
	return all
}
