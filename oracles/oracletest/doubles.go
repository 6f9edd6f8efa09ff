package oracletest

import (
	"math"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
)

// Sums in float64 are within the errors that they state of sums over all outputs with twice as many digits: the value,
// each marginal, and how large scores can be. Half of the potentials have more digits than float32.
func doublesAreWithinErrors(t *rapid.T, kind registry.Kind, o oracles.DoubleSummer) {
	from := rapid.SampledFrom([]numbers{reals, rough, near, mixed, absorbed, hiding, anyNumbers}).Draw(t,
		"kind of numbers")
	θ := drawPotentials(t, kind, from)
	rest := clone(θ)
	var x structured.Doubles
	x.Like(θ.Parts)
	digits := rapid.Float32Range(0, 0x1p-20).Draw(t, "digits")
	for k := range θ.Parts {
		for j, v := range θ.Parts[k].Values {
			low := float32(0)
			if !math.IsInf(float64(v), -1) && digits > 0 {
				low = v * digits * float32(math.Mod(float64(j)*0.618, 1))
			}
			rest.Parts[k].Values[j], x[k][j] = low, float64(v)+float64(low)
			if float64(v)+float64(low)-float64(v) != float64(low) { // not exact
				rest.Parts[k].Values[j], x[k][j] = 0, float64(v)
			}
		}
	}
	CheckDoubles(t, o, θ, rest, x)
}

// CheckDoubles checks the answers of a DoubleSummer for potentials x = θ + rest, which are exact sums. It returns the
// largest share of its bounds that the errors of values take.
func CheckDoubles(t failer, o oracles.DoubleSummer, θ, rest *structured.Potentials,
	x structured.Doubles) (share float64) {
	t.Helper()
	u := zeros(θ)
	var a oracles.DoubleAnswer
	a.U.Like(u.Parts)
	o.ExpDoubly(θ, x, true, &a)
	for b := range θ.Len() {
		outputs, scores := exactPairs(θ, rest, b)
		if len(scores) == 0 || math.IsInf(a.Error[b], 1) {
			continue
		}
		value := exactValue(scores, 1)
		off := math.Abs(value.minus(double{a.Value[b], 0}).hi)
		if !(off <= a.Error[b]) {
			t.Fatalf("example %d: the value is off by %g: the bound is %g", b, off, a.Error[b])
		}
		if off > 0 {
			share = max(share, off/a.Error[b])
		}
		exact := make([]structured.Doubles, 1)
		exact[0].Like(u.Parts)
		for k := range exact[0] {
			clear(exact[0][k])
		}
		for n, y := range outputs {
			if size := math.Abs(scores[n].hi); !(size <= a.Size[b]*(1+1e-12)) {
				t.Fatalf("example %d: a score of %g, where none is to be larger than %g", b, size, a.Size[b])
			}
			p := scores[n].minus(value).exp0()
			u.Add(b, y, 1)
			for k := range u.Parts {
				to := exact[0].Of(k, &u.Parts[k], b)
				for j, count := range u.Parts[k].Of(b) {
					to[j] += float64(count) * p
				}
			}
			u.Scale(b, 0)
		}
		for k := range u.Parts {
			got := a.U.Of(k, &u.Parts[k], b)
			for j, p := range exact[0].Of(k, &u.Parts[k], b) {
				// The reference adds probabilities in float64, of which it has none below e⁻⁶⁰⁰.
				most := p*(a.Noise[b]+float64(len(outputs)+64)*oracles.Double) + 1e-250
				if off := math.Abs(got[j] - p); !(off <= most) {
					t.Fatalf("example %d, part %d, entry %d: the marginal is %g, in exact arithmetic %g: off by %g, the bound is %g",
						b, k, j, got[j], p, off, most)
				}
			}
		}
	}
	return share
}

// failer is what tests and checks of rapid have in common.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// exp0 is exp in float64, of a score that may be above 0 by rounding.
func (x double) exp0() float64 {
	if x.hi > 0 {
		return 1
	}
	return x.exp().hi
}

// exactPairs returns the allowed outputs of example b and their scores by θ + rest.
func exactPairs(θ, rest *structured.Potentials, b int) (outputs [][]int32, scores []double) {
	for _, y := range everyOutput(θ, b) {
		u := zeros(θ)
		u.Add(b, y, 1)
		sum, allowed := double{}, true
		for k := range u.Parts {
			hi, lo := θ.Parts[k].Of(b), rest.Parts[k].Of(b)
			for i, n := range u.Parts[k].Of(b) {
				switch {
				case n == 0:
				case hi[i] == minusInf:
					allowed = false
				default:
					sum = sum.plus(double{float64(n) * float64(hi[i]), 0}).plus(double{float64(n) * float64(lo[i]), 0})
				}
			}
		}
		if allowed {
			outputs, scores = append(outputs, y), append(scores, sum)
		}
	}
	return outputs, scores
}
