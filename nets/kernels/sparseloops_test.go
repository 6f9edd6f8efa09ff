package kernels

import "testing"

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
