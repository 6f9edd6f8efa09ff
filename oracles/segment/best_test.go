package segment_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/oracles/segment"
	"github.com/dsp-go/dsp/structured/segments"
	"github.com/dsp-go/dsp/structured/sys/seeds"
)

// The best segments have the largest value of all outputs that are allowed, by enumeration, whatever is forbidden.
func TestBestSegments(t *testing.T) {
	p := segment.NewSpans()
	seed := seeds.Draw(t)
	for k := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, k))
		θ := segments.Small(r)
		for k := range θ.Parts {
			for i := range θ.Parts[k].Values {
				if θ.Parts[k].Values[i] = float32(r.NormFloat64()); r.IntN(5) == 0 {
					θ.Parts[k].Values[i] = float32(math.Inf(-1))
				}
			}
		}
		for b := range θ.Len() {
			if θ.Outputs[b+1] == θ.Outputs[b] {
				continue
			}
			worth := map[segments.Segment]float64{}
			value := func(s segments.Segment) float64 {
				if _, ok := worth[s]; !ok {
					if worth[s] = r.NormFloat64(); r.IntN(6) == 0 {
						worth[s] = math.Inf(-1)
					}
				}
				return worth[s]
			}
			weight := float64(r.IntN(2))
			p.Reset(θ, b, 1)
			total := func(all []segments.Segment) (sum float64) {
				s := segments.ShapeOf(θ.Parts)
				for k, g := range all {
					if sum += value(g); k > 0 {
						sum += weight * float64(θ.Parts[2].Of(b)[s.Step(all[k-1].Label, g)])
					}
				}
				return sum
			}
			want := math.Inf(-1)
			for _, y := range oracletest.Enumerate(θ, b) {
				if math.IsInf(y.Score, -1) {
					continue
				}
				var all []segments.Segment
				segments.Each(y.Values, func(g segments.Segment) { all = append(all, g) })
				want = max(want, total(all))
			}
			best := p.Best(value, weight)
			if best == nil {
				if !math.IsInf(want, -1) {
					t.Errorf("no output, expected one of value %g", want)
				}
				continue
			}
			oracletest.Near(t, "value", total(best), want, 1e-5)
			tags := make([]int32, θ.Outputs[b+1]-θ.Outputs[b])
			at, score := 0, 0.0
			for k, g := range best {
				if g.First != at {
					t.Fatalf("%v do not follow each other", best)
				}
				for at = g.First; at <= g.Last; at++ {
					if tags[at] = 2 * g.Label; at > g.First {
						tags[at]++
					}
				}
				if score += p.Score(g); k > 0 {
					score += float64(θ.Parts[2].Of(b)[segments.ShapeOf(θ.Parts).Step(best[k-1].Label, g)])
				}
			}
			if got := θ.Score(b, tags); at != len(tags) || math.IsInf(got, -1) {
				t.Errorf("%v of %d positions scores %g", best, len(tags), got)
			} else {
				oracletest.Near(t, "score", score, got, 1e-5)
			}
		}
	}
}
