package nets

import "math/bits"

// Bucket rounds a number of rows up to one of few: multiples of 8 up to 64, then eight steps a doubling, so that at most
// an eighth of the rows is padding and few distinct programs occur.
func Bucket(rows int) int {
	if rows <= 64 {
		return max(8, roundUp(rows, 8))
	}
	return roundUp(rows, 1<<(bits.Len(uint(rows-1))-4))
}
