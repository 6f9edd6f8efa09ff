package inputs

import (
	"slices"
	"testing"

	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// A parameter comes back as it was, in two tensors if it has few nonzero numbers, and damaged places are refused.
func TestSparseWeights(t *testing.T) {
	few := []float32{0, 0, 3, 0, 0, 0, 0, -2}
	for _, c := range []struct {
		w       []float32
		sparse  bool
		tensors int
	}{{few, true, 2}, {few, false, 1}, {[]float32{1, 2, 0, 3}, true, 1}, {make([]float32, 6), true, 2}} {
		f := &safetensors.File{}
		AddWeights(f, "w", c.w, []int{2, len(c.w) / 2}, c.sparse)
		got := make([]float32, len(c.w))
		n, err := WeightsTensors(f, "w"), Weights(f, "w", got, []int{2, len(c.w) / 2})
		if err != nil || n != c.tensors || len(f.Tensors) != n || !slices.Equal(got, c.w) {
			t.Errorf("%v: %v in %d tensors, want %d; %v", c.w, got, n, c.tensors, err)
		}
	}
	for _, at := range [][]int64{{2}, {2, 2}, {7, 2}, {2, 8}, {-1, 2}} {
		f := &safetensors.File{}
		safetensors.Add(f, "w"+nonzeroValues, []float32{3, -2})
		safetensors.Add(f, "w"+nonzeroAt, at)
		if err := Weights(f, "w", make([]float32, 8), []int{8}); err == nil {
			t.Errorf("places %v are accepted", at)
		}
	}
	f := &safetensors.File{}
	safetensors.Add(f, "w"+nonzeroValues, []float32{3})
	safetensors.Add(f, "w"+nonzeroAt, []int64{0})
	if err := CheckWeights(f, "w", mostSparse+1, nil); err == nil {
		t.Error("a small file may ask for all memory")
	}
}
