package calibration

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
)

// logAdd returns log(exp a + exp b).
func logAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

// Of every structure with exact sums, the logarithms of the probabilities of parts are those of enumeration, however
// small these are.
func TestRarePartsByEnumeration(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 39))
	for _, kind := range registry.All {
		if _, err := oracles.ExactSums(kind.Oracle(), "it", kind.Name()); err != nil {
			continue
		}
		rare := 0
		for round := range 12 {
			θ := kind.Small(r)
			spread := []float64{1, 30, 1000}[round%3]
			for k := range θ.Parts {
				for i := range θ.Parts[k].Values {
					θ.Parts[k].Values[i] = float32(spread * r.NormFloat64())
				}
			}
			kind.Prepare(θ)
			o := kind.Oracle().(oracles.Summer)
			f := forcing{oracle: o}
			value, u := make([]float64, θ.Len()), &structured.Marginals{}
			for _, temperature := range []float64{0.5, 3} {
				o.Exp(θ, temperature, value, u)
				for b := range θ.Len() {
					var one structured.Potentials
					θ.View(b, &one)
					logs, all := map[part]float64{}, math.Inf(-1)
					θ.Structure.Each(θ, b, func(y []int32) {
						score := θ.Score(b, y) / temperature
						all = logAdd(all, score)
						structured.Locate(&one, y, func(of, at int, _ int32) {
							p := part{part: of, at: at}
							if before, ok := logs[p]; ok {
								logs[p] = logAdd(before, score)
							} else {
								logs[p] = score
							}
						})
					})
					for p, log := range logs {
						if !f.possible(θ, b, &p) {
							t.Fatalf("%s: a part of an output is not possible", kind.Name())
						}
						got, want := f.nll(θ, b, p, value[b], temperature), all-log
						rounding := 2 * oracles.Rounding(kind.Oracle(), θ, b, temperature) / temperature // of a difference of two sums
						if math.Abs(got-want) > 1e-5*(1+want)+rounding {
							t.Errorf("%s, spread %v, temperature %v: −log p %v, want %v", kind.Name(), spread, temperature, got, want)
						}
						if want > 100 {
							rare++
						}
					}
				}
			}
		}
		if rare == 0 {
			t.Errorf("%s: no part is rare", kind.Name())
		}
	}
}

// A part that no output has is left out, though its own potential allows it.
func TestImpossibleParts(t *testing.T) {
	m, d := drawn(t, 4, 1)
	d.Offsets, d.Features, d.Labels = []int{0, 2}, []float32{1, 0, 0, 1}, []int32{0, 1}
	θ, err := m.Potentials(t.Context(), d, 1)
	if err != nil {
		t.Fatal(err)
	}
	edges := θ.Parts[1].Values // no step into label 1
	for i := range edges {
		if i%3 == 1 {
			edges[i] = float32(math.Inf(-1))
		}
	}
	s, err := newSearch(t.Context(), m, d, Tokens, 1)
	if err != nil {
		t.Fatal(err)
	}
	r := s.parts(registry.Of(θ.Structure).Oracle().(oracles.Summer), []int{0}, θ, []float64{0, 1}, true)
	if r.count != 1 || r.skipped != 1 || slices.ContainsFunc(r.sums, func(x float64) bool {
		return !(x >= 0) || math.IsInf(x, 0)
	}) {
		t.Errorf("%+v", r)
	}
}
