package cudaoracles_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/cuda/cases"
	"github.com/dsp-go/dsp/cuda/cudaoracles"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/oracles/chain"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// expOf is one of the implementations of Exp.
type expOf func(o *cudaoracles.Oracle, θ *cudaoracles.Chains, a cudaoracles.Augmentation, μ float64,
	value device.Array[float64],
	node, edge device.Array[float32], gold device.Array[float64])

// gibbs runs it and downloads the results.
func (p *problem) gibbs(d *device.Device, o *cudaoracles.Oracle, μ float64,
	run expOf) (value, gold []float64, node, edge []float32) {
	θ := p.On
	edges := θ.B
	if θ.PerPosition {
		edges = θ.N
	}
	values := device.New[float64](d, 2*θ.B, "values")
	nodes, pairs := device.New[float32](d, θ.N*θ.Y, "nodes"), device.New[float32](d, edges*θ.Y*θ.Y, "edges")
	run(o, θ, p.Augmentation, μ, values.Slice(0, θ.B), nodes, pairs, values.Slice(θ.B, 2*θ.B))
	both := cudatest.Downloaded(d, values)
	node, edge = cudatest.Downloaded(d, nodes), cudatest.Downloaded(d, pairs)
	device.Free(d, values)
	device.Free(d, nodes)
	device.Free(d, pairs)
	return both[:θ.B], both[θ.B:], node, edge
}

// checkGibbs compares the results with the CPU's.
func checkGibbs(t failer, d *device.Device, o *cudaoracles.Oracle, p *problem, μ float64, run expOf) {
	t.Helper()
	p.Move(d, 2, 9)
	defer p.Free(d)
	value, gold, node, edge := p.gibbs(d, o, μ, run)
	θ := p.Augmented()
	want, u := make([]float64, θ.Len()), new(structured.Marginals)
	chain.NewPlain().Exp(θ.All, μ, want, u)
	marginals := chains.In(u)
	for b, w := range want {
		nearly(t, "value", value[b], w, 1e-5*max(1, μ))
		nearly(t, "gold score", gold[b], p.GoldScore(b), 1e-12)
	}
	for b := len(want); b < p.On.B; b++ {
		nearly(t, "value of an empty chain", value[b], 0, 0)
		nearly(t, "gold score of an empty chain", gold[b], 0, 0)
	}
	compare := func(what string, got, want []float32) {
		t.Helper()
		for i, x := range got {
			w := float32(0) // in padding
			if i < len(want) {
				w = want[i]
			}
			nearly(t, what, float64(x), float64(w), 2e-5)
		}
	}
	compare("node marginal", node, marginals.Node)
	compare("edge marginal", edge, marginals.Edge)
	value2, gold2, node2, edge2 := p.gibbs(d, o, μ, run)
	if !slices.Equal(value, value2) || !slices.Equal(gold, gold2) || !slices.Equal(node, node2) ||
		!slices.Equal(edge, edge2) {
		t.Fatalf("a second run gives other bits")
	}
	alone := device.New[float64](d, p.On.B, "values")
	run(o, p.On, p.Augmentation, μ, alone, device.Array[float32]{}, device.Array[float32]{}, device.Array[float64]{})
	if value2 = cudatest.Downloaded(d, alone); !slices.Equal(value, value2) {
		t.Fatalf("values alone %v, with marginals %v", value2, value)
	}
	device.Free(d, alone)
}

// Computed in parallel along time, values and marginals equal the CPU's.
func TestExpInChunksIsTheCPUs(t *testing.T) {
	d := cudatest.Device(t)
	o := cudaoracles.NewOracle(d)
	defer o.Free()
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		labels := []int{1, 2, 3, 5, 8, 9, 16, 17, 32}[r.IntN(9)]
		s := shape{labels: labels, chains: 1 + r.IntN(3), longest: 1 + r.IntN(2000/(labels*labels/4+20)),
			integers: r.IntN(2) == 0}
		μ := []float64{10, 1, 0.3, 0.01, 1e-4}[r.IntN(5)]
		p := drawProblem(r, s)
		if len(p.Host.Node) > 0 && slices.Max(p.Host.Node) > 4e7*float32(μ) { // beyond the range of gibbs.cuh
			μ = 1
		}
		checkGibbs(t, d, o, p, μ, (*cudaoracles.Oracle).ExpInChunks)
	})
}

// Exp itself classifies this chain as long; its labels rarely change.
func TestExpOfLongChain(t *testing.T) {
	d := cudatest.Device(t)
	o := cudaoracles.NewOracle(d)
	defer o.Free()
	for _, perPosition := range []bool{false, true} {
		r := rand.New(rand.NewPCG(3, 4))
		p := &problem{cases.Chains{Host: drawChains(r, []int{5000, 0, 700}, 3, perPosition, 1, 0.01)}}
		for i := range p.Host.Edge {
			if from, to := i/3%3, i%3; from != to {
				p.Host.Edge[i] -= 6
			}
		}
		p.Gold = make([]int32, p.Host.Positions())
		checkGibbs(t, d, o, p, 1, (*cudaoracles.Oracle).Exp)
		if !p.On.AreLong() {
			t.Error("the chain does not count as long")
		}
	}
}
