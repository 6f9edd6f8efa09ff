package matching

import "github.com/dsp-go/dsp/structured/sys/instructions"

// kernels are the inner loops of this package for one vector width. Rows of costs and prices have a multiple of lanes
// numbers; the padding costs +∞. All give the same bits.
type kernels struct {
	name string

	// negate sets to_j = −from_j for all j of from, and the rest of to, which is less than lanes numbers, to +∞.
	negate func(to, from []float32)
	// lower sets least_j = min(least_j, row_j), and at_j = i where row_j is smaller.
	lower func(least, row []float32, at []int32, i int32)
	// leastTwo returns the least c_j − v_j, the first j that has it, and the least over all other j.
	leastTwo func(c []float32, v []float64) (least float64, at int, second float64)
	// relax sets d_j = min(d_j, c_j − v_j + base), and from_j = i where that is smaller. It returns the least d_j and
	// the first j that has it.
	relax func(c []float32, v, d []float64, from []int64, base float64, i int64) (least float64, at int)
	// through sets to_j = min(to_j, min_k x_kj + first_k) for all j of to, for rows x_k that start at x[k·len(to)], k <
	// vias.
	through func(to, x []float64, first *[vias]float64)
}

// vias is how many rows of the shortest paths are handled at a time.
const vias = 4

// available are the kernels that this build and machine can run, the fastest first.
var available = instructions.Available(&plain, avx2, avx512)

var fastest = available[0]
