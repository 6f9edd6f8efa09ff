package constituents

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// Raise gives each output so many times c as it has numbers in common with y, and Augment each its loss.
func TestRaiseCountsWhatOutputsShare(t *testing.T) {
	const c = 0.5
	r := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		θ := Small(r)
		var all [][]int32
		var before []float64
		Tree{}.Each(θ, 0, func(y []int32) {
			all = append(all, slices.Clone(y))
			before = append(before, Tree{}.Score(θ, 0, y))
		})
		y := all[r.IntN(len(all))]
		Tree{}.Raise(θ, 0, y, c)
		raised := scores(θ, all)
		Tree{}.Raise(θ, 0, y, -c)
		Hamming{}.Augment(θ, 0, structured.Gold{Output: y})
		lost := scores(θ, all)
		for k, other := range all {
			shared := 0
			for row, l := range other {
				if l == y[row] {
					shared++
				}
			}
			if got := raised[k] - before[k]; math.Abs(got-c*float64(shared)) > 1e-4 {
				t.Fatalf("%v, raised by %v, has %v more; it shares %d numbers with %v", other, c, got, shared, y)
			}
			if got, want := lost[k]-before[k], (Hamming{}).Loss(other, structured.Gold{Output: y}); math.Abs(got-want) > 1e-4 {
				t.Fatalf("%v has the loss %v beside %v, and Augment adds %v", other, want, y, got)
			}
		}
	}
}

// scores are those of outputs.
func scores(θ *structured.Potentials, all [][]int32) (s []float64) {
	for _, y := range all {
		s = append(s, Tree{}.Score(θ, 0, y))
	}
	return s
}
