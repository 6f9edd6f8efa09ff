package chains

import (
	"math"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"pgregory.net/rapid"
)

// The probabilities of converted tags are the sums over all labelings that are written with them.
func TestSharesOfConvertedTags(t *testing.T) {
	alphabets := [][]string{
		{"B-A", "B-B", "I-A", "I-B", "O"}, {"B-A", "E-A", "I-A", "O", "S-A", "S-B"}, {"B-A", "I-A", "L-A", "O", "U-A"},
		{"B_A", "I_A", "I_B", "O"}, {"I-A", "I-B", "O"}, {"I-A", "B-A"},
	}
	rapid.Check(t, func(t *rapid.T) {
		labels := structured.NewAlphabet(rapid.SampledFrom(alphabets).Draw(t, "labels")...)
		c, err := NewConverter(labels, rapid.SampledFrom(Schemes()).Draw(t, "scheme"))
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "spelt otherwise") {
			c = c.Spelt(Spelling{Lower: true, Behind: true})
		}
		y, length := labels.Len(), rapid.IntRange(1, 4).Draw(t, "length")
		score := rapid.SampledFrom([]float64{-30, -2, -1, 0, 0.5, 2})
		node, edge := make([]float64, length*y), make([]float64, length*y*y)
		for k := range node {
			node[k] = score.Draw(t, "node")
		}
		for k := range edge {
			edge[k] = score.Draw(t, "edge")
		}
		tags := c.Tags()
		u, steps, want, sum := make([]float64, length*y), make([]float64, length*y*y), make([]float64, length*tags.Len()), 0.0
		one := make([]int32, length)
		var each func(at int)
		each = func(at int) {
			if at < length {
				for l := range y {
					one[at] = int32(l)
					each(at + 1)
				}
				return
			}
			s := 0.0
			for k, l := range one {
				if s += node[k*y+int(l)]; k > 0 {
					s += edge[(k*y+int(one[k-1]))*y+int(l)]
				}
			}
			p := math.Exp(s)
			sum += p
			names := c.Names(one)
			for k, l := range one {
				u[k*y+int(l)] += p
				want[k*tags.Len()+int(tags.Index(names[k]))] += p
				if k > 0 {
					steps[(k*y+int(one[k-1]))*y+int(l)] += p
				}
			}
		}
		each(0)
		floats := func(x []float64) []float32 {
			all := make([]float32, len(x))
			for k := range x {
				all[k] = float32(x[k] / sum)
			}
			return all
		}
		got := c.Shares(tags, floats(u), floats(steps))
		if !slices.EqualFunc(got, floats(want), func(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-5 }) {
			t.Fatalf("%v to %v: %v, expected %v", labels.Names(), tags.Names(), got, floats(want))
		}
	})
}
