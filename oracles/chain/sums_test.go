package chain

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// summands are ways to draw positive terms on which sums one after another go wrong.
var summands = []struct {
	name string
	draw func(r *rand.Rand, i int) float32
}{
	{"equal", func(*rand.Rand, int) float32 { return 0.7 }},
	{"random", func(r *rand.Rand, _ int) float32 { return r.Float32() }},
	{"first large", func(_ *rand.Rand, i int) float32 { // a plain sum loses all terms but the first
		if i == 0 {
			return 1
		}
		return 0x1p-25
	}},
	{"falling", func(_ *rand.Rand, i int) float32 { return 1 / float32(1+i) }},
}

// Sums over up to 5,000 labels err by at most depth(Y) units, and one for the product, whatever the kernels and the
// terms.
func TestSumsOverManyLabels(t *testing.T) {
	for _, k := range available {
		for _, terms := range summands {
			t.Run(k.name+", "+terms.name, func(t *testing.T) {
				for _, y := range []int{1, 2, 7, 31, 32, 33, 64, 65, 255, 257, 1000, 5000} {
					sumsOver(t, k, y, terms.draw)
				}
			})
		}
	}
}

func sumsOver(t *testing.T, k *kernels, y int, draw func(r *rand.Rand, i int) float32) {
	r, stride := rand.New(rand.NewPCG(uint64(y), 1)), roundUp(y, k.lanes)
	a, want := make([]float32, stride), 0.0
	one := make([]float32, stride)
	for i := range y {
		a[i], one[i] = draw(r, i), 1
		want += float64(a[i])
	}
	check := func(what string, got, extra float64) {
		t.Helper()
		if units := (got/want - 1) * 0x1p24; !(math.Abs(units) <= depth(y)+extra) {
			t.Fatalf("Y=%d: %s is %g units off, the bound is %g", y, what, units, depth(y)+extra)
		}
	}
	for columns := k.lanes; columns <= 7*k.lanes; columns += k.lanes { // whole blocks and what remains
		m, next := make([]float32, y*columns), make([]float32, columns)
		for i := range m {
			m[i] = 1
		}
		k.single.matVec(next, a, m, y)
		for _, s := range next {
			check("product with the transposed matrix", float64(s), 1)
		}
	}
	next := make([]float32, stride)
	k.single.matDots(next, one, a, 1)
	check("product with the matrix", float64(next[0]), 1)
	check("sum", float64(k.single.normalise(next, a, one)), 1)
	total := 0.0
	for _, x := range next {
		total += float64(x)
	}
	want = 1
	for _, x := range a {
		want += float64(x)
	}
	want--
	check("normalised", total*want, 5)
	g, p := make([]float32, stride), make([]float32, stride)
	k.single.combine(g, p, a, one, one)
	total = 0
	for _, x := range p {
		total += float64(x)
	}
	check("marginals", total*want, 5)
	score := make([]float64, stride)
	for i := y; i < stride; i++ {
		score[i] = math.Inf(-1)
	}
	m, sum := k.logSum(make([]float32, stride), score, a, 1)
	if m != 0 {
		t.Fatalf("Y=%d: largest exponent %g", y, m)
	}
	check("sum of exponentials", sum, 1)
}

// With equal potentials, log Z is T·log Y, and marginals are 1/Y. A plain loop over 1,000 labels errs by 19 units per
// position, always down, and its marginals sum to 1 less 114 units; with runs the errors stay below 3 units, and within
// the bounds for any potentials.
func TestEqualPotentials(t *testing.T) {
	const length, potential = 4, 0.25
	for name, o := range Every() {
		for _, y := range []int{1, 2, 9, 100, 1000} {
			for _, μ := range []float64{1, 1e-3} {
				t.Run(fmt.Sprintf("%s, Y=%d, μ=%g", name, y, μ), func(t *testing.T) {
					θ, value, u := new(structured.Potentials), make([]float64, 1), new(structured.Marginals)
					chains.Resize(θ, []int{0, length}, y, false)
					for k := range θ.Parts {
						for i := range θ.Parts[k].Values {
							θ.Parts[k].Values[i] = potential
						}
					}
					logs := μ < 1 && y > 1
					if logs { // one step spans too much for probabilities
						θ.Parts[1].Values[0] = -1e4
					}
					o.Exp(θ, μ, value, u)
					want := reference(θ, μ)
					if units := (value[0] - want) / μ * 0x1p24; !logs && math.Abs(units) > 3*length {
						t.Errorf("log Z errs by %g units", units)
					}
					if bound := o.Rounding(θ, 0, μ); !(math.Abs(value[0]-want) <= bound) {
						t.Errorf("value %v, want %v within %g", value[0], want, bound)
					}
					for p := range length {
						sum, bound := 0.0, depth(y)+5
						for _, x := range u.Parts[0].Values[p*y:][:y] {
							sum += float64(x)
						}
						if logs { // the errors of earlier positions add up
							bound *= float64(p + 2)
						}
						if units := (sum - 1) * 0x1p24; math.Abs(units) > bound {
							t.Errorf("marginals of position %d sum to 1 plus %g units, the bound is %g", p, units, bound)
						}
					}
				})
			}
		}
	}
}

// Marginals of edges that all steps share are sums over a long chain.
func TestSumsOverManySteps(t *testing.T) {
	for name, o := range Every() {
		for _, spread := range []float32{1, 800} { // probabilities, and the log domain
			t.Run(fmt.Sprintf("%s, range %g", name, spread), func(t *testing.T) {
				const length = 20_001
				θ, value, u := new(structured.Potentials), make([]float64, 1), new(structured.Marginals)
				chains.Resize(θ, []int{0, length}, 2, false)
				clear(θ.Parts[0].Values)
				clear(θ.Parts[1].Values)
				θ.Parts[1].Values[3] = -spread
				o.Exp(θ, 1, value, u)
				sum := 0.0
				for _, x := range u.Parts[1].Values {
					sum += float64(x)
				}
				if units := (sum/(length-1) - 1) * 0x1p24; math.Abs(units) > 60 {
					t.Errorf("marginals of edges sum to T−1 up to %g units", units)
				}
			})
		}
	}
}
