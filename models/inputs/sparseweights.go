package inputs

import (
	"fmt"

	"github.com/dsp-go/dsp/structured/arrays/safetensors"
)

// A parameter of a sparse model is in its file as two tensors: the numbers that are not zero, under the parameter's name with this
// ending, and where in the flat parameter they are, under its name with the other.
const (
	nonzeroValues = ".nonzero"
	nonzeroAt     = ".at"
)

// AddWeights puts a parameter into f: as it is, or as its nonzero numbers if sparse is set and that takes less room.
func AddWeights(f *safetensors.File, name string, w []float32, shape []int, sparse bool) {
	var values []float32
	var at []int64
	for j, x := range w {
		if x != 0 {
			values, at = append(values, x), append(at, int64(j))
		}
	}
	if !sparse || 3*len(at) >= len(w) {
		safetensors.Add(f, name, w, shape...)
		return
	}
	safetensors.Add(f, name+nonzeroValues, values, len(values))
	safetensors.Add(f, name+nonzeroAt, at, len(at))
}

// Weights copies the parameter that AddWeights put into f to w. It returns how many tensors hold it.
func Weights(f *safetensors.File, name string, w []float32, shape []int) (tensors int, err error) {
	if _, ok := f.Tensors[name+nonzeroValues]; !ok {
		values, err := safetensors.Values[float32](f, name, shape...)
		if err != nil {
			return 0, err
		}
		copy(w, values)
		return 1, nil
	}
	values, err := safetensors.Values[float32](f, name+nonzeroValues, -1)
	if err != nil {
		return 0, err
	}
	at, err := safetensors.Values[int64](f, name+nonzeroAt, len(values))
	if err != nil {
		return 0, err
	}
	last := int64(-1)
	for k, j := range at {
		if j <= last || j >= int64(len(w)) {
			return 0, fmt.Errorf("tensor %q: entry %d is %d, expected numbers that rise and stay below %d", name+nonzeroAt, k, j, len(w))
		}
		w[j], last = values[k], j
	}
	return 2, nil
}
