package inputs

import (
	"fmt"

	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// A parameter of a sparse model is in its file as two tensors: the numbers that are not zero, under the parameter's
// name with this ending, and where in the flat parameter they are, under its name with the other.
const (
	nonzeroValues = ".nonzero"
	nonzeroAt     = ".at"
)

// mostSparse is the size of the largest parameter that is stored sparsely, so that a small file cannot ask for all
// memory.
const mostSparse = 1 << 28

// AddWeights puts a parameter into f: as it is, or as its nonzero numbers if sparse is set and that takes less room.
func AddWeights(f *safetensors.File, name string, w []float32, shape []int, sparse bool) {
	nonzero := 0
	for _, x := range w {
		if x != 0 {
			nonzero++
		}
	}
	if !sparse || 3*nonzero >= len(w) || len(w) > mostSparse {
		safetensors.Add(f, name, w, shape...)
		return
	}
	values, at := make([]float32, 0, nonzero), make([]int64, 0, nonzero)
	for j, x := range w {
		if x != 0 {
			values, at = append(values, x), append(at, int64(j))
		}
	}
	safetensors.Add(f, name+nonzeroValues, values, len(values))
	safetensors.Add(f, name+nonzeroAt, at, len(at))
}

// WeightsTensors returns how many tensors hold a parameter.
func WeightsTensors(f *safetensors.File, name string) int {
	if _, ok := f.Tensors[name+nonzeroValues]; ok {
		return 2
	}
	return 1
}

// CheckWeights refuses a file from which Weights cannot read a parameter of n numbers.
func CheckWeights(f *safetensors.File, name string, n int, shape []int) error {
	if WeightsTensors(f, name) == 1 {
		_, err := safetensors.Values[float32](f, name, shape...)
		return err
	}
	if n < 0 || n > mostSparse {
		return fmt.Errorf("tensor %q: a parameter of %d numbers is stored whole, expected at most %d",
			name+nonzeroValues, n, mostSparse)
	}
	values, err := safetensors.Values[float32](f, name+nonzeroValues, -1)
	if err != nil {
		return err
	}
	at, err := safetensors.Values[int64](f, name+nonzeroAt, len(values))
	if err != nil {
		return err
	}
	last := int64(-1)
	for k, j := range at {
		if j <= last || j >= int64(n) {
			return fmt.Errorf("tensor %q: entry %d is %d, expected numbers that rise and stay below %d", name+nonzeroAt, k, j, n)
		}
		last = j
	}
	return nil
}

// Weights copies the parameter that AddWeights put into f to w, which is zero.
func Weights(f *safetensors.File, name string, w []float32, shape []int) error {
	if err := CheckWeights(f, name, len(w), shape); err != nil {
		return err
	}
	if WeightsTensors(f, name) == 1 {
		values, err := safetensors.Values[float32](f, name, shape...)
		copy(w, values)
		return err
	}
	values, _ := safetensors.Values[float32](f, name+nonzeroValues, -1)
	at, _ := safetensors.Values[int64](f, name+nonzeroAt, -1)
	for k, j := range at {
		w[j] = values[k]
	}
	return nil
}
