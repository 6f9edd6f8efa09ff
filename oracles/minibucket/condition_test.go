package minibucket

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/oracles/junction"
)

// Wherever it is stopped, log Z lies in the interval, which only shrinks; left to run, it is log Z.
func TestConditioning(t *testing.T) {
	split := 0
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		m := draw(r, rapid.SampledFrom([]float64{0, 1, 10, 300, 1e5}).Draw(t, "scale"), rapid.Bool().Draw(t, "forbidden"))
		want := exact(m)
		slack := roundingOf(want)
		b := New(m, rapid.SampledFrom([]float64{1, 9, 27}).Draw(t, "entries"))
		for range rapid.IntRange(0, 5).Draw(t, "passes") {
			b.Pass()
		}
		c := b.Condition()
		if rapid.Bool().Draw(t, "few wait") {
			c.most = rapid.IntRange(1, 9).Draw(t, "most")
		}
		states, value := junction.NewTree(m, junction.NewPlan(m)).Max()
		if !math.IsInf(value, -1) && rapid.Bool().Draw(t, "follow") {
			if c.Follow(states); c.Lower() < value-slack {
				t.Fatalf("lower bound %v, an assignment was followed that has %v", c.Lower(), value)
			}
		}
		for range 100000 {
			lower, upper := c.Lower(), c.Upper()
			if lower > want+slack || upper < want-slack {
				t.Fatalf("log Z %v is not in %v..%v", want, lower, upper)
			}
			if c.Exact() {
				break
			}
			split++
			c.Visit(1, func() bool { return false })
			if c.Lower() < lower || c.Upper() > upper {
				t.Fatalf("%v..%v widens to %v..%v", lower, upper, c.Lower(), c.Upper())
			}
		}
		if !c.Exact() || c.Upper() != want && (math.Abs(c.Upper()-want) > slack || math.Abs(c.Lower()-want) > slack) {
			t.Fatalf("%v..%v at the end, want %v", c.Lower(), c.Upper(), want)
		}
	})
	if split == 0 {
		t.Error("no model had anything to visit")
	}
}
