package pcfg_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/oracletest"
	grammars "github.com/dsp-go/dsp/oracles/pcfg"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/constituents"
	"github.com/dsp-go/dsp/structured/pcfg"
)

// sentences draws potentials of sentences of some numbers of words.
func sentences(nonterminals, preterminals int, perExample bool, words ...int) *structured.Potentials {
	positions, pairs, examples := []int{0}, []int{0}, []int{0}
	for b, n := range words {
		positions, pairs, examples = append(positions, positions[b]+n), append(pairs, pairs[b]+n*n), append(examples, b+1)
	}
	θ := new(structured.Potentials)
	θ.Reshape(pcfg.Form(nonterminals, preterminals, perExample), pairs, func(table string) []int {
		switch table {
		case constituents.SpanRows:
			return pairs
		case structured.Examples:
			return examples
		}
		return positions
	})
	r := rand.New(rand.NewPCG(uint64(nonterminals), 9))
	for k := range θ.Parts {
		for i := range θ.Parts[k].Values {
			θ.Parts[k].Values[i] = float32(r.NormFloat64())
		}
	}
	return θ
}

// direct is log Z of example b, by the recurrence over all pairs of symbols and all divisions of a span, and nothing
// else.
func direct(θ *structured.Potentials, b int) float64 {
	n := constituents.Words(θ.Outputs[b+1] - θ.Outputs[b])
	nonterminals, preterminals := pcfg.Sizes(θ.Parts)
	symbols := nonterminals + preterminals
	of := func(part, entry int) float64 { return math.Exp(float64(θ.Parts[part].Of(b)[entry])) }
	weight := make([]float64, n*n*symbols)
	for w := range n {
		for i := range n - w {
			j := i + w
			to := weight[(i*n+j)*symbols:][:symbols]
			if w == 0 {
				for p := range preterminals {
					to[nonterminals+p] = of(1, i*preterminals+p)
				}
				continue
			}
			for a := range nonterminals {
				for k := i; k < j; k++ {
					for x := range symbols {
						for y := range symbols {
							to[a] += of(2, (a*symbols+x)*symbols+y) * weight[(i*n+k)*symbols+x] * weight[((k+1)*n+j)*symbols+y]
						}
					}
				}
				to[a] *= of(0, (i*n+j)*nonterminals+a)
			}
		}
	}
	sum := 0.0
	for a := range nonterminals {
		sum += of(3, a) * weight[(n-1)*symbols+a]
	}
	return math.Log(sum)
}

func TestContract(t *testing.T) {
	oracletest.Run(t, registry.Of(pcfg.Tree{}), grammars.New())
}

// Sums over sentences too long to enumerate are those of the plain recurrence.
func TestSums(t *testing.T) {
	θ, o := sentences(3, 4, true, 9, 2, 7), grammars.New()
	value := make([]float64, θ.Len())
	o.Exp(θ, 1, value, nil)
	for b, v := range value {
		oracletest.Near(t, "log Z", v, direct(θ, b), 1e-9)
	}
}

// A grammar of 30 nonterminals and 60 preterminals over 20 words takes a few megabytes beside its rules: not the 8,100
// pairs of symbols of each span and division.
func TestMemory(t *testing.T) {
	θ, o := sentences(30, 60, false, 20), grammars.New()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	y, value := make([]int32, θ.OutputSize()), make([]float64, 1)
	o.Max(θ, y, value)
	runtime.ReadMemStats(&after)
	if mb := float64(after.TotalAlloc-before.TotalAlloc) / (1 << 20); mb > 40 {
		t.Errorf("the best tree took %.0f MB", mb)
	}
	if score := θ.Score(0, y); score != value[0] || math.IsInf(score, -1) {
		t.Errorf("the best tree scores %g, its value is %g", score, value[0])
	}
}

// BenchmarkPCFG reports what answers take on a grammar of 30 nonterminals and 60 preterminals, over 20 words.
func BenchmarkPCFG(b *testing.B) {
	θ, o := sentences(30, 60, false, 20), grammars.New()
	y, value, u := make([]int32, θ.OutputSize()), make([]float64, 1), new(structured.Marginals)
	var best oracles.KBest
	for name, ask := range map[string]func(){
		"max": func() { o.Max(θ, y, value) }, "exp": func() { o.Exp(θ, 1, value, u) },
		"top10":   func() { o.TopK(θ, 10, &best) },
		"sums":    func() { o.Exp(θ, 1, value, nil) },
		"hessian": func() { o.HessianProduct(θ, 1, θ, u) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				ask()
			}
		})
	}
}
