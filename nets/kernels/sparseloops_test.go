package kernels

import (
	"fmt"
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
					"gather":                    func() { loops.Gather(v, w, []int32{row}, nil) },
					"scatter":                   func() { loops.Scatter(w, v, 1, []int32{2, row}, nil) },
					"scatter to two":            func() { loops.ScatterTwo(w, w, v, 1, 2, []int32{2, row}, nil) },
					"measure":                   func() { loops.Measure(w, v, 1, []int32{2, row}, nil, new(Changes)) },
					"gather of soft thresholds": func() { loops.GatherSoft(v, w, 1, []int32{row}, nil) },
					"gather in float64":         func() { loops.GatherDouble(make([]float64, y), w, []int32{row}, nil) },
					"scatter in float64": func() {
						loops.ScatterDouble(make([]float64, 10*y), make([]float64, y), []int32{2, row}, nil)
					},
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

// Scatter, ScatterTwo and Measure add to the rows, each entry once, and change no weight beside them, for label counts
// around whole and half vectors. ScatterTwo has the bits of two calls of Scatter.
func TestScatter(t *testing.T) {
	for _, loops := range AvailableSparse() {
		for y := 1; y <= 150; y++ {
			rng := rand.New(rand.NewPCG(uint64(y), 2))
			draw := func(n int) []float32 {
				x := make([]float32, n)
				for j := range x {
					x[j] = float32(rng.NormFloat64())
				}
				return x
			}
			w, u, v := draw(20*y), draw(20*y), draw(y)
			index, value := []int32{3, 19, 0, 3, 7, 6, 5}, draw(7)
			if y%2 == 0 {
				value = nil
			}
			want := make([]float64, len(w))
			for j, x := range w {
				want[j] = float64(x)
			}
			for k, row := range index {
				for j, x := range v {
					want[int(row)*y+j] += 0.7 * float64(ValueAt(value, k)) * float64(x)
				}
			}
			one, other, measured := slices.Clone(w), slices.Clone(u), slices.Clone(w)
			loops.Scatter(one, v, 0.7, index, value)
			loops.Scatter(other, v, -2, index, value)
			change, grown := new(Changes), 0.0
			loops.Measure(measured, v, 0.7, index, value, change)
			for j, x := range measured {
				grown += float64(x)*float64(x) - float64(w[j])*float64(w[j])
			}
			if got := loops.Take(change[:]); math.Abs(got-grown) > 1e-4*(1+math.Abs(grown)) {
				t.Fatalf("%s, Y=%d: ‖w‖² is said to grow by %v, it grows by %v", loops.Name, y, got, grown)
			}
			for j, x := range one {
				if math.Abs(float64(x)-want[j]) > 1e-5 || !slices.Contains(index, int32(j/y)) && x != w[j] {
					t.Fatalf("%s, Y=%d: weight %d is %v, expected %v", loops.Name, y, j, x, want[j])
				}
				if math.Abs(float64(measured[j])-want[j]) > 1e-5 || !slices.Contains(index, int32(j/y)) && measured[j] != w[j] {
					t.Fatalf("%s, Y=%d: measured weight %d is %v, expected %v", loops.Name, y, j, measured[j], want[j])
				}
			}
			again, all := slices.Clone(w), new(Change)
			loops.MeasureAll(again, v, 0.7, index, value, all)
			if got := loops.Take(all[:1]); !slices.Equal(again, measured) || math.Abs(got-grown) > 1e-4*(1+math.Abs(grown)) {
				t.Fatalf("%s, Y=%d: measured in one sum ‖w‖² is said to grow by %v, it grows by %v; or weights differ",
					loops.Name, y, got, grown)
			}
			slow, squares := slices.Clone(w), 0.0 // after each row
			for k, row := range index {
				loops.Scatter(slow, v, 0.7*ValueAt(value, k), []int32{row}, nil)
				for _, x := range slow[int(row)*y:][:y] {
					squares += float64(x) * float64(x)
				}
			}
			if got := loops.Take(all[1:]); math.Abs(got-squares) > 1e-4*squares {
				t.Fatalf("%s, Y=%d: the squares after all additions are said to be %v, they are %v", loops.Name, y, got, squares)
			}
			loops.ScatterTwo(w, u, v, 0.7, -2, index, value)
			if !slices.Equal(w, one) || !slices.Equal(u, other) {
				t.Fatalf("%s, Y=%d: scattered to two other weights than to each", loops.Name, y)
			}
		}
	}
}

// The passes over 2,000 positions with 20 attributes each of 30,000, and several numbers of labels.
func BenchmarkSparse(b *testing.B) {
	const positions, attributes, each = 2000, 30_000, 20
	for _, loops := range AvailableSparse() {
		for _, y := range []int{4, 9, 17, 25} {
			rng := rand.New(rand.NewPCG(uint64(y), 1))
			w, v, to, double := make([]float32, attributes*y), make([]float32, y), make([]float64, y),
				make([]float64, attributes*y)
			index, value, change := make([]int32, positions*each), make([]float32, each), new(Changes)
			for k := range index {
				index[k] = int32(rng.IntN(attributes))
			}
			for j := range v {
				v[j], to[j] = rng.Float32(), rng.Float64()
			}
			for k := range value {
				value[k] = rng.Float32() - 0.5
			}
			for _, values := range [][]float32{nil, value} {
				for name, f := range map[string]func(index []int32){
					"measure":       func(index []int32) { loops.Measure(w, v, 1e-6, index, values, change) },
					"gatherDouble":  func(index []int32) { loops.GatherDouble(to, w, index, values) },
					"scatterDouble": func(index []int32) { loops.ScatterDouble(double, to, index, values) },
				} {
					b.Run(fmt.Sprintf("%s/%s/%d labels, values %v", loops.Name, name, y, values != nil), func(b *testing.B) {
						for b.Loop() {
							for k := 0; k < len(index); k += each {
								f(index[k : k+each])
							}
						}
					})
				}
			}
		}
	}
}
