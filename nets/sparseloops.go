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

// gatherPlain takes four rows at a time.
func gatherPlain(to, w []float32, index []int32, value []float32) {
	y, k := len(to), 0
	for ; k+4 <= len(index); k += 4 {
		r := (*[4]int32)(index[k:])
		r0, r1, r2, r3 := w[int(r[0])*y:][:y], w[int(r[1])*y:][:y], w[int(r[2])*y:][:y], w[int(r[3])*y:][:y]
		to := to[:y]
		if value == nil {
			for j := range to {
				to[j] = to[j] + r0[j] + r1[j] + r2[j] + r3[j]
			}
			continue
		}
		x := (*[4]float32)(value[k:])
		x0, x1, x2, x3 := x[0], x[1], x[2], x[3]
		for j := range to {
			to[j] = to[j] + x0*r0[j] + x1*r1[j] + x2*r2[j] + x3*r3[j]
		}
	}
	for ; k < len(index); k++ {
		from, x := w[int(index[k])*y:][:y], at(value, k)
		for j := range to {
			to[j] += x * from[j]
		}
	}
}

// scatterPlain takes four rows at a time, each number in order: a row may be there twice.
func scatterPlain(w, v []float32, c float32, index []int32, value []float32) {
	y, k := len(v), 0
	for ; k+4 <= len(index); k += 4 {
		r := (*[4]int32)(index[k:])
		r0, r1, r2, r3 := w[int(r[0])*y:][:y], w[int(r[1])*y:][:y], w[int(r[2])*y:][:y], w[int(r[3])*y:][:y]
		v := v[:y]
		if value == nil {
			for j := range v {
				x := c * v[j]
				r0[j] += x
				r1[j] += x
				r2[j] += x
				r3[j] += x
			}
			continue
		}
		x := (*[4]float32)(value[k:])
		x0, x1, x2, x3 := c*x[0], c*x[1], c*x[2], c*x[3]
		for j := range v {
			r0[j] += x0 * v[j]
			r1[j] += x1 * v[j]
			r2[j] += x2 * v[j]
			r3[j] += x3 * v[j]
		}
	}
	for ; k < len(index); k++ {
		to, x := w[int(index[k])*y:][:y], c*at(value, k)
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
