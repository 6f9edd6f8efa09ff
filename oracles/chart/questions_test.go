package chart_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/chain"
	"github.com/dsp-go/dsp/oracles/chart"
	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// instance is a small batch of a kind with a chart, another of its form, and the outputs of an example with their
// probabilities.
type instance struct {
	θ, other *structured.Potentials // other has 0 where θ is −∞
	μ        float64
	b        int
	outputs  []oracletest.Output
	p        []float64
}

// eachKind checks a property of instances of every kind that declares a chart.
func eachKind(t *testing.T, check func(t *rapid.T, o *chart.Oracle, x *instance)) {
	for _, k := range registry.All {
		if k.Chart == nil {
			continue
		}
		t.Run(k.Name(), rapid.MakeCheck(func(t *rapid.T) {
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 5))
			x := &instance{θ: k.Small(r), other: new(structured.Potentials), μ: math.Exp(2*r.Float64() - 1)}
			x.other.Like(x.θ)
			forbidden := 0.2 * r.Float64()
			for k := range x.θ.Parts {
				for i := range x.θ.Parts[k].Values {
					x.θ.Parts[k].Values[i], x.other.Parts[k].Values[i] = float32(r.NormFloat64()), float32(r.NormFloat64())
					if r.Float64() < forbidden {
						x.θ.Parts[k].Values[i], x.other.Parts[k].Values[i] = float32(math.Inf(-1)), 0
					}
				}
			}
			o := chart.New(k.Chart)
			for x.b = range x.θ.Len() {
				x.outputs = oracletest.Enumerate(x.θ, x.b)
				x.p = probabilities(x.outputs, x.μ, func(y oracletest.Output) float64 { return y.Score })
				check(t, o, x)
			}
		}))
	}
}

func probabilities(outputs []oracletest.Output, μ float64, score func(y oracletest.Output) float64) []float64 {
	p, sum := make([]float64, len(outputs)), 0.0
	for i, y := range outputs {
		p[i] = math.Exp((score(y) - score(outputs[0])) / μ)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// Products with the Hessian are covariances of 1_y with ⟨d, 1_y⟩ by μ, of which the quadratic form is a variance.
func TestHessianProduct(t *testing.T) {
	eachKind(t, func(t *rapid.T, o *chart.Oracle, x *instance) {
		var product, u, want structured.Marginals
		o.HessianProduct(x.θ, x.μ, x.other, &product)
		for _, m := range []*structured.Marginals{&u, &want} {
			m.Like(x.θ)
			m.Clear()
		}
		mean, square := 0.0, 0.0
		for i, y := range x.outputs {
			along := x.other.Score(x.b, y.Values)
			mean += x.p[i] * along
			square += x.p[i] * along * along
		}
		for i, y := range x.outputs {
			want.Add(x.b, y.Values, float32(x.p[i]*(x.other.Score(x.b, y.Values)-mean)/x.μ))
		}
		for k := range want.Parts {
			oracletest.NearAll(t, want.Parts[k].Name, product.Parts[k].Of(x.b), want.Parts[k].Of(x.b),
				2e-5*float64(1+len(x.outputs))/10)
		}
		oracletest.Near(t, "variance", product.Dot(x.b, x.other), (square-mean*mean)/x.μ, 1e-4*(1+square)/x.μ)
	})
}

// Entropies, expectations and divergences are those of the distribution over all outputs.
func TestEntropyExpectationDivergence(t *testing.T) {
	eachKind(t, func(t *rapid.T, o *chart.Oracle, x *instance) {
		n := x.θ.Len()
		entropy, expected, divergence, self := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		o.Entropy(x.θ, x.μ, entropy)
		o.Expectation(x.θ, x.μ, x.other, expected)
		o.Divergence(x.θ, x.other, x.μ, divergence)
		o.Divergence(x.θ, x.θ, x.μ, self)
		if len(x.outputs) == 0 {
			if !math.IsNaN(entropy[x.b]) || !math.IsNaN(divergence[x.b]) || expected[x.b] != 0 {
				t.Fatalf("no output: entropy %g, expectation %g, divergence %g", entropy[x.b], expected[x.b], divergence[x.b])
			}
			return
		}
		// The other distribution allows all outputs.
		all := oracletest.Enumerate(x.other, x.b)
		most, logZ := all[0].Score, 0.0
		for _, y := range all {
			logZ += math.Exp((y.Score - most) / x.μ)
		}
		logZ = most/x.μ + math.Log(logZ)
		h, mean, kl := 0.0, 0.0, 0.0
		for i, y := range x.outputs {
			score := x.other.Score(x.b, y.Values)
			if mean += x.p[i] * score; x.p[i] > 0 {
				h -= x.p[i] * math.Log(x.p[i])
				kl += x.p[i] * (math.Log(x.p[i]) - (score/x.μ - logZ))
			}
		}
		oracletest.Near(t, "entropy", entropy[x.b], h, 1e-10*(1+h))
		oracletest.Near(t, "expectation", expected[x.b], mean, 1e-10*(1+math.Abs(mean)))
		oracletest.Near(t, "divergence", divergence[x.b], kl, 1e-9*(1+kl))
		oracletest.Near(t, "divergence from itself", self[x.b], 0, 1e-12)
	})
}

// chainOf is a chain of n labels of y, with the same potentials everywhere but at some places.
func chainOf(n, y int) *structured.Potentials {
	θ := new(structured.Potentials)
	chains.Resize(θ, []int{0, n}, y, false)
	for k := range θ.Parts {
		for i := range θ.Parts[k].Values {
			θ.Parts[k].Values[i] = float32(math.Sin(float64(3 * i)))
		}
	}
	return θ
}

// Outputs may be long: no question takes a stack or digits that grow with them, and answers are those of the kernel.
func TestLongChain(t *testing.T) {
	const n = 30_000
	θ, o, kernel := chainOf(n, 2), chart.New(chain.Declare), chain.New()
	var y [2][]int32
	var value, sum [2][1]float64
	for i, o := range []oracles.Oracle{o, kernel} {
		y[i] = make([]int32, n)
		o.Max(θ, y[i], value[i][:])
		o.Exp(θ, 1, sum[i][:], nil)
	}
	if !slices.Equal(y[0], y[1]) || value[0] != value[1] ||
		!(math.Abs(sum[0][0]-sum[1][0]) <= oracles.Rounding(kernel, θ, 0, 1)+1e-6) {
		t.Errorf("best %g, sum %g; the kernel's are %g and %g", value[0], sum[0], value[1], sum[1])
	}
	var list oracles.KBest
	o.TopK(θ, 3, &list)
	if list.Count[0] != 3 || list.Score[0] != value[0][0] || !(list.Score[1] >= list.Score[2]) {
		t.Errorf("%d best outputs, scores %g", list.Count[0], list.Score)
	}
	if bound := o.Rounding(θ, 0, 1); !(bound > 0 && bound < 1e-6) {
		t.Errorf("the bound on rounding is %g", bound)
	}
}

// Terms of no cells are no terms of the cells before them.
func TestNoCells(t *testing.T) {
	θ := chainOf(1, 2)
	o, value := chart.New(func(c *chart.Chart, _ *structured.Potentials, _ int) {
		c.Cells(1)
		c.Sum(chart.Terms{Count: 2, Weight: chart.Run{At: c.Part(0), PerTerm: 1}, Place: chart.At(1),
			Number: chart.Run{PerTerm: 1}})
		c.Cells(0)
		c.Sum(chart.Terms{Count: 2, Weight: chart.At(c.Part(0)), Place: chart.At(1)})
	}), make([]float64, 1)
	o.Exp(θ, 1, value, nil)
	a, b := float64(θ.Parts[0].Values[0]), float64(θ.Parts[0].Values[1])
	oracletest.Near(t, "log Z", value[0], math.Log(math.Exp(a)+math.Exp(b)), 1e-12)
}

// NaN in gives NaN out, of the example that has it and no other; so do directions that are not finite.
func TestNotANumber(t *testing.T) {
	θ := new(structured.Potentials)
	chains.Resize(θ, []int{0, 3, 5}, 2, true)
	for k := range θ.Parts {
		for i := range θ.Parts[k].Values {
			θ.Parts[k].Values[i] = float32(i % 3)
		}
	}
	var right, wrong structured.Potentials
	right.Copy(θ)
	wrong.Copy(θ)
	wrong.Parts[0].Values[1] = float32(math.NaN())
	o, a, c, d := chart.New(chain.Declare), make([]float64, 2), make([]float64, 2), make([]float64, 2)
	for _, x := range [][2]*structured.Potentials{{&wrong, &right}, {&right, &wrong}} {
		var product structured.Marginals
		o.HessianProduct(x[0], 1, x[1], &product)
		o.Divergence(x[0], x[1], 1, a)
		o.Expectation(x[0], 1, x[1], c)
		o.Entropy(x[0], 1, d)
		for b := range 2 {
			p := product.Parts[0].Of(b)[0]
			for _, v := range []float64{float64(p), a[b], c[b]} {
				if math.IsNaN(v) != (b == 0) {
					t.Errorf("example %d: product %g, divergence %g, expectation %g", b, p, a[b], c[b])
				}
			}
		}
		if math.IsNaN(d[0]) != (x[0] == &wrong) || math.IsNaN(d[1]) {
			t.Errorf("entropies %g", d)
		}
	}
}

// A cell whose share of common exponentials is too small for float64 is summed on its own.
func TestSmallSums(t *testing.T) {
	never := float32(math.Inf(-1))
	θ := new(structured.Potentials)
	chains.Resize(θ, []int{0, 2}, 2, false)
	copy(θ.Parts[0].Values, []float32{0, -360, 0, never}) // by position
	copy(θ.Parts[1].Values, []float32{never, 0, -360, 0}) // from label 0, from label 1
	o, value, u := chart.New(chain.Declare), make([]float64, 1), new(structured.Marginals)
	o.Exp(θ, 1, value, u)
	if value[0] != -720 || !slices.Equal(u.Parts[1].Of(0), []float32{0, 0, 1, 0}) {
		t.Errorf("log Z is %v, steps have the probabilities %v", value[0], u.Parts[1].Of(0))
	}
}
