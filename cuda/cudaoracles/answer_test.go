package cudaoracles_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/cuda/cudaoracles"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/chain"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// hostAnswer is an Answer in the host's memory.
type hostAnswer struct {
	value, max, gold []float64
	node, edge       []float32
	exact            []int32
}

func (a *hostAnswer) equal(b *hostAnswer) bool {
	bits := func(x []float32) []uint32 {
		to := make([]uint32, len(x))
		for i, v := range x {
			to[i] = math.Float32bits(v)
		}
		return to
	}
	return slices.Equal(a.value, b.value) && slices.Equal(a.max, b.max) && slices.Equal(a.gold, b.gold) &&
		slices.Equal(bits(a.node), bits(b.node)) && slices.Equal(bits(a.edge), bits(b.edge)) && slices.Equal(a.exact, b.exact)
}

// batchOnDevice is a batch of potentials in arrays with capacity for two more chains and five more positions.
type batchOnDevice struct {
	d    *device.Device
	o    *cudaoracles.Oracle
	θ    cudaoracles.Chains
	loss cudaoracles.Augmentation
	out  cudaoracles.Answer
}

func newBatch(d *device.Device, θ *potentials, gold []int32, h chains.Hamming) *batchOnDevice {
	b := &batchOnDevice{d: d, o: cudaoracles.NewOracle(d)}
	n, yy := θ.Positions(), θ.Y*θ.Y
	var offsets []int32
	longest := 0
	for i, at := range θ.Offsets {
		offsets = append(offsets, int32(at))
		longest = max(longest, at-θ.Offsets[max(0, i-1)])
	}
	offsets = append(offsets, int32(n), int32(n))
	nan := float32(math.NaN()) // padding must not be read
	pad := func(x []float32, n int) []float32 {
		return append(slices.Clone(x), slices.Repeat([]float32{nan}, n)...)
	}
	b.θ = cudaoracles.Chains{B: θ.Len() + 2, N: n + 5, Y: θ.Y, Longest: longest, PerPosition: θ.PerPosition,
		Offsets: cudatest.Uploaded(d, offsets), Node: cudatest.Uploaded(d, pad(θ.Node[:n*θ.Y], 5*θ.Y))}
	edges := b.θ.B * yy
	if θ.PerPosition {
		b.θ.Edge = cudatest.Uploaded(d, pad(θ.Edge[:n*yy], 5*yy))
		edges = b.θ.N * yy
	} else {
		b.θ.Edge = cudatest.Uploaded(d, θ.Edge)
	}
	if gold != nil {
		b.loss = cudaoracles.Augmentation{Gold: cudatest.Uploaded(d, append(slices.Clone(gold), -1, -1, -1, -1, -1)),
			ByLength: h.ByLength, Loss: true}
		if h.LabelWeights != nil {
			b.loss.Cost = cudatest.Uploaded(d, h.LabelWeights)
		}
	}
	b.out = cudaoracles.Answer{Value: device.New[float64](d, b.θ.B, "test"), Max: device.New[float64](d, b.θ.B, "test"),
		Gold: device.New[float64](d, b.θ.B, "test"), Node: device.New[float32](d, b.θ.N*θ.Y, "test"),
		Edge:  device.New[float32](d, edges, "test"),
		Exact: device.New[int32](d, b.θ.B, "test")}
	return b
}

func (b *batchOnDevice) forget() {
	device.Upload(b.d, b.out.Node, slices.Repeat([]float32{7}, b.out.Node.Len()))
	device.Upload(b.d, b.out.Edge, slices.Repeat([]float32{7}, b.out.Edge.Len()))
	for _, x := range []device.Array[float64]{b.out.Value, b.out.Max, b.out.Gold} {
		device.Upload(b.d, x, slices.Repeat([]float64{7}, x.Len()))
	}
	device.Zero(b.d, b.out.Exact)
}

func (b *batchOnDevice) download() *hostAnswer {
	return &hostAnswer{value: cudatest.Downloaded(b.d, b.out.Value), max: cudatest.Downloaded(b.d, b.out.Max),
		gold: cudatest.Downloaded(b.d, b.out.Gold), node: cudatest.Downloaded(b.d, b.out.Node),
		edge:  cudatest.Downloaded(b.d, b.out.Edge),
		exact: cudatest.Downloaded(b.d, b.out.Exact)}
}

// Answers with a loss, in arrays larger than the batch, equal the CPU's and are zero in padding; a second run and a
// captured graph give the same bits.
func TestAnswerAgreesWithCPU(t *testing.T) {
	d := cudatest.Device(t)
	host := chain.NewPlain()
	r := rand.New(rand.NewPCG(3, 4))
	smoothings := []oracles.Smoothing{{Kind: oracles.None}, {Kind: oracles.L2, Mu: 1, K: 5},
		{Kind: oracles.L2, Mu: 0.2, K: 1}, {Kind: oracles.L2, Mu: 2},
		{Kind: oracles.L2, Mu: 30, MaxK: 7}, {Kind: oracles.Entropy, Mu: 1}, {Kind: oracles.Entropy, Mu: 1e-3}}
	for _, y := range []int{1, 2, 3, 32, 33, 200} {
		for _, perPosition := range []bool{false, true} {
			for i, s := range smoothings {
				if y > 64 && perPosition && s.Kind == oracles.Entropy && s.Mu < 1 {
					continue // covered above, and slow
				}
				name := fmt.Sprintf("Y=%d, per position %v, %+v", y, perPosition, s)
				θ := drawChains(r, []int{6, 0, 1, 9, 40}, y, perPosition, 2, 0.1*float64(i%2))
				gold := make([]int32, θ.Positions())
				for t := range gold {
					gold[t] = int32(r.IntN(y+1) - 1)
				}
				h := chains.Hamming{ByLength: i%3 == 0}
				if i%2 == 0 {
					for range y {
						h.LabelWeights = append(h.LabelWeights, 2*r.Float32())
					}
				}
				b := newBatch(d, θ, gold, h)
				b.forget()
				b.o.Answer(&b.θ, b.loss, s, &b.out, true)
				got := b.download()
				b.forget()
				b.o.Answer(&b.θ, b.loss, s, &b.out, true)
				again := b.download()
				b.forget()
				graph := d.Capture(func() { b.o.Answer(&b.θ, b.loss, s, &b.out, true) })
				d.Replay(graph)
				replayed := b.download()
				graph.Free()
				if err := d.Err(); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if !got.equal(again) || !got.equal(replayed) {
					t.Fatalf("%s: a second run gives other bits", name)
				}
				checkAnswer(t, name, got, host, θ, gold, h, s)
			}
		}
	}
}

// checkAnswer compares an answer with the CPU's.
func checkAnswer(t *testing.T, name string, got *hostAnswer, host oracles.Oracle, θ *potentials, gold []int32,
	h chains.Hamming, s oracles.Smoothing) {
	t.Helper()
	count, positions, yy := θ.Len(), θ.Positions(), θ.Y*θ.Y
	scores := make([]float64, count)
	for b := range count {
		lo, hi := θ.Offsets[b], θ.Offsets[b+1]
		for p := lo; p < hi; p++ {
			if l := gold[p]; l >= 0 {
				scores[b] += float64(θ.Node[p*θ.Y+int(l)])
				if p > lo && gold[p-1] >= 0 {
					scores[b] += float64(θ.EdgeAt(p)[int(gold[p-1])*θ.Y+int(l)])
				}
			}
		}
		h.Augment(θ.All, b, structured.Gold{Output: gold[lo:hi], Sets: [][]int32{nil}})
	}
	var want oracles.Answer
	s.Answer(host, θ.All, &want, true)
	u := chains.In(&want.U)
	for b := range got.value {
		value, best, exact, score := 0.0, 0.0, true, 0.0
		if b < count {
			value, best, exact, score = want.Value[b], want.Max[b], want.Exact[b], scores[b]
		}
		near := func(what string, got, want float64) {
			t.Helper()
			if got != want && !(math.Abs(got-want) <= 1e-5*max(1, math.Abs(want))) {
				t.Fatalf("%s: %s of chain %d is %g, want %g", name, what, b, got, want)
			}
		}
		near("value", got.value[b], value)
		near("max", got.max[b], best)
		near("score of the gold labels", got.gold[b], score)
		if (got.exact[b] == 1) != exact {
			t.Fatalf("%s: chain %d is exact: %v, want %v", name, b, got.exact[b], exact)
		}
	}
	node := append(slices.Clone(u.Node), make([]float32, 5*θ.Y)...)
	checkClose(t, name+": node", got.node, node, 2e-5)
	edge := append(slices.Clone(u.Edge), make([]float32, 2*yy)...)
	if θ.PerPosition {
		edge = append(slices.Clone(u.Edge[:positions*yy]), make([]float32, 5*yy)...)
	}
	checkClose(t, name+": edge", got.edge, edge, 2e-5)
}
