package oracles

import "strconv"

// kernels are the inner loops of the oracles, one set for each kind of vector. All sets agree: bit for bit where there is
// only max and +, to rounding where there are sums.
//
// A row holds Y numbers and is readable in whole vectors: rows of scratch are padded with −∞ to a multiple of lanes, and
// whatever follows Y numbers of node or edge potentials is read and ignored. Rows of a matrix lie stride ≥ Y apart.
type kernels struct {
	name  string
	lanes int // float32 numbers in a vector

	// maxPlus sets next_j = node_j + max_i (prev_i + edge_ij) for j < y, and pads.
	maxPlus func(next, prev, edge, node []float32, y, stride int)
	// argmax returns the first i with the largest x_i. The row is padded.
	argmax func(x []float32) int
	// setArgmax sets x_i = v, then does as argmax.
	setArgmax func(x []float32, i int, v float32) int
	// addArgmax sets sum_i = x_i + y_i and returns the first i with the largest. The rows are padded, and so will sum be.
	addArgmax func(sum, x, y []float32) int
}

var fastest = choose()

// Lanes returns how many float32 numbers the oracles' inner loops handle at once: 16, 8, or 1 in plain Go.
func Lanes() int { return fastest.lanes }

// Vector names what the oracles' inner loops run on: "AVX-512, 16 lanes", "AVX2, 8 lanes" or "plain Go".
func Vector() string {
	if fastest.lanes == 1 {
		return fastest.name
	}
	return fastest.name + ", " + strconv.Itoa(fastest.lanes) + " lanes"
}
