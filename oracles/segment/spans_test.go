package segment_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/oracles/segment"
	"github.com/dsp-go/dsp/structured/segments"
)

// The probability of a segment is the sum of those of all outputs that have it, by enumeration; Each finds those that
// are probable enough, in order. What cannot be a segment has probability 0.
func TestSpans(t *testing.T) {
	const μ = 0.8
	p, found := segment.NewSpans(), 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 3))
		θ := segments.Small(r)
		for k := range θ.Parts {
			for i := range θ.Parts[k].Values {
				if θ.Parts[k].Values[i] = float32(r.NormFloat64()); r.IntN(8) == 0 {
					θ.Parts[k].Values[i] = float32(math.Inf(-1))
				}
			}
		}
		s := segments.ShapeOf(θ.Parts)
		for b := range θ.Len() {
			want, sum := map[segments.Segment]float64{}, 0.0
			for _, y := range oracletest.Enumerate(θ, b) {
				q := math.Exp(y.Score / μ)
				sum += q
				segments.Each(y.Values, func(g segments.Segment) { want[g] += q })
			}
			p.Reset(θ, b, μ)
			n := θ.Outputs[b+1] - θ.Outputs[b]
			for first := range n {
				for last := first; last < n; last++ {
					for y := range int32(s.Labels) {
						g := segments.Segment{First: first, Last: last, Label: y}
						q := 0.0
						if sum > 0 {
							q = want[g] / sum
						}
						oracletest.Near(t, "probability", p.Probability(g), q, 1e-6)
					}
				}
			}
			before := segments.Segment{First: -1}
			p.Each(0.1, func(g segments.Segment, q float64) {
				found++
				if q < 0.1 || g.First < before.First || g.First == before.First && g.Last < before.Last {
					t.Errorf("%v with probability %g after %v", g, q, before)
				}
				oracletest.Near(t, "probability", q, want[g]/sum, 1e-6)
				before = g
				delete(want, g)
			})
			for g, q := range want {
				if q/sum > 0.1+1e-6 {
					t.Errorf("%v with probability %g is not visited", g, q/sum)
				}
			}
		}
	}
	if found < 50 {
		t.Errorf("only %d segments were probable: the test shows little", found)
	}
}
