package oracletest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/kinds"
	"github.com/dsp-go/dsp/structured"
)

// masksForbid checks that large negative potentials, which users put in place of −∞, do not blur the other outputs: where some output has none of
// them, all answers are those for −∞. Structures whose oracles take differences of sums in float64 bear none that are 2⁵³ times larger than others.
func masksForbid(t *testing.T, kind kinds.Kind, o oracles.Maximiser) {
	for _, mask := range []float32{-1e4, -1e5, -1e6, -1e7, -1e8, -1e9, -1.0000001e9, -3e9, -1e12, -1e20, -1e30, minusInf} {
		t.Run(fmt.Sprint(mask), func(t *testing.T) {
			for seed := range uint64(60) {
				r := rand.New(rand.NewPCG(seed, 13))
				θ := kind.Small(r)
				share := 0.1 * float64(1+r.IntN(4))
				for k := range θ.Parts {
					for i := range θ.Parts[k].Values {
						θ.Parts[k].Values[i] = float32(r.IntN(5) - 2)
						if seed%2 == 0 {
							θ.Parts[k].Values[i] = 6*r.Float32() - 3
						}
						if r.Float64() < share {
							θ.Parts[k].Values[i] = mask
						}
					}
				}
				kind.Prepare(θ)
				without := clone(θ)
				for k := range without.Parts {
					for i, x := range without.Parts[k].Values {
						switch {
						case x == mask:
							without.Parts[k].Values[i] = minusInf
						case x == -mask: // what Prepare has made of a mask
							without.Parts[k].Values[i], θ.Parts[k].Values[i] = 1, 1
						}
					}
				}
				checkMasked(t, fmt.Sprintf("seed %d", seed), o, θ, without)
			}
		})
	}
}

// subtractsSums reports whether the oracle of a kind takes differences of sums over a whole example, or, of counted segments, adds the price and takes it off.
func subtractsSums(kind kinds.Kind) bool {
	return strings.HasPrefix(kind.Name(), "counted") || strings.Contains(kind.Name(), "cuts") || kind.Name() == "window"
}

func checkMasked(t *testing.T, name string, o oracles.Maximiser, θ, without *structured.Potentials) {
	t.Helper()
	const tolerance = 1e-5
	y, value := make([]int32, θ.OutputSize()), make([]float64, θ.Len())
	all := make([][]Output, θ.Len())
	o.Max(θ, y, value)
	for b := range all {
		if all[b] = Enumerate(without, b); len(all[b]) > 0 && !(math.Abs(value[b]-all[b][0].Score) <= tolerance) {
			t.Errorf("%s: the best output scores %g, found %g", name, all[b][0].Score, value[b])
		}
	}
	if s, ok := o.(oracles.Summer); ok {
		var u structured.Marginals
		s.Exp(θ, 1, value, &u)
		want := Gibbs(without, 1)
		for b := range all {
			if len(all[b]) == 0 {
				continue
			}
			if logZ := logPartition(all[b], 1); !(math.Abs(value[b]-logZ) <= tolerance) {
				t.Errorf("%s: log Z is %g, found %g", name, logZ, value[b])
			}
			if entropy := oracles.GibbsEntropy(&u, θ, b, 1, value[b]); !(math.Abs(entropy-oracles.GibbsEntropy(want, without, b, 1, logPartition(all[b], 1))) <= 1e-4) {
				t.Errorf("%s: the entropy is %g, found %g", name, oracles.GibbsEntropy(want, without, b, 1, logPartition(all[b], 1)), entropy)
			}
			for k := range u.Parts {
				for i, p := range want.Parts[k].Of(b) {
					if q := u.Parts[k].Of(b)[i]; !(math.Abs(float64(p-q)) <= tolerance) {
						t.Errorf("%s: marginal %d of part %d is %g, found %g", name, i, k, p, q)
						break
					}
				}
			}
		}
	}
	if r, ok := o.(oracles.Ranker); ok {
		var best oracles.KBest
		r.TopK(θ, 3, &best)
		for b := range all {
			for k := range min(3, len(all[b])) {
				if k >= best.Count[b] || !(math.Abs(best.Score[3*b+k]-all[b][k].Score) <= tolerance) {
					t.Errorf("%s: output %d scores %g, found %d outputs, scores %g", name, k, all[b][k].Score, best.Count[b], best.Score[3*b:3*b+3])
				}
			}
		}
	}
}
