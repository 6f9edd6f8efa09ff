package devicebench

import (
	"fmt"
	"math/rand/v2"

	"github.com/dsp-go/dsp/cuda/cudaoracles"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/oracles"
)

const (
	sets = 3 // input sets; together they exceed the caches
	topK = 5 // K of top-K
)

// chains holds sets of potentials of equal shape on the device, drawn from normal distributions, and arrays for the
// answers.
type chains struct {
	θ      []*cudaoracles.Chains
	answer cudaoracles.Answer
	y      device.Array[int32]
}

// newChains draws chains of the given lengths with shared edges.
func (b *bench) newChains(lengths []int, labels, sets int) *chains {
	d, r, c := b.Device, rand.New(rand.NewPCG(1, 1)), &chains{}
	offsets, longest := []int32{0}, 0
	for _, t := range lengths {
		offsets, longest = append(offsets, offsets[len(offsets)-1]+int32(t)), max(longest, t)
	}
	n := int(offsets[len(offsets)-1])
	node := make([]float32, n*labels)
	on := device.New[int32](d, len(offsets), "offsets")
	device.Upload(d, on, offsets)
	for range sets {
		draw(r, node)
		edge := make([]float32, labels*labels)
		draw(r, edge)
		θ := &cudaoracles.Chains{B: len(lengths), N: n, Y: labels, Longest: longest, Offsets: on,
			Node: device.New[float32](d, len(node), "potentials"), Edge: device.New[float32](d, len(edge), "potentials")}
		device.Upload(d, θ.Node, node)
		device.Upload(d, θ.Edge, edge)
		c.θ = append(c.θ, θ)
	}
	c.y = device.New[int32](d, n, "labels")
	c.answer = cudaoracles.Answer{Value: device.New[float64](d, len(lengths), "values"), Node: device.New[float32](d, n*labels, "marginals"),
		Edge: device.New[float32](d, len(lengths)*labels*labels, "marginals"), Exact: device.New[int32](d, len(lengths), "exactness")}
	return c
}

// draw fills an eighth of x from a normal distribution and repeats it, which is faster than drawing everything.
func draw(r *rand.Rand, x []float32) {
	first := max(min(len(x), 1<<16), len(x)/8)
	for i := range x[:first] {
		x[i] = float32(r.NormFloat64())
	}
	for i := first; i < len(x); i++ {
		x[i] = x[i-first]
	}
}

func (c *chains) free(d *device.Device) {
	device.Free(d, c.θ[0].Offsets)
	for _, θ := range c.θ {
		device.Free(d, θ.Node)
		device.Free(d, θ.Edge)
	}
	device.Free(d, c.y)
	device.Free(d, c.answer.Value)
	device.Free(d, c.answer.Node)
	device.Free(d, c.answer.Edge)
	device.Free(d, c.answer.Exact)
}

// oracles measures inference on a batch of chains of equal length, and on a batch of different lengths with about as
// many positions.
func (b *bench) oracles() error {
	count, length, labels := b.pick(4096, 4), b.pick(64, 6), b.pick(32, 5)
	r := rand.New(rand.NewPCG(2, 2))
	equal, ragged := make([]int, count), make([]int, count)
	for i := range equal {
		equal[i] = length
		ragged[i] = 1 + r.IntN(2*length-1)
	}
	for _, shape := range []struct {
		lengths []int
		what    string
	}{{equal, fmt.Sprintf("T=%d", length)}, {ragged, fmt.Sprintf("T=1…%d", 2*length-1)}} {
		c := b.newChains(shape.lengths, labels, b.pick(sets, 1))
		err := b.questions(c, fmt.Sprintf("B=%d, %s, Y=%d", count, shape.what, labels), shape.what == fmt.Sprintf("T=%d", length))
		c.free(b.Device)
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) questions(c *chains, sizes string, all bool) error {
	o := cudaoracles.NewOracle(b.Device)
	defer o.Free()
	var best cudaoracles.KBest
	defer best.Free(b.Device)
	θ := c.θ[0]
	steps, node, pairs := float64(θ.N)*float64(θ.Y*θ.Y), 4*float64(θ.N*θ.Y), 4*float64(θ.B*θ.Y*θ.Y)
	questions := []struct {
		what string
		do   func(θ *cudaoracles.Chains)
		work work
	}{
		{"Viterbi with paths", func(θ *cudaoracles.Chains) {
			o.Max(θ, cudaoracles.Augmentation{}, c.y, c.answer.Value, device.Array[float64]{})
		},
			work{bytes: node + 4*float64(θ.N), flops: 2 * steps}},
		{"forward-backward, all marginals", func(θ *cudaoracles.Chains) {
			o.Exp(θ, cudaoracles.Augmentation{}, 1, c.answer.Value, c.answer.Node, c.answer.Edge, device.Array[float64]{})
		}, work{bytes: 2*node + pairs, flops: 6 * steps, fused: true}},
		{fmt.Sprintf("top-%d", topK), func(θ *cudaoracles.Chains) { o.TopK(θ, cudaoracles.Augmentation{}, topK, &best) },
			work{bytes: node + 4*topK*float64(θ.N), flops: 2 * steps}},
		{fmt.Sprintf("l2 smoothing, K=%d", topK), func(θ *cudaoracles.Chains) {
			o.Answer(θ, cudaoracles.Augmentation{}, oracles.Smoothing{Kind: oracles.L2, Mu: 1, K: topK}, &c.answer, false)
		}, work{bytes: 2*node + pairs, flops: 2 * steps}},
	}
	if !all {
		questions = questions[:2]
	}
	for _, q := range questions {
		q.do(θ) // allocates scratch memory, which is not possible during a capture
		var enqueue []func()
		for _, θ := range c.θ {
			enqueue = append(enqueue, func() { q.do(θ) })
		}
		milliseconds, repeats, err := b.graphs(enqueue...)
		if err != nil {
			return fmt.Errorf("%s: %w", q.what, err)
		}
		b.add(Row{What: q.what, Sizes: sizes, Milliseconds: milliseconds, Repeats: repeats}, q.work)
	}
	return nil
}

// longChain measures one very long chain.
func (b *bench) longChain() error {
	length, labels := b.pick(1_000_000, 300), b.pick(16, 4)
	c := b.newChains([]int{length}, labels, 1)
	defer c.free(b.Device)
	return b.questions(c, fmt.Sprintf("B=1, T=%d, Y=%d", length, labels), false)
}
