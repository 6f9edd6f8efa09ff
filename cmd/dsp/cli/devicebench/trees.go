package devicebench

import (
	"fmt"
	"math/rand/v2"

	"github.com/dsp-go/dsp/cuda/cudaoracles"
	"github.com/dsp-go/dsp/cuda/device"
)

// trees measures sums over dependency trees with all marginals, for sentences of one length.
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
	for what, crossing := range []bool{false, true} {
		θ.NonProjective = crossing
		ask := func() {
			o.Exp(θ, cudaoracles.GoldTrees{}, 1, value, arc, label, device.Array[float64]{}, cudaoracles.FiniteTrees{})
		}
		ask() // allocates scratch memory, which is not possible during a capture
		milliseconds, repeats, err := b.graphs(ask)
		if err != nil {
			return fmt.Errorf("sums over trees: %w", err)
		}
		n := float64(words)
		steps := float64(count) * []float64{2 * n * n * n, n * n * n}[what] // multiply-adds in float64
		b.add(Row{What: []string{"sums over projective trees", "sums over all trees"}[what], Sizes: fmt.Sprintf("B=%d, n=%d, R=%d", count, words, relations),
			Milliseconds: milliseconds, Repeats: repeats}, work{bytes: 4 * float64(θ.P) * float64(3*relations+3), flops: 2 * steps, fused: true})
	}
	return nil
}
