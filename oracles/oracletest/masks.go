package oracletest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
)

// masks are numbers that users put in place of −∞; 0 stands for one of the others, drawn anew for each place.
var masks = []float32{-1e4, -1e5, -1e6, -1e7, -1e8, -1e9, -1.0000001e9, -1e12, -1e16, -1e20, -1e30, minusInf, 0}

// masksForbid checks that large negative potentials do not blur the other outputs, whatever their size: all answers
// that have none of them are those for −∞. Of a relaxed oracle it checks that answers are bounds.
func masksForbid(t *testing.T, kind registry.Kind, o oracles.Maximiser) {
	for _, mask := range masks {
		t.Run(fmt.Sprint(mask), func(t *testing.T) {
			for seed := range uint64(30) {
				r := rand.New(rand.NewPCG(seed, 13))
				θ := kind.Small(r)
				share := 0.1 * float64(1+r.IntN(4))
				for k := range θ.Parts {
					for i := range θ.Parts[k].Values {
						x := float32(r.IntN(5) - 2)
						if seed%2 == 0 {
							x = 6*r.Float32() - 3
						}
						if r.Float64() < share {
							if x = mask; mask == 0 {
								x = masks[r.IntN(len(masks)-1)]
							}
						}
						θ.Parts[k].Values[i] = x
					}
				}
				kind.Prepare(θ)
				without := clone(θ)
				for k := range without.Parts {
					for i, x := range without.Parts[k].Values {
						switch {
						case x <= -1e3:
							without.Parts[k].Values[i] = minusInf
						case x >= 1e3: // what Prepare has made of a mask
							without.Parts[k].Values[i], θ.Parts[k].Values[i] = 1, 1
						}
					}
				}
				if relaxed, ok := o.(oracles.Relaxed); ok && relaxed.Relaxed() != "" {
					checkMaskedBounds(t, fmt.Sprintf("seed %d", seed), relaxed, θ, without)
					continue
				}
				checkMasked(t, fmt.Sprintf("seed %d", seed), o, θ, without)
			}
		})
	}
}

// checkMasked compares answers for potentials with masks and enumeration without the masks.
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
		for _, μ := range []float64{1, 0.1} {
			checkMaskedSums(t, fmt.Sprintf("%s, μ = %g", name, μ), s, θ, without, all, μ, tolerance)
		}
	}
	if r, ok := o.(oracles.Ranker); ok {
		var best oracles.KBest
		r.TopK(θ, 3, &best)
		for b := range all {
			for k := range min(3, len(all[b])) {
				if k >= best.Count[b] || !(math.Abs(best.Score[3*b+k]-all[b][k].Score) <= tolerance) {
					t.Errorf("%s: output %d scores %g, found %d outputs, scores %g", name, k, all[b][k].Score,
						best.Count[b], best.Score[3*b:3*b+3])
				}
			}
		}
	}
}

func checkMaskedSums(t *testing.T, name string, s oracles.Summer, θ, without *structured.Potentials,
	all [][]Output, μ, tolerance float64) {
	t.Helper()
	value, u, want := make([]float64, θ.Len()), new(structured.Marginals), Gibbs(without, μ)
	s.Exp(θ, μ, value, u)
	for b := range all {
		if len(all[b]) == 0 {
			continue
		}
		logZ := logPartition(all[b], μ)
		if !(math.Abs(value[b]-logZ) <= tolerance) {
			t.Errorf("%s: log Z is %g, found %g", name, logZ, value[b])
		}
		// Masks with any probability would show in the entropy.
		right, entropy := oracles.GibbsEntropy(want, without, b, μ, logZ), oracles.GibbsEntropy(u, θ, b, μ, value[b])
		if !(math.Abs(entropy-right) <= 1e-4/μ) {
			t.Errorf("%s: the entropy is %g, found %g", name, right, entropy)
		}
		for k := range u.Parts {
			for i, p := range want.Parts[k].Of(b) {
				if q := u.Parts[k].Of(b)[i]; !(math.Abs(float64(p-q)) <= 2*tolerance) {
					t.Errorf("%s: marginal %d of part %d is %g, found %g", name, i, k, p, q)
					break
				}
			}
		}
	}
}

// checkMaskedBounds checks that the answers of a relaxed oracle are bounds of the outputs without masks.
func checkMaskedBounds(t *testing.T, name string, o oracles.Relaxed, θ, without *structured.Potentials) {
	t.Helper()
	const tolerance = 1e-5
	y, value, sum := make([]int32, θ.OutputSize()), make([]float64, θ.Len()), make([]float64, θ.Len())
	oracles.MaxBound(o, θ, y, value)
	s, sums := o.(oracles.Summer)
	if sums {
		s.Exp(θ, 1, sum, nil)
	}
	for b := range θ.Len() {
		all := Enumerate(without, b)
		if len(all) == 0 {
			continue
		}
		if best := all[0].Score; !(value[b] >= best-tolerance) || math.IsInf(value[b], 1) {
			t.Errorf("%s: the best output scores %g, the bound is %g", name, best, value[b])
		}
		if logZ := logPartition(all, 1); sums && (!(sum[b] >= logZ-tolerance) || math.IsInf(sum[b], 1)) {
			t.Errorf("%s: log Z is %g, the bound %g", name, logZ, sum[b])
		}
	}
}
