package segments

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// Wrong counts the segments that are in one output only, but for those outside, by a table of segments; the loss is
// added to the scores.
func TestWrong(t *testing.T) {
	compared := 0
	for seed := range uint64(60) {
		θ := SmallCounted(rand.New(rand.NewPCG(seed, 2)))
		for k := range θ.Parts {
			clear(θ.Parts[k].Values)
		}
		tags := θ.Parts[0].Width
		count := Count{tags}
		for b := range θ.Len() {
			gold := θ.Gold[b]
			count.Augment(θ, b, structured.Gold{Output: gold})
			Segments{}.Each(θ, b, func(y []int32) {
				in := map[Segment]int{}
				Each(gold, func(s Segment) { in[s] |= 1 })
				Each(y, func(s Segment) { in[s] |= 2 })
				want := 0
				for s, where := range in {
					if where != 3 && s.Label != Outside(tags) && gold != nil {
						want++
					}
				}
				if got := Wrong(y, gold, tags); got != want || θ.Score(b, y) != float64(want) ||
					count.Loss(y, structured.Gold{Output: gold}) != float64(want) {
					t.Fatalf("%v with the gold output %v: %d wrong, score %g, want %d", y, gold, got, θ.Score(b, y), want)
				}
				if want > 2 {
					compared++
				}
			})
		}
	}
	if compared < 100 {
		t.Errorf("only %d outputs had several wrong segments", compared)
	}
}

// Without a fully known gold output the loss is 0, even if its price is infinite.
func TestWrongWithoutGold(t *testing.T) {
	if Wrong([]int32{0, 1}, GoldOf([][]int32{{0, -1}}, 0), 4) != 0 || GoldOf(nil, 0) != nil {
		t.Error("an unknown output has wrong segments")
	}
	θ := new(structured.Potentials)
	θ.Reshape(CountedForm(3, 2, Optional{}), []int{0, 2}, func(table string) []int {
		if table == structured.Examples {
			return []int{0, 1}
		}
		return []int{0, 2}
	})
	for k := range θ.Parts {
		clear(θ.Parts[k].Values)
	}
	lossOf(θ.Parts, 0)[0] = float32(math.Inf(-1))
	if s := θ.Score(0, []int32{0, 1}); s != 0 {
		t.Errorf("score %g", s)
	}
}
