package cudaoracles_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/cuda/cases"
	"github.com/dsp-go/dsp/cuda/cudaoracles"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/oracles/chain"
)

// maxOf is one of the implementations of Max.
type maxOf func(o *cudaoracles.Oracle, θ *cudaoracles.Chains, a cudaoracles.Augmentation, y device.Array[int32],
	value, gold device.Array[float64])

const untouched = -7 // initial value of labels that no kernel may write

// best runs it and downloads labels, values and gold scores.
func (p *problem) best(d *device.Device, o *cudaoracles.Oracle, run maxOf) (y []int32, value, gold []float64) {
	n, b := p.On.N, p.On.B
	labels, values := device.New[int32](d, n, "labels"), device.New[float64](d, 2*b, "values")
	y, value = make([]int32, n), make([]float64, 2*b)
	for i := range y {
		y[i] = untouched
	}
	device.Upload(d, labels, y)
	run(o, p.On, p.Augmentation, labels, values.Slice(0, b), values.Slice(b, 2*b))
	device.Download(d, y, labels)
	device.Download(d, value, values)
	device.Free(d, labels)
	device.Free(d, values)
	return y, value[:b], value[b:]
}

// checkMax compares the results with the CPU's: the labels must be equal, unless the two round differently.
func checkMax(t failer, d *device.Device, o *cudaoracles.Oracle, p *problem, run maxOf, exact bool) {
	t.Helper()
	p.Move(d, 2, 9)
	defer p.Free(d)
	y, value, gold := p.best(d, o, run)
	θ := p.Augmented()
	n := θ.Positions()
	wantY, want := make([]int32, n), make([]float64, θ.Len())
	chain.NewPlain().Max(θ.All, wantY, want)
	for b, w := range want {
		nearly(t, "value", value[b], w, 1e-5)
		nearly(t, "gold score", gold[b], p.GoldScore(b), 1e-12)
		labels := y[θ.Offsets[b]:θ.Offsets[b+1]]
		if exact && !slices.Equal(labels, wantY[θ.Offsets[b]:θ.Offsets[b+1]]) {
			t.Fatalf("chain %d of %d labels, per position %v: path\n%v, want\n%v", b, θ.Y, θ.PerPosition, labels,
				wantY[θ.Offsets[b]:θ.Offsets[b+1]])
		}
		if !math.IsInf(w, -1) {
			nearly(t, "score of the path", θ.Score(b, labels), value[b], 1e-12)
		}
	}
	for b := len(want); b < p.On.B; b++ {
		nearly(t, "value of an empty chain", value[b], 0, 0)
		nearly(t, "gold score of an empty chain", gold[b], 0, 0)
	}
	for i := n; i < p.On.N; i++ {
		if y[i] != untouched {
			t.Fatalf("label %d at position %d, which belongs to no chain", y[i], i)
		}
	}
	y2, value2, gold2 := p.best(d, o, run)
	if !slices.Equal(y, y2) || !slices.Equal(value, value2) || !slices.Equal(gold, gold2) {
		t.Fatalf("a second run gives other bits")
	}
}

// Every kernel finds the CPU's path, bit for bit, with many ties and with none.
func TestMaxIsTheCPUs(t *testing.T) {
	d := cudatest.Device(t)
	o := cudaoracles.NewOracle(d)
	defer o.Free()
	check := func(t failer, labels int, seed uint64) {
		r := rand.New(rand.NewPCG(seed, uint64(labels)))
		p := drawProblem(r, shape{labels: labels, chains: 1 + r.IntN(6), longest: 1 + r.IntN(max(4, 4000/(labels+10))),
			integers: r.IntN(2) == 0})
		checkMax(t, d, o, p, (*cudaoracles.Oracle).MaxByChain, true)
	}
	for _, labels := range labelCounts {
		for seed := range uint64(4) {
			check(t, labels, seed)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, rapid.SampledFrom(labelCounts).Draw(t, "labels"), rapid.Uint64().Draw(t, "seed"))
	})
}

// Many chains with many labels share transitions.
func TestMaxOfManyWideChains(t *testing.T) {
	d := cudatest.Device(t)
	o := cudaoracles.NewOracle(d)
	defer o.Free()
	for seed, labels := range []int{129, 130, 160} {
		r := rand.New(rand.NewPCG(uint64(seed), 5))
		p := drawProblem(r, shape{labels: labels, chains: 601, longest: 2, integers: seed > 0})
		checkMax(t, d, o, p, (*cudaoracles.Oracle).MaxByChain, true)
	}
}

// The largest number of labels.
func TestMaxOfMostLabels(t *testing.T) {
	d := cudatest.Device(t)
	o := cudaoracles.NewOracle(d)
	defer o.Free()
	for seed := range uint64(4) {
		p := drawProblem(rand.New(rand.NewPCG(seed, 6)), shape{labels: cudaoracles.MaxLabels, chains: 3, longest: 3})
		checkMax(t, d, o, p, (*cudaoracles.Oracle).MaxByChain, true)
	}
}

// In parallel along time, integer potentials give the CPU's path; others give a path with the same score.
func TestMaxInChunksIsTheCPUs(t *testing.T) {
	d := cudatest.Device(t)
	o := cudaoracles.NewOracle(d)
	defer o.Free()
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		labels := []int{1, 2, 3, 5, 8, 9, 16, 17, 32}[r.IntN(9)]
		s := shape{labels: labels, chains: 1 + r.IntN(3), longest: 1 + r.IntN(6000/(labels*labels/4+20)),
			integers: r.IntN(2) == 0}
		checkMax(t, d, o, drawProblem(r, s), (*cudaoracles.Oracle).MaxInChunks, s.integers)
	})
}

// Max itself classifies this chain as long.
func TestMaxOfLongChain(t *testing.T) {
	d := cudatest.Device(t)
	o := cudaoracles.NewOracle(d)
	defer o.Free()
	for _, integers := range []bool{true, false} {
		r := rand.New(rand.NewPCG(3, 4))
		p := drawProblem(r, shape{labels: 3, chains: 2, longest: 9000, integers: integers})
		for p.Host.Offsets[1] < 5000 || !p.With || slices.Min(p.Host.Edge) == never {
			p = drawProblem(r, shape{labels: 3, chains: 2, longest: 9000, integers: integers})
		}
		checkMax(t, d, o, p, (*cudaoracles.Oracle).Max, integers)
		if !p.On.AreLong() {
			t.Error("the chain does not count as long")
		}
	}
}

// If one position forbids all labels, no output is allowed: the path is all 0.
func TestMaxWhereNothingIsAllowed(t *testing.T) {
	d := cudatest.Device(t)
	o := cudaoracles.NewOracle(d)
	defer o.Free()
	for _, labels := range []int{1, 7, 16, 32, 40, 100, 150} {
		for _, at := range []int{0, 13, 29} {
			for _, perPosition := range []bool{false, true} {
				p := &problem{cases.Chains{Host: drawChains(rand.New(rand.NewPCG(1, 2)), []int{30, 3}, labels, perPosition, 1, 0), With: true}}
				for l := range labels {
					p.Host.Node[at*labels+l] = never
				}
				p.Gold = make([]int32, p.Host.Positions())
				checkMax(t, d, o, p, (*cudaoracles.Oracle).MaxByChain, true)
				if labels <= 32 {
					checkMax(t, d, o, p, (*cudaoracles.Oracle).MaxInChunks, true)
				}
			}
		}
	}
}

// Potentials that are NaN or +∞ are the caller's error; the kernels still return valid labels.
func TestMaxOfNaN(t *testing.T) {
	d := cudatest.Device(t)
	o := cudaoracles.NewOracle(d)
	defer o.Free()
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 9))
		p := drawProblem(r, shape{labels: labelCounts[r.IntN(len(labelCounts))], chains: 3, longest: 30})
		often := r.Float64()
		for _, x := range [][]float32{p.Host.Node, p.Host.Edge} {
			for i := range x {
				if r.Float64() < often {
					x[i] = []float32{nan, -nan, inf, never}[r.IntN(4)]
				}
			}
		}
		p.Move(d, 0, 0)
		runs := []maxOf{(*cudaoracles.Oracle).MaxByChain}
		if p.Host.Y <= 32 {
			runs = append(runs, (*cudaoracles.Oracle).MaxInChunks)
		}
		for _, run := range runs {
			y, _, _ := p.best(d, o, run)
			if len(y) > 0 && (slices.Min(y) < 0 || int(slices.Max(y)) >= p.Host.Y) {
				t.Fatalf("labels %v of %d", y, p.Host.Y)
			}
		}
		p.Free(d)
	}
}

// Enumeration of small chains: no labeling scores higher, and none with an equal score comes first.
func TestMaxIsBestOfAll(t *testing.T) {
	d := cudatest.Device(t)
	o := cudaoracles.NewOracle(d)
	defer o.Free()
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		p := drawProblem(r, shape{labels: 1 + r.IntN(3), chains: 3, longest: 6, integers: true})
		p.Move(d, 0, 0)
		defer p.Free(d)
		θ := p.Augmented()
		for _, run := range []maxOf{(*cudaoracles.Oracle).MaxByChain, (*cudaoracles.Oracle).MaxInChunks} {
			y, value, _ := p.best(d, o, run)
			for b := range θ.Len() {
				labels, score := bestOfAll(θ.Y, θ.Offsets[b+1]-θ.Offsets[b], func(y []int32) float64 { return θ.Score(b, y) })
				nearly(t, "value", value[b], score, 0)
				if got := y[θ.Offsets[b]:θ.Offsets[b+1]]; !slices.Equal(got, labels) {
					t.Fatalf("labels %v, want %v", got, labels)
				}
			}
		}
	})
}

// bestOfAll returns the first labeling with the best score, ordered by the last label, then by the one before it, and
// so on.
func bestOfAll(labels, length int, score func([]int32) float64) ([]int32, float64) {
	y, best := make([]int32, length), make([]int32, length)
	value := score(y)
	for {
		t := 0
		for ; t < length && int(y[t]) == labels-1; t++ {
			y[t] = 0
		}
		if t == length {
			return best, value
		}
		y[t]++
		if s := score(y); s > value {
			value = s
			copy(best, y)
		}
	}
}

// A replay of a captured Max answers for the current batch.
func TestMaxInGraph(t *testing.T) {
	d := cudatest.Device(t)
	o := cudaoracles.NewOracle(d)
	defer o.Free()
	p := drawProblem(rand.New(rand.NewPCG(1, 2)), shape{labels: 4, chains: 5, longest: 7, integers: true})
	p.Move(d, 0, 0)
	defer p.Free(d)
	want, _, _ := p.best(d, o, (*cudaoracles.Oracle).Max)
	y, value := device.New[int32](d, p.On.N, "labels"), device.New[float64](d, p.On.B, "values")
	o.ReserveMax(p.On)
	clear := make([]float32, len(p.Host.Node))
	device.Upload(d, p.On.Node, clear)
	g := d.Capture(func() { o.Max(p.On, p.Augmentation, y, value, device.Array[float64]{}) })
	device.Upload(d, p.On.Node, p.Host.Node)
	d.Replay(g)
	got := make([]int32, p.On.N)
	device.Download(d, got, y)
	if !slices.Equal(got, want) {
		t.Errorf("labels %v, want %v", got, want)
	}
	g.Free()
	device.Free(d, y)
	device.Free(d, value)
}

// A label whose score is NaN is as good as forbidden where labels share transitions, on a device as on an emulated one:
// max.f32 returns the other number. Up to 32 labels, paths may differ.
func TestLabelsOfNaNAreForbidden(t *testing.T) {
	d := cudatest.Device(t)
	o := cudaoracles.NewOracle(d)
	defer o.Free()
	for _, labels := range []int{33, 64, 100, 128, 160} {
		for seed := range uint64(6) {
			r := rand.New(rand.NewPCG(seed, 77))
			p := drawProblem(r, shape{labels: labels, chains: 3, longest: 9})
			p.Host = cases.NewPotentials(p.Host.Offsets, labels, false)
			for _, x := range [][]float32{p.Host.Node, p.Host.Edge} {
				for i := range x {
					x[i] = 6*r.Float32() - 3
				}
			}
			var got [2][]float64
			var paths [2][]int32
			for k, x := range []float32{never, float32(math.NaN())} {
				for b := range p.Host.Len() {
					for at := p.Host.Offsets[b] + 1; at+1 < p.Host.Offsets[b+1]; at += 2 {
						p.Host.Node[at*labels+at%labels] = x
					}
				}
				p.Move(d, 0, 0)
				paths[k], got[k], _ = p.best(d, o, (*cudaoracles.Oracle).MaxByChain)
				p.Free(d)
			}
			if !slices.Equal(got[0], got[1]) || !slices.Equal(paths[0], paths[1]) {
				t.Fatalf("%d labels: with NaN the values are %v and the paths %v, with −∞ %v and %v", labels, got[1],
					paths[1], got[0], paths[0])
			}
		}
	}
}
