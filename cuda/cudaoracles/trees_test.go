package cudaoracles_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/cuda/cases"
	"github.com/dsp-go/dsp/cuda/cudaoracles"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/oracles/tree"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees"
)

// drawTrees draws potentials of sentences of the given lengths, with a scale, and a share of forbidden arcs and
// relations.
func drawTrees(r *rand.Rand, of trees.SpanningTree, relations int, scale, forbidden float64, lengths ...int) *structured.Potentials {
	return cases.DrawTrees(of, relations, lengths, func() float32 {
		x := float32(scale * r.NormFloat64())
		if r.Float64() < forbidden {
			return never
		}
		return x
	})
}

// treeSums returns what the device computes: values, alone and with marginals, and marginals.
func treeSums(t *testing.T, d *device.Device, on *cudaoracles.Trees, a cudaoracles.GoldTrees,
	μ float64) (value, alone []float64, arc, label []float32) {
	t.Helper()
	o := cudaoracles.NewTreeSums(d)
	defer o.Free()
	values, without := cudatest.Uploaded(d, make([]float64, on.B)), cudatest.Uploaded(d, make([]float64, on.B))
	arcs, labels := device.New[float32](d, on.P, "arcs"), device.New[float32](d, on.P*on.R, "labels")
	var none device.Array[float32]
	o.Exp(on, a, μ, without, none, none, cudaoracles.FiniteTrees{})
	o.Exp(on, a, μ, values, arcs, labels, cudaoracles.FiniteTrees{})
	cudatest.Must(t, d.Err())
	return cudatest.Downloaded(d, values), cudatest.Downloaded(d, without), cudatest.Downloaded(d, arcs),
		cudatest.Downloaded(d, labels)
}

// Potentials of every size, few or many of them forbidden, at low and high temperatures, within and beyond the range of
// float64, in shared memory and not.
func TestTreeSumsAreThoseOfTheCPU(t *testing.T) {
	d := cudatest.Device(t)
	for _, nonProjective := range []bool{false, true} {
		host := tree.New(nonProjective)
		for k, c := range []struct {
			scale, μ, forbidden float64
			relations           int
		}{{1, 1, 0, 1}, {1, 0.5, 0.3, 3}, {3, 100, 0, 40}, {10, 0.01, 0, 2}, {1e4, 1, 0.1, 2},
			{5, 1e-3, 0.5, 1}, {2, 1, 0.8, 2}} {
			for seed := range uint64(3) {
				r := rand.New(rand.NewPCG(seed, uint64(k)))
				θ := drawTrees(r, trees.SpanningTree{NonProjective: nonProjective}, c.relations, c.scale, c.forbidden,
					3, 0, 1, 2, 1+r.IntN(9), 5)
				checkTreeSums(t, d, host, θ, c.μ, fmt.Sprintf("non-projective %v, %v, seed %d", nonProjective, c, seed))
			}
		}
	}
}

// Sentences of 1 to 60 words.
func TestTreeSumsOfSentences(t *testing.T) {
	d := cudatest.Device(t)
	for _, nonProjective := range []bool{false, true} {
		r := rand.New(rand.NewPCG(60, 1))
		lengths := []int{60, 1 + r.IntN(60), 1 + r.IntN(60)}
		θ := drawTrees(r, trees.SpanningTree{NonProjective: nonProjective}, 3, 2, 0.02, lengths...)
		checkTreeSums(t, d, tree.New(nonProjective), θ, 1, fmt.Sprintf("non-projective %v, %v words", nonProjective, lengths))
	}
}

func checkTreeSums(t *testing.T, d *device.Device, host *tree.Oracle, θ *structured.Potentials, μ float64,
	name string) {
	t.Helper()
	want := make([]float64, θ.Len())
	var u structured.Marginals
	host.Exp(θ, μ, want, &u)
	var bits []float32
	for _, shared := range []int{12 << 10, 2} {
		before := cudaoracles.SetTreeShared(shared)
		on := cases.TreesOn(d, θ, shared%7)
		value, alone, arc, label := treeSums(t, d, on, cudaoracles.GoldTrees{}, μ)
		cudaoracles.SetTreeShared(before)
		for b := range want {
			bound := host.Rounding(θ, b, μ) + 1e-12*math.Abs(want[b])
			if want[b] != value[b] && !(math.Abs(want[b]-value[b]) <= bound) {
				t.Fatalf("%s: sentence %d of %d words: %.17g, want %.17g within %g", name, b, θ.Outputs[b+1]/2-θ.Outputs[b]/2,
					value[b], want[b], bound)
			}
		}
		if !slices.Equal(value, alone) {
			t.Fatalf("%s: values %v, and without marginals %v", name, value, alone)
		}
		for _, x := range append(arc[len(u.Parts[0].Values):], label[len(u.Parts[1].Values):]...) {
			if x != 0 {
				t.Fatalf("%s: padding is not zero", name)
			}
		}
		arc, label = arc[:len(u.Parts[0].Values)], label[:len(u.Parts[1].Values)]
		checkClose(t, name+": arc", arc, u.Parts[0].Values, 1e-5)
		checkClose(t, name+": label", label, u.Parts[1].Values, 1e-5)
		both := slices.Concat(arc, label)
		if bits != nil && !slices.Equal(bits, both) {
			t.Fatalf("%s: other bits in other memory", name)
		}
		bits = both
	}
}
