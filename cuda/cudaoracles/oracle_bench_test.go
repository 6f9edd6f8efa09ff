package cudaoracles_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/cuda/cases"
	"github.com/dsp-go/dsp/cuda/cudaoracles"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/device"
)

// BenchmarkOracles times the oracles on a real device (DSP_CUDA_TEST=device). ns/position counts the positions of all
// chains.
func BenchmarkOracles(b *testing.B) {
	d := cudatest.Device(b)
	if d.Info().Emulated() {
		b.Skip("times on the emulated device are meaningless")
	}
	o := cudaoracles.NewOracle(d)
	defer o.Free()
	for _, s := range []struct {
		chains, length, labels int
		ragged, perPosition    bool
	}{
		{4096, 64, 8, false, false}, {4096, 64, 16, false, false}, {4096, 64, 32, false, false}, {4096, 64, 32, true, false},
		{4096, 64, 64, false, false}, {1024, 64, 128, false, false}, {1024, 32, 256, false, false},
		{256, 16, 1024, false, false},
		{4096, 64, 32, false, true}, {256, 64, 64, false, true}, {1, 64, 32, false, false},
		{1, 1_000_000, 16, false, false}, {1, 1_000_000, 16, false, true}, {16, 100_000, 32, false, false},
		{1, 100_000, 128, false, false},
	} {
		lengths := make([]int, s.chains)
		r := rand.New(rand.NewPCG(1, 2))
		for i := range lengths {
			if lengths[i] = s.length; s.ragged {
				lengths[i] = 1 + r.IntN(s.length)
			}
		}
		p := &problem{cases.Chains{Host: randomChains(r, lengths, s.labels, s.perPosition), With: true}}
		p.Gold = make([]int32, p.Host.Positions())
		p.Move(d, 0, 0)
		θ := p.On
		edges := θ.B
		if θ.PerPosition {
			edges = θ.N
		}
		y, value := device.New[int32](d, θ.N, "labels"), device.New[float64](d, θ.B, "values")
		node, edge := device.New[float32](d, θ.N*θ.Y, "nodes"), device.New[float32](d, edges*θ.Y*θ.Y, "edges")
		name := fmt.Sprintf("B=%d,T=%d,Y=%d,ragged=%v,each=%v", s.chains, s.length, s.labels, s.ragged, s.perPosition)
		for what, run := range map[string]func(){
			"max": func() { o.Max(θ, p.Augmentation, y, value, device.Array[float64]{}) },
			"exp": func() { o.Exp(θ, p.Augmentation, 1, value, node, edge, device.Array[float64]{}) },
		} {
			b.Run(what+","+name, func(b *testing.B) {
				run()
				if err := d.Sync(); err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					run()
					if err := d.Sync(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(θ.N), "ns/position")
			})
		}
		device.Free(d, y)
		device.Free(d, value)
		device.Free(d, node)
		device.Free(d, edge)
		p.Free(d)
	}
}

// randomChains is a faster drawChains: potentials are uniform on [0, 1) and nothing is forbidden.
func randomChains(r *rand.Rand, lengths []int, y int, perPosition bool) *potentials {
	offsets := []int{0}
	for _, n := range lengths {
		offsets = append(offsets, offsets[len(offsets)-1]+n)
	}
	θ := cases.NewPotentials(offsets, y, perPosition)
	for _, x := range [][]float32{θ.Node, θ.Edge} {
		for i := range x {
			x[i] = r.Float32()
		}
	}
	return θ
}
