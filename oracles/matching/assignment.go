package matching

import (
	"math"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// assignment is a linear assignment problem and its solution: every source takes one target or goes without one, at
// least cost. A target serves at most one source. The cost of a pair is its score with the opposite sign; a pair that
// is forbidden costs +∞.
//
// A solution has prices v ≤ 0 of the targets, 0 for the targets that no source takes. Source i takes the column with
// the least c_ij − v_j, which is its own price u_i. So every reduced cost c_ij − v_j − u_i is at least 0, and 0 for the
// pairs of the matching. If sources and targets are as many and no source may go without, every target is taken and
// prices of either sign are allowed.
//
// Jonker and Volgenant 1987, "A shortest augmenting path algorithm for dense and sparse linear assignment problems".
// There, a source that may go without a target needs a dummy target, and a target that may be left over a dummy source,
// which makes the matrix (n+m)². Here the dummy of a source is a number, and left-over targets are those with price 0.
type assignment struct {
	n, m   int
	stride int       // of a row of cost: m rounded up
	cost   []float32 // [n×stride] costs of the pairs, padded with +∞
	alone  []float64 // [n] cost of going without a target, +∞ if that is forbidden

	target []int32   // [n] the target of each source, or none
	source []int32   // [m] the source of each target, or none
	v      []float64 // [stride] prices of the targets

	free, later []int32 // sources that wait for their place

	// The state of a search for a shortest path.
	distance []float64 // [stride] of the targets not yet scanned, +∞ for the others
	open     []float64 // [stride] prices of the targets not yet scanned, −∞ for the others
	from     []int64   // [stride] the source before each target on its shortest path
	scanned  []int32   // targets in the order of their distances
	final    []float64 // and these distances

	first []int32 // [stride] of the column reduction: the source with the least cost of each target
	least []float32
}

// none stands for no target and no source.
const none = -1

var inf = math.Inf(1)

// lanes is the number of columns to which rows are padded.
const lanes = 16

// reset takes the scores of pairs [n·m], row by row, and of going without a target [n], nil if every source needs one.
func (a *assignment) reset(n, m int, pair, alone []float32) {
	a.n, a.m, a.stride = n, m, (m+lanes-1)/lanes*lanes
	a.cost = vec.Grow(a.cost, n*a.stride)
	for i := range n {
		fastest.negate(a.row(int32(i)), pair[i*m:(i+1)*m])
	}
	a.alone = vec.Grow(a.alone, n)
	for i := range a.alone {
		a.alone[i] = inf
		if alone != nil {
			a.alone[i] = -float64(alone[i])
		}
	}
	a.target, a.source = vec.Grow(a.target, n), vec.Grow(a.source, m)
	for i := range a.target {
		a.target[i] = none
	}
	for j := range a.source {
		a.source[j] = none
	}
	a.v, a.open = vec.Grow(a.v, a.stride), vec.Grow(a.open, a.stride)
	clear(a.v)
	a.distance, a.from = vec.Grow(a.distance, a.stride), vec.Grow(a.from, a.stride)
	a.scanned, a.final = vec.Grow(a.scanned, m)[:0], vec.Grow(a.final, m)[:0]
	a.free, a.later = vec.Grow(a.free, n)[:0], vec.Grow(a.later, n)[:0]
}

// solve finds a matching of least cost. It returns false if there is none.
func (a *assignment) solve(complete bool) bool {
	if complete && a.n > a.m {
		return false
	}
	if complete && a.n == a.m {
		if !a.reduceColumns() {
			return false
		}
	} else {
		for i := range a.n {
			a.free = append(a.free, int32(i))
		}
	}
	for range sweeps {
		if !a.reduceRows() {
			return false
		}
	}
	for _, i := range a.free {
		if !a.augment(i) {
			return false
		}
	}
	return true
}

// row returns the costs of source i.
func (a *assignment) row(i int32) []float32 { return a.cost[int(i)*a.stride : (int(i)+1)*a.stride] }

// price returns u_i of a source that has its place.
func (a *assignment) price(i int32) float64 {
	if j := a.target[i]; j != none {
		return float64(a.row(i)[j]) - a.v[j]
	}
	return a.alone[i]
}
