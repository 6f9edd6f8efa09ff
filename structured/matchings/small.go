package matchings

import (
	"math/rand/v2"

	"github.com/dsp-go/dsp/structured"
)

// Small draws the form of potentials of a few examples that are small enough to enumerate: at most 4 sources and 4
// targets, some with none of either. Complete matchings exist in all of them.
func (s Matching) Small(r *rand.Rand) *structured.Potentials {
	var sources, targets []int
	for range 1 + r.IntN(3) {
		n, m := r.IntN(5), r.IntN(5)
		if s.Complete && n > m {
			n, m = m, n
		}
		sources, targets = append(sources, n), append(targets, m)
	}
	θ := new(structured.Potentials)
	s.Resize(θ, sources, targets)
	return θ
}

// Resize gives θ the form of a batch of matchings, with the numbers of sources and of targets of each example, and
// reuses its memory. The values are undefined.
func (s Matching) Resize(θ *structured.Potentials, sources, targets []int) {
	outputs, pairs := []int{0}, []int{0}
	for b, n := range sources {
		outputs, pairs = append(outputs, outputs[b]+n), append(pairs, pairs[b]+n*targets[b])
	}
	θ.Reshape(s.Form(), outputs, func(table string) []int {
		if table == PairRows {
			return pairs
		}
		return outputs
	})
}
