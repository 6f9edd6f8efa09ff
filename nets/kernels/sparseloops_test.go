package kernels

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// An attribute beyond the weights panics instead of reading other memory.
func TestSparseAttributeOutOfRange(t *testing.T) {
	for _, loops := range AvailableSparse() {
		for _, y := range []int{3, 17, 40, 50, 90} {
			w, v := make([]float32, 10*y), make([]float32, y)
			for _, row := range []int32{-1, 10, 1 << 30} {
				for name, f := range map[string]func(){
					"gather":                     func() { loops.Gather(v, w, []int32{row}, nil) },
					"scatter":                    func() { loops.Scatter(w, v, 1, []int32{2, row}, nil) },
					"measure":                    func() { loops.Measure(w, v, 1, []int32{2, row}, nil, new(Changes)) },
					"gather of soft thresholds":  func() { loops.GatherSoft(v, w, 1, []int32{row}, nil) },
					"gather in float64":          func() { loops.GatherDouble(make([]float64, y), w, []int32{row}, nil) },
					"scatter in float64":         func() { loops.ScatterDouble(make([]float64, 10*y), make([]float64, y), []int32{2, row}, nil) },
					"measure of soft thresholds": func() { loops.MeasureSoft(w, v, 1, 1, []int32{2, row}, nil, new(Changes)) },
				} {
					func() {
						defer func() {
							if recover() == nil {
								t.Errorf("%s: %s of row %d, Y=%d: no panic", loops.Name, name, row, y)
							}
						}()
						f()
					}()
				}
			}
		}
	}
}

// Sums in float64 equal those of the definition to the rounding of float64, for label counts around whole vectors.
func TestDoubleSums(t *testing.T) {
	for _, loops := range AvailableSparse() {
		for y := 1; y <= 70; y++ {
			rng := rand.New(rand.NewPCG(uint64(y), 1))
			w, to, v, rows := make([]float32, 20*y), make([]float64, y), make([]float64, y), make([]float64, 20*y)
			for j := range w {
				w[j] = float32(rng.NormFloat64())
			}
			for j := range to {
				to[j], v[j] = rng.NormFloat64(), rng.NormFloat64()
			}
			index, value := []int32{3, 19, 0, 3, 7}, []float32{1, -2.5, 1e6, -1e6, 0.1}
			if y%2 == 0 {
				value = nil
			}
			wantTo, wantRows := slices.Clone(to), slices.Clone(rows)
			for k, row := range index {
				for j := range y {
					wantTo[j] += float64(ValueAt(value, k)) * float64(w[int(row)*y+j])
					wantRows[int(row)*y+j] += float64(ValueAt(value, k)) * v[j]
				}
			}
			loops.GatherDouble(to, w, index, value)
			loops.ScatterDouble(rows, v, index, value)
			for j := range to {
				if math.Abs(to[j]-wantTo[j]) > 1e-9 {
					t.Fatalf("%s, Y=%d: gathered %v for label %d, want %v", loops.Name, y, to[j], j, wantTo[j])
				}
			}
			for j := range rows {
				if math.Abs(rows[j]-wantRows[j]) > 1e-9 {
					t.Fatalf("%s, Y=%d: scattered %v to weight %d, want %v", loops.Name, y, rows[j], j, wantRows[j])
				}
			}
		}
	}
}
