package constituent

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// Exp answers as sums of logarithms do, with spans and labels that are forbidden, and with scores so far apart that
// products leave the range of float64: then logarithms answer.
func TestProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, words := range []int{1, 2, 3, 7, 30} {
		answers, refusals := 0, 0
		for _, scale := range []float32{1, 8, 35, 300} {
			θ, o := drawn(6, words, 4), New()
			for k := range θ.Parts {
				for i := range θ.Parts[k].Values {
					word := k == 0 && i%(words*words)%(words+1) == 0
					if θ.Parts[k].Values[i] *= scale; r.IntN(8) == 0 && !word {
						θ.Parts[k].Values[i] = float32(minusInf)
					}
				}
			}
			value := make([]float64, θ.Len())
			var u, v structured.Marginals
			o.Exp(θ, 0.8, value, &u)
			v.Like(θ)
			v.Clear()
			for b := range value {
				o.open(θ, b, 1/0.8)
				if _, ok := o.products(); ok {
					answers++
				} else {
					refusals++
				}
				o.sums()
				all := words - 1
				logZ := o.inside[all] + float64(o.span[all])*o.rate + o.root(all)
				if want := 0.8 * logZ; value[b] != want && !(math.Abs(value[b]-want) <= 1e-10*(1+math.Abs(want))) {
					t.Fatalf("%d words, scale %g, sentence %d: %g, by logarithms %g", words, scale, b, value[b], want)
				}
				if logZ > minusInf {
					o.marginals(v.Parts[0].Of(b), v.Parts[1].Of(b))
				}
				for k := range u.Parts {
					for i, p := range u.Parts[k].Of(b) {
						if q := v.Parts[k].Of(b)[i]; !(math.Abs(float64(p-q)) <= 1e-6) {
							t.Fatalf("%d words, scale %g, sentence %d, part %d: marginal %g, by logarithms %g", words, scale, b, k, p, q)
						}
					}
				}
			}
		}
		if words == 30 && (answers == 0 || refusals == 0) {
			t.Errorf("products answered %d times and refused %d times", answers, refusals)
		}
	}
}
