package chain

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// secondChains draws second-order chains of these lengths, where about a share of all threes of labels occur.
func secondChains(r *rand.Rand, labels int, share float64, lengths ...int) *structured.Potentials {
	steps := chains.NewSteps(labels, func(yield func(y []int32) bool) {
		for i := range int32(labels * labels * labels) {
			y := int32(labels)
			if r.Float64() < share && !yield([]int32{i / y / y, i / y % y, i % y}) {
				return
			}
		}
	})
	offsets := []int{0}
	for _, length := range lengths {
		offsets = append(offsets, offsets[len(offsets)-1]+length)
	}
	θ := new(structured.Potentials)
	θ.Reshape(chains.SecondForm(steps), offsets, func(string) []int { return offsets })
	for k := range θ.Parts {
		for i := range θ.Parts[k].Values {
			θ.Parts[k].Values[i] = float32(r.NormFloat64())
		}
	}
	return θ
}

// Blocks give the best output and the sums of the chain of states, also of long chains, with every set of kernels.
func TestBlocksAreTheChainOfStates(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for _, labels := range []int{1, 2, 5, 17} {
		for _, share := range []float64{0.02, 0.5} {
			θ := secondChains(r, labels, share, 0, 1, 2, 3, 140)
			for _, k := range available {
				c := &Second{oracle: &Oracle{k: k}}
				y, value := make([]int32, θ.OutputSize()), make([]float64, θ.Len())
				c.Max(θ, y, value)
				c.lift(θ)
				states, scores := make([]int32, θ.OutputSize()), make([]float64, θ.Len())
				c.oracle.Max(&c.lifted, states, scores)
				c.states.lower(states)
				if !slices.Equal(y, states) {
					t.Fatalf("%s, %d labels: %v, by states %v", k.name, labels, y, states)
				}
				sums, u, want := make([]float64, θ.Len()), new(structured.Marginals), new(structured.Marginals)
				c.Exp(θ, 0.8, sums, u)
				want.Like(θ)
				want.Clear()
				for b := range θ.Len() {
					if _, ok := c.blocks.sum(b, 0.8, nil); !ok {
						t.Fatalf("%s, %d labels: float64 does not hold chain %d", k.name, labels, b)
					}
					if sum := c.sumStates(θ, b, 0.8, want); math.Abs(sum-sums[b]) > 1e-6*(1+math.Abs(sum)) ||
						math.Abs(scores[b]*2-value[b]) > 1e-5*(1+math.Abs(value[b])) {
						t.Fatalf("%s, %d labels, chain %d: best %g and sum %g; by states %g and %g", k.name, labels, b, value[b], sums[b],
							2*scores[b], sum)
					}
				}
				for part := range u.Parts {
					for i, p := range u.Parts[part].Values {
						if q := want.Parts[part].Values[i]; math.Abs(float64(p-q)) > 1e-5*(1+float64(q)) {
							t.Fatalf("%s, %d labels: marginal %d of %s is %g, by states %g", k.name, labels, i, u.Parts[part].Name, p, q)
						}
					}
				}
			}
		}
	}
}

// Where all labels may follow each other and triples score 0, a second-order chain is a chain.
func TestSecondWithoutTriplesIsAChain(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	θ := secondChains(r, 6, 1, 4, 9, 1, 30)
	clear(θ.Parts[2].Values)
	first := &structured.Potentials{}
	chains.Resize(first, θ.Outputs, 6, false)
	for k := range first.Parts {
		copy(first.Parts[k].Values, θ.Parts[k].Values)
	}
	second, plain := NewSecond(), New()
	y, want := make([]int32, θ.OutputSize()), make([]int32, θ.OutputSize())
	value, wanted := make([]float64, θ.Len()), make([]float64, θ.Len())
	second.Max(θ, y, value)
	plain.Max(first, want, wanted)
	if !slices.Equal(y, want) || !slices.Equal(value, wanted) {
		t.Errorf("%v scores %v, as a chain %v scores %v", y, value, want, wanted)
	}
	u, v := new(structured.Marginals), new(structured.Marginals)
	second.Exp(θ, 1, value, u)
	plain.Exp(first, 1, wanted, v)
	for b := range value {
		if math.Abs(value[b]-wanted[b]) > 1e-5 {
			t.Errorf("sum %g, as a chain %g", value[b], wanted[b])
		}
	}
	for k := range v.Parts {
		for i, p := range v.Parts[k].Values {
			if math.Abs(float64(u.Parts[k].Values[i]-p)) > 1e-5 {
				t.Fatalf("marginal %d of %s: %g, as a chain %g", i, v.Parts[k].Name, u.Parts[k].Values[i], p)
			}
		}
	}
}

func BenchmarkSecond(b *testing.B) {
	for _, labels := range []int{9, 17} {
		lengths := make([]int, 16)
		for i := range lengths {
			lengths[i] = 50
		}
		θ := secondChains(rand.New(rand.NewPCG(1, 1)), labels, 0.5, lengths...)
		c, y, value, u := NewSecond(), make([]int32, θ.OutputSize()), make([]float64, θ.Len()), new(structured.Marginals)
		var best oracles.KBest
		for name, call := range map[string]func(){
			"max": func() { c.Max(θ, y, value) }, "exp": func() { c.Exp(θ, 1, value, u) },
			"top-5": func() { c.TopK(θ, 5, &best) },
		} {
			b.Run(fmt.Sprintf("%s/Y=%d", name, labels), func(b *testing.B) {
				for b.Loop() {
					call()
				}
				b.ReportMetric(float64(b.N*θ.Len())/b.Elapsed().Seconds(), "sequences/s")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
