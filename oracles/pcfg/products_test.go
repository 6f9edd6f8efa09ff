package pcfg_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles/chart"
	"github.com/dsp-go/dsp/oracles/oracletest"
	grammars "github.com/dsp-go/dsp/oracles/pcfg"
	"github.com/dsp-go/dsp/structured"
)

// Products answer as the chart does, with rules, words and spans that are forbidden, and leave to it scores so far
// apart that terms would be lost.
func TestProducts(t *testing.T) {
	grammars.Each(func(kernel string, o *grammars.Oracle) {
		t.Run(kernel, func(t *testing.T) {
			r := rand.New(rand.NewPCG(5, 6))
			reference, products := chart.New(grammars.Declare), o.Products
			answers, refusals := 0, 0
			o.Products = func(θ *structured.Potentials, b int, rate float64, u *structured.Marginals) (float64, bool) {
				logZ, ok := products(θ, b, rate, u)
				if ok {
					answers++
				} else {
					refusals++
				}
				return logZ, ok
			}
			for _, size := range [][2]int{{1, 1}, {3, 2}, {4, 9}, {10, 20}} {
				for _, perExample := range []bool{false, true} {
					for _, scale := range []float32{1, 10, 300} {
						θ := sentences(size[0], size[1], perExample, 2, 3, 4, 5, 13)
						for k := range θ.Parts {
							for i := range θ.Parts[k].Values {
								if θ.Parts[k].Values[i] *= scale; r.IntN(8) == 0 {
									θ.Parts[k].Values[i] = float32(math.Inf(-1))
								}
							}
						}
						answers = 0
						compare(t, fmt.Sprintf("%v, scale %g", size, scale), o, reference, θ)
						if scale == 1 && answers == 0 {
							t.Errorf("%v: the chart answered for all", size)
						}
					}
				}
			}
			if refusals == 0 {
				t.Error("products answered for all")
			}
		})
	})
}

func compare(t *testing.T, name string, o *grammars.Oracle, reference *chart.Oracle, θ *structured.Potentials) {
	t.Helper()
	value, want := make([]float64, θ.Len()), make([]float64, θ.Len())
	var u, v structured.Marginals
	o.Exp(θ, 0.8, value, &u)
	reference.Exp(θ, 0.8, want, &v)
	for b := range value {
		oracletest.Near(t, name+": log Z", value[b], want[b], 1e-9)
		for k := range u.Parts {
			for i, p := range u.Parts[k].Of(b) {
				if q := v.Parts[k].Of(b)[i]; math.Abs(float64(p-q)) > 1e-6*(1+float64(q)) {
					t.Fatalf("%s: sentence %d, part %d: marginal %g, the chart has %g", name, b, k, p, q)
				}
			}
		}
	}
}

// Terms that are lost in products, but not beside what is left in the end: rules beyond the range of float64, and sums
// of one nonterminal that fall below those of another before the other's fall as well. And a product of five factors,
// none of them tiny, that float64 holds with a digit or two.
func TestLostTerms(t *testing.T) {
	inf := float32(math.Inf(-1))
	rare := sentences(2, 1, false, 2)
	late := sentences(2, 1, false, 13)
	five := sentences(2, 2, false, 3)
	for _, θ := range []*structured.Potentials{rare, late, five} {
		for k := range θ.Parts {
			clear(θ.Parts[k].Values)
		}
	}
	rare.Parts[2].Values[8] = -709 * 0.8 // A → P P
	rare.Parts[3].Values[1] = -707 * 0.8 // B
	for i := range late.Parts[2].Values {
		late.Parts[2].Values[i] = inf
	}
	for _, rule := range []int{2, 8, 14, 17} { // A → A P, A → P P, B → B P, B → P P
		late.Parts[2].Values[rule] = 0
	}
	for i := 13 * 2; i < len(late.Parts[0].Values); i++ { // spans that do not begin with the first word
		late.Parts[0].Values[i] = inf
	}
	for j := range 13 {
		falls := 0
		if j > 6 {
			falls = 1
		}
		late.Parts[0].Values[j*2+falls] = -150 * 0.8
	}
	const factor = -148.7 * 0.8
	for i := range five.Parts[2].Values {
		five.Parts[2].Values[i] = inf
	}
	five.Parts[2].Values[3] = factor              // A → A Q
	five.Parts[2].Values[15] = factor             // A → Q Q
	five.Parts[2].Values[16+15] = 0               // B → Q Q, beside which A is rare as the left child
	five.Parts[1].Values[2*2+1] = factor          // the last word is Q, not P
	five.Parts[0].Values[(0*3+2)*2] = factor      // all words are A, not B
	five.Parts[0].Values[(1*3+2)*2] = -2 * factor // the last two outweigh the first two, but no rule adds them to a word
	five.Parts[0].Values[(1*3+2)*2+1] = -2 * factor
	grammars.Each(func(kernel string, o *grammars.Oracle) {
		compare(t, kernel+": five factors", o, chart.New(grammars.Declare), five)
		compare(t, kernel+": rare rules", o, chart.New(grammars.Declare), rare)
		compare(t, kernel+": late falls", o, chart.New(grammars.Declare), late)
	})
}
