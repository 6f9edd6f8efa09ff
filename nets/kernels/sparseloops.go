package kernels

import "github.com/dsp-go/dsp/structured/sys/instructions"

//go:generate go run github.com/dsp-go/dsp/structured/sys/vec/halve

// SparseLoops are the inner loops of the linear scorer of sparse inputs, one set per instruction set. All sets agree up
// to rounding. Rows of w are as wide as the vector argument (to or v). A row beyond the end of w panics. A nil value
// means ones.
type SparseLoops struct {
	Name string
	// Gather adds Σ_k value_k · w_(index_k) to to.
	Gather func(to, w []float32, index []int32, value []float32)
	// Scatter adds c·value_k·v to each w_(index_k), in order.
	Scatter func(w, v []float32, c float32, index []int32, value []float32)
	// ScatterTwo adds c·value_k·v to each w_(index_k), and d·value_k·v to each u_(index_k), in order.
	ScatterTwo func(w, u, v []float32, c, d float32, index []int32, value []float32)
	// Measure is scatter; with x a row before and δ its change, it adds Σ(2xδ + δ²) over the row to the row's place in
	// change.
	Measure func(w, v []float32, c float32, index []int32, value []float32, change *Changes)
	// MeasureAll is Measure with one place for all rows. It also adds up the squares of the weights after it, from
	// which follows how much additions may have rounded (sparse.Additions).
	MeasureAll func(w, v []float32, c float32, index []int32, value []float32, change *Change)
	// MeasureRun adds c·v to w and returns Σ(2xδ + δ²).
	MeasureRun func(w, v []float32, c float32) float64
	// GatherSoft, MeasureSoft and MeasureRunSoft are Gather, Measure and MeasureRun of the soft thresholds of w (Soft):
	// GatherSoft adds those of rows, the others change w and measure its soft thresholds before and after.
	GatherSoft     func(to, w []float32, τ float32, index []int32, value []float32)
	MeasureSoft    func(w, v []float32, c, τ float32, index []int32, value []float32, change *Changes)
	MeasureRunSoft func(w, v []float32, c, τ float32) float64
	// GatherDouble and ScatterDouble are Gather and Scatter with c = 1 and with sums in float64, in which every product
	// is exact. They serve certificates (train/engine/rounding.go).
	GatherDouble  func(to []float64, w []float32, index []int32, value []float32)
	ScatterDouble func(to, v []float64, index []int32, value []float32)
	// Take returns the sum of all numbers and sets them to zero.
	Take func(change []sixteen) float64
	// IsZero reports whether all numbers are zero.
	IsZero func(x []float32) bool
}

// Stripes is how many stripes the weights of a Linear are divided into. It is fixed, so that sums over stripes
// do not depend on the number of threads.
const Stripes = 16

// Rows of attributes go to the stripes in turn, eight at a time. So two stripes share few cache lines, and the frequent
// attributes, which have low numbers, are spread evenly.
const RowsInTurn = 8

// StripeOf returns the stripe of an attribute's row.
func StripeOf(row int32) int { return int(uint32(row) / RowsInTurn % Stripes) }

// Changes are float32 sums per stripe, with as many lanes as the widest vectors have. A stripe has several places, so
// that additions for neighbouring rows do not wait for each other.
type Changes [Stripes * Places]sixteen

// Change has the float32 sums of MeasureAll, with as many lanes: of changes, and of squares after.
type Change [2]sixteen

type sixteen = [16]float32

const Places = 4

// place returns the place that sums the changes of a row. It depends on the row only.
func place(row int32) int { return StripeOf(row)*Places + int(uint32(row)%Places) }

var Sparse = AvailableSparse()[0]

// AvailableSparse returns the loops that this processor can run, the fastest first.
func AvailableSparse() []*SparseLoops {
	return instructions.Available(&plainSparse, avx2Sparse, avx512Sparse)
}

// plainSparse are the loops in plain Go.
var plainSparse = SparseLoops{
	Name:       "plain",
	Gather:     gatherPlain,
	Scatter:    scatterPlain,
	ScatterTwo: scatterTwoPlain,
	Measure:    measurePlain,
	MeasureAll: measureAllPlain,
	MeasureRun: measureRunPlain,
	Take:       takePlain,
	IsZero:     isZeroPlain,

	GatherSoft: gatherSoftPlain, MeasureSoft: measureSoftPlain, MeasureRunSoft: measureRunSoftPlain,
	GatherDouble: gatherDoublePlain, ScatterDouble: scatterDoublePlain,
}

// gatherPlain adds four rows at a time.
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
		from, x := w[int(index[k])*y:][:y], ValueAt(value, k)
		for j := range to {
			to[j] += x * from[j]
		}
	}
}

// scatterPlain changes four rows at a time, each entry in order: the same row may occur twice.
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
		to, x := w[int(index[k])*y:][:y], c*ValueAt(value, k)
		for j := range to {
			to[j] += x * v[j]
		}
	}
}

func scatterTwoPlain(w, u, v []float32, c, d float32, index []int32, value []float32) {
	scatterPlain(w, v, c, index, value)
	scatterPlain(u, v, d, index, value)
}

func measurePlain(w, v []float32, c float32, index []int32, value []float32, change *Changes) {
	y := len(v)
	for k, row := range index {
		to := w[int(row)*y:][:y]
		change[place(row)][0] += measureRow(to, v, c*ValueAt(value, k))
	}
}

func measureAllPlain(w, v []float32, c float32, index []int32, value []float32, change *Change) {
	y := len(v)
	for k, row := range index {
		to, squares := w[int(row)*y:][:y], change[1][0]
		change[0][0] += measureRow(to, v, c*ValueAt(value, k))
		for _, x := range to {
			squares += x * x
		}
		change[1][0] = squares
	}
}

// measureRow keeps four sums: with one, every addition would wait for the previous one.
func measureRow(w, v []float32, c float32) float32 {
	var s0, s1, s2, s3 float32
	v = v[:len(w)]
	for len(w) >= 4 && len(v) >= 4 {
		x0, x1, x2, x3 := w[0], w[1], w[2], w[3]
		y0, y1, y2, y3 := x0+c*v[0], x1+c*v[1], x2+c*v[2], x3+c*v[3]
		w[0], w[1], w[2], w[3] = y0, y1, y2, y3
		s0, s1, s2, s3 = s0+(y0-x0)*(y0+x0), s1+(y1-x1)*(y1+x1), s2+(y2-x2)*(y2+x2), s3+(y3-x3)*(y3+x3)
		w, v = w[4:], v[4:]
	}
	for j := range w {
		x := w[j]
		w[j] += c * v[j]
		s0 += (w[j] - x) * (w[j] + x)
	}
	return (s0 + s1) + (s2 + s3)
}

func measureRunPlain(w, v []float32, c float32) float64 { return float64(measureRow(w, v, c)) }

// takePlain reads lane 0, the only one that measurePlain uses.
func takePlain(change []sixteen) float64 {
	s := 0.0
	for k := range change {
		s += float64(change[k][0])
		change[k][0] = 0
	}
	return s
}

func isZeroPlain(x []float32) bool {
	for _, v := range x {
		if v != 0 {
			return false
		}
	}
	return true
}

// ValueAt returns the value of entry k, 1 if value is nil.
func ValueAt(value []float32, k int) float32 {
	if value == nil {
		return 1
	}
	return value[k]
}
