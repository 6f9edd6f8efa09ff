package tree

import (
	"math"
	"testing"
)

// Numbers are positive if they are above 0 and in the range of float64: not 0, not infinite, and no NaN, wherever it
// stands.
func TestPositive(t *testing.T) {
	for _, x := range []struct {
		x    float64
		want bool
	}{
		{1, true}, {math.SmallestNonzeroFloat64, true}, {math.MaxFloat64, true}, {0, false}, {math.Copysign(0, -1), false},
		{-1, false},
		{math.Inf(1), false}, {math.Inf(-1), false}, {math.NaN(), false},
	} {
		for at := range 3 {
			all := []float64{1, 2, 3}
			if all[at] = x.x; positive(all) != x.want {
				t.Errorf("%v: %v", all, positive(all))
			}
		}
	}
	if !positive(nil) {
		t.Error("none is not positive")
	}
}
