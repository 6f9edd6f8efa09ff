package devicebench

import (
	"fmt"
	"math/rand/v2"

	"github.com/dsp-go/dsp/cuda/cudaoracles"
	"github.com/dsp-go/dsp/cuda/device"
)

// trees measures sums over dependency trees with all marginals, and best trees, for sentences of one length.
func (b *bench) trees() error {
	d, r := b.Device, rand.New(rand.NewPCG(5, 5))
	count, words, relations := b.pick(1024, 3), b.pick(32, 5), b.pick(40, 3)
	offsets, pairs := make([]int32, count+1), make([]int32, count+1)
	for k := range offsets {
		offsets[k], pairs[k] = int32(k*words), int32(k*words*words)
	}
	θ := &cudaoracles.Trees{B: count, N: count * words, P: count * words * words, R: relations, Longest: words,
		Offsets: device.NewFrom(d, offsets, "offsets"), Pairs: device.NewFrom(d, pairs, "offsets")}
	defer device.Free(d, θ.Offsets)
	defer device.Free(d, θ.Pairs)
	for _, x := range []struct {
		to *device.Array[float32]
		n  int
	}{{&θ.Arc, θ.P}, {&θ.Label, θ.P * relations}} {
		drawn := make([]float32, x.n)
		draw(r, drawn)
		*x.to = device.NewFrom(d, drawn, "potentials")
		defer device.Free(d, *x.to)
	}
	value, arc, label := device.New[float64](d, count, "values"), device.New[float32](d, θ.P, "marginals"), device.New[float32](d, θ.P*relations, "marginals")
	defer device.Free(d, value)
	defer device.Free(d, arc)
	defer device.Free(d, label)
	o := cudaoracles.NewTreeSums(d)
	defer o.Free()
	best, heads := cudaoracles.NewBestTrees(d), cudaoracles.NewHeads(d, θ)
	defer best.Free()
	defer heads.Free(d)
	n := float64(words)
	for what, crossing := range []bool{false, true} {
		θ.NonProjective = crossing
		sizes := fmt.Sprintf("B=%d, n=%d, R=%d", count, words, relations)
		for _, of := range []struct {
			what string
			ask  func()
			work work
		}{
			{[]string{"sums over projective trees", "sums over all trees"}[what],
				func() { o.Exp(θ, cudaoracles.GoldTrees{}, 1, value, arc, label, cudaoracles.FiniteTrees{}) },
				work{bytes: 4 * float64(θ.P) * float64(3*relations+3), flops: 2 * float64(count) * []float64{2 * n * n * n, n * n * n}[what], fused: true}}, // multiply-adds in float64
			{[]string{"best projective trees", "best of all trees"}[what],
				func() { best.Max(θ, cudaoracles.GoldTrees{}, heads, value, cudaoracles.FiniteTrees{}) },
				work{bytes: 4 * float64(θ.P) * float64(relations+2), flops: float64(count) * []float64{n * n * n, 4 * n * n}[what]}},
		} {
			of.ask() // allocates scratch memory, which is not possible during a capture
			milliseconds, repeats, err := b.graphs(of.ask)
			if err != nil {
				return fmt.Errorf("%s: %w", of.what, err)
			}
			b.add(Row{What: of.what, Sizes: sizes, Milliseconds: milliseconds, Repeats: repeats}, of.work)
		}
	}
	return nil
}
