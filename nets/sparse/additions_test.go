package sparse

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
)

// additionsCase are examples of chains with these rows of attributes.
func additionsCase(t *testing.T, y int, rows [][]int32) (*Linear, *structured.Dataset, structured.Batch) {
	t.Helper()
	s, err := NewChain(40, 0, y, nets.EdgesTransition)
	must(t, err)
	x := &structured.Sparse{Offsets: []int{0}}
	for _, row := range rows {
		x.Index = append(x.Index, row...)
		x.Offsets = append(x.Offsets, len(x.Index))
	}
	d := &structured.Dataset{Offsets: []int{0, len(rows)}, Attributes: x}
	var batch structured.Batch
	batch.Reset(d, []int{0})
	return s, d, batch
}

// Where every addition of almost half a unit in the last place is rounded away, weights lag behind by a unit of them
// each time, and the drift is no more than a half above that.
func TestDriftIsReached(t *testing.T) {
	eachSparse(t, func(t *testing.T) {
		for _, y := range []int{1, 2, 5, 8, 9, 16, 17, 31, 33} {
			for _, row := range [][]int32{{3}, {0, 1, 2, 39}, {7, 7}, {5, 5, 5, 8}, nil} { // nil: only the transitions
				s, d, batch := additionsCase(t, y, [][]int32{row})
				w, reach := make([]float32, s.Dim()), s.ReachOf(d, 0, 1)
				for j := range w {
					w[j] = 1
				}
				var θ structured.Potentials
				θ.Resize(&batch, s.Form())
				var v structured.Marginals
				v.Like(&θ)
				part := 0
				if row == nil {
					part = 1
				}
				for k := range v.Parts[part].Values {
					v.Parts[part].Values[k] = 1
				}
				var added Additions
				const δ, times = 0x1.fep-25, 100 // 1 + δ is 1 in float32
				for range times {
					s.Measure(δ, &v, &batch, w, &added)
				}
				distance := 0.0
				if row == nil {
					distance = float64(y*y) * (times * δ) * (times * δ)
				}
				for a := range int32(40) {
					n := 0.0
					for _, b := range row {
						if a == b {
							n++
						}
					}
					distance += float64(y) * (n * times * δ) * (n * times * δ)
				}
				for _, x := range w {
					if x != 1 {
						t.Fatalf("Y=%d: %v is not rounded to 1", y, x)
					}
				}
				distance = math.Sqrt(distance)
				most := 1.5 * distance * math.Sqrt(float64(reach.Times))
				if drift := added.Drift(&reach); drift < distance || drift > most {
					t.Errorf("Y=%d, row %v: the drift is %g at most, it is %g", y, row, drift, distance)
				}
			}
		}
	})
}

// Weights are no farther from sums in float64 than the drift, with values, in any order; and of additions that were not
// counted nothing is known.
func TestDriftOfRandomAdditions(t *testing.T) {
	eachSparse(t, func(t *testing.T) {
		allSparseCases(t, func(t *testing.T, c *sparseCase) {
			w, want := make([]float32, c.s.Dim()), make([]float64, c.s.Dim())
			var added Additions
			reach := c.s.ReachOf(c.data, 0, c.data.Len())
			rng := rand.New(rand.NewPCG(uint64(c.labels), 7))
			for range 20 {
				scale := float32(rng.NormFloat64())
				c.s.Measure(scale, &c.v, &c.batch, w, &added)
				grad := make([]float64, c.s.Dim())
				c.s.ScatterDouble(&c.v, &c.batch, 0, Stripes, grad)
				for j, x := range grad {
					want[j] += float64(scale) * x
				}
			}
			distance := 0.0
			for j, x := range w {
				distance += (float64(x) - want[j]) * (float64(x) - want[j])
			}
			drift := added.Drift(&reach)
			if c.s.HasDense() {
				if !math.IsInf(drift, 1) {
					t.Errorf("the drift is said to be %g with dense inputs", drift)
				}
			} else if math.Sqrt(distance) > drift || drift > 1e4*math.Sqrt(distance)+1e-3 {
				t.Errorf("the drift is %g at most, it is %g", drift, math.Sqrt(distance))
			}
			if !c.s.HasDense() {
				c.s.Thresholded(0.1).Measure(1, &c.v, &c.batch, w, &added)
				if drift := added.Drift(&reach); !math.IsInf(drift, 1) {
					t.Errorf("the drift is said to be %g after additions that nobody counts", drift)
				}
			}
		})
	})
}

// The reach is that of its definition; it does not matter how examples are divided.
func TestReach(t *testing.T) {
	allSparseCases(t, func(t *testing.T, c *sparseCase) {
		if c.s.HasDense() || len(c.data.Offsets) < 3 {
			return
		}
		n := c.data.Len()
		whole, parts := c.s.ReachOf(c.data, 0, n), c.s.ReachOf(c.data, 0, n/2)
		parts.Add(c.s.ReachOf(c.data, n/2, n))
		times, squares, counts := 1, 1.0, map[string]float64{}
		for k, part := range c.s.Form().Parts {
			x := c.data.AttributesOf(part)
			if x == nil || part.Rows == structured.Tied {
				continue
			}
			if c.s.parts[k].bias >= 0 {
				counts[fmt.Sprint("bias", k)] = float64(len(x.Offsets) - 1)
			}
			for r := range len(x.Offsets) - 1 {
				index, value := x.Row(r)
				seen, sum := map[int32]int{}, 1.0
				for j, a := range index {
					v := 1.0
					if value != nil {
						v = float64(value[j])
					}
					seen[a]++
					sum += v * v
					counts[fmt.Sprint(k, a)] += math.Abs(v)
				}
				times = max(times, 1+len(index)-len(seen))
				squares = max(squares, sum)
			}
		}
		length := 0.0
		for _, x := range counts {
			length += x * x
		}
		length = math.Sqrt(length)
		if whole.Times != times || math.Abs(whole.Squares-squares) > 1e-9*squares ||
			math.Abs(whole.Length()-length) > 1e-9*length {
			t.Errorf("the reach is %d, %g, %g, expected %d, %g, %g", whole.Times, whole.Squares, whole.Length(),
				times, squares, length)
		}
		if parts.Times != whole.Times || parts.Squares != whole.Squares ||
			math.Abs(parts.Length()-whole.Length()) > 1e-9*length {
			t.Errorf("the reach of two halves is %d, %g, %g, that of the whole %d, %g, %g",
				parts.Times, parts.Squares, parts.Length(), whole.Times, whole.Squares, whole.Length())
		}
	})
}
