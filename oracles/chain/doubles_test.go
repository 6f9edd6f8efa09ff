package chain_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/chain"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// Node potentials of one label are such that each sum of them is rounded up by almost as much as it may be. The error
// of the value is a quarter of its bound or more, and within it.
func TestDoublesThatAllRoundUp(t *testing.T) {
	const n = 400
	θ := new(structured.Potentials)
	chains.Resize(θ, []int{0, n}, 1, false)
	var x structured.Doubles
	x.Like(θ.Parts)
	x[1][0] = 0
	sum, exact := 0.0, 0.0 // exact is Σ of what rounding adds
	for i := range n {
		v := 1e6
		if up := math.Nextafter(sum+v, math.Inf(1)); i > 0 {
			unit := up - (sum + v)
			v = unit * (math.Floor(v/unit) + 0.51)
		}
		x[0][i] = v
		to := sum + v
		exact += (to - sum) - v // exact (Sterbenz does not apply, but both have few digits left)
		sum = to
	}
	for name, o := range chain.Every() {
		var a oracles.DoubleAnswer
		o.ExpDoubly(θ, x, false, &a)
		off := a.Value[0] - sum + exact
		if !(math.Abs(off) <= a.Error[0]) || math.Abs(off) < a.Error[0]/4 {
			t.Errorf("%s: the value is off by %g, with a bound of %g", name, off, a.Error[0])
		}
	}
}

// Float64 holds the sums of potentials as training has them, in long chains, too, and refuses those that are too far
// apart.
func TestRangeOfDoubles(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for name, o := range chain.Every() {
		for _, per := range []bool{false, true} {
			for _, spread := range []float64{1, 50, 2000} {
				θ := new(structured.Potentials)
				chains.Resize(θ, []int{0, 3, 3, 700}, 5, per)
				var x structured.Doubles
				x.Like(θ.Parts)
				for k := range x {
					for j := range x[k] {
						x[k][j] = spread * (r.Float64() - 0.5)
					}
				}
				var a oracles.DoubleAnswer
				o.ExpDoubly(θ, x, false, &a)
				for b, e := range a.Error {
					if wide := spread > 1000 && b != 1; math.IsInf(e, 1) != wide || !wide && !(e <= 1e-7) {
						t.Errorf("%s, edges per position: %v, potentials within ±%g: chain %d has the error %g", name, per, spread/2, b, e)
					}
				}
			}
		}
	}
}

// BenchmarkExpDoubly sums 100 sentences of 20 words with 20 labels, beside Exp in float32.
func BenchmarkExpDoubly(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	θ, offsets := new(structured.Potentials), []int{0}
	for i := range 100 {
		offsets = append(offsets, 20*(i+1))
	}
	chains.Resize(θ, offsets, 20, false)
	var x structured.Doubles
	x.Like(θ.Parts)
	for k := range x {
		for j := range x[k] {
			θ.Parts[k].Values[j] = float32(r.NormFloat64())
			x[k][j] = float64(θ.Parts[k].Values[j])
		}
	}
	u, value, o := new(structured.Marginals), make([]float64, 100), chain.New()
	u.Like(θ)
	b.Run("float64", func(b *testing.B) {
		var a oracles.DoubleAnswer
		a.U.Like(u.Parts)
		for b.Loop() {
			o.ExpDoubly(θ, x, true, &a)
		}
	})
	b.Run("float32", func(b *testing.B) {
		for b.Loop() {
			o.Exp(θ, 1, value, u)
		}
	})
}
