package nets

import "fmt"

// sparseLoops are the inner loops of the linear scorer of sparse inputs, one set for each kind of vector. All sets agree
// to rounding. Rows of w are as wide as the vector beside it; they panic at a row beyond the end of w. A nil
// value stands for ones.
type sparseLoops struct {
	name string
	// gather adds Σ_k value_k · w_(index_k) to to.
	gather func(to, w []float32, index []int32, value []float32)
	// scatter adds c·value_k·v to each w_(index_k), in order.
	scatter func(w, v []float32, c float32, index []int32, value []float32)
	// measure is scatter; with δ a row's change and x the row before, it adds Σ(2xδ + δ²) over the row to the lanes of its
	// part.
	measure func(w, v []float32, c float32, index []int32, value []float32, change *partLanes)
}

// partLanes hold float32 sums of each part, in as many lanes as the widest vectors have.
type partLanes [ScatterParts][16]float32

var sparse = chooseSparse()

// plainSparse are in plain Go.
var plainSparse = sparseLoops{name: "plain", gather: gatherPlain, scatter: scatterPlain, measure: measurePlain}

func gatherPlain(to, w []float32, index []int32, value []float32) {
	y := len(to)
	for k, row := range index {
		from, x := w[int(row)*y:][:y], at(value, k)
		for j := range to {
			to[j] += x * from[j]
		}
	}
}

func scatterPlain(w, v []float32, c float32, index []int32, value []float32) {
	y := len(v)
	for k, row := range index {
		to, x := w[int(row)*y:][:y], c*at(value, k)
		for j := range to {
			to[j] += x * v[j]
		}
	}
}

func measurePlain(w, v []float32, c float32, index []int32, value []float32, change *partLanes) {
	y := len(v)
	for k, row := range index {
		to, x, sum := w[int(row)*y:][:y], c*at(value, k), float32(0)
		for j := range to {
			before := to[j]
			to[j] += x * v[j]
			δ := to[j] - before
			sum += δ * (2*before + δ)
		}
		change[part(row)][0] += sum
	}
}

// at returns the value of entry k.
func at(value []float32, k int) float32 {
	if value == nil {
		return 1
	}
	return value[k]
}

func outOfRange(row int32) { panic(fmt.Sprintf("attribute %d is beyond the weights", row)) }
