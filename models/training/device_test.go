package training

import (
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// On a GPU a step takes more examples, as long as a pass has enough steps.
func TestDeviceBatch(t *testing.T) {
	data := func(n, length int) *structured.Dataset {
		d := &structured.Dataset{Offsets: []int{0}}
		for range n {
			d.Offsets = append(d.Offsets, d.Offsets[len(d.Offsets)-1]+length)
		}
		return d
	}
	for _, c := range []struct {
		method                 string
		examples, length, want int
	}{
		{"svrg", 100, 10, 1},
		{"svrg", 511, 10, 1},
		{"svrg", 512, 10, 8},
		{"sgd", 6877, 8, 64},
		{"bcfw", 1000000, 8, 1024},
		{"prox-linear", 1000000, 100, 64},
		{"sgd", 1000000, 10000, 1},
		{"lbfgs", 1000000, 8, 1},
	} {
		if got := deviceBatch(c.method, data(c.examples, c.length), 1); got != c.want {
			t.Errorf("%s on %d examples of length %d: %d in a step, want %d", c.method, c.examples, c.length, got, c.want)
		}
	}
}
