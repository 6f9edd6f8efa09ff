package cudaoracles_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/cuda/cudaoracles"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// failer is the part of *testing.T and *rapid.T that checks use.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// nearly compares with a relative tolerance.
func nearly(t failer, what string, got, want, tolerance float64) {
	t.Helper()
	if got != want && !(math.Abs(got-want) <= tolerance*max(1, math.Abs(want))) {
		t.Fatalf("%s is %g, want %g", what, got, want)
	}
}

// potentials holds the potentials of chains, in the oracle's form and as arrays.
type potentials struct {
	chains.Potentials
	all *structured.Potentials
}

func newPotentials(offsets []int, labels int, perPosition bool) *potentials {
	θ := &potentials{all: new(structured.Potentials)}
	chains.Resize(θ.all, offsets, labels, perPosition)
	θ.Potentials = chains.Of(θ.all)
	return θ
}

// copy returns a deep copy of θ.
func (θ *potentials) copy() *potentials {
	to := &potentials{all: new(structured.Potentials)}
	to.all.Copy(θ.all)
	to.Potentials = chains.Of(to.all)
	return to
}

// problem is a batch of chains with gold labels and a loss, on the host and on a device.
type problem struct {
	θ    *potentials // without the loss
	gold []int32     // −1: unknown
	loss chains.Hamming
	with bool // the loss counts

	on *cudaoracles.Chains
	a  cudaoracles.Augmentation
}

// labelCounts are the label counts at which the choice of kernel changes, and some in between.
var labelCounts = []int{1, 2, 3, 5, 8, 9, 16, 17, 31, 32, 33, 64, 65, 100, 128, 129, 200, 257}

// shape says what drawProblem should draw.
type shape struct {
	labels, chains, longest int
	integers                bool
}

// drawProblem draws ragged chains, including some of length 0 and 1. Some batches have forbidden labels and transitions, labels that
// rarely change, so that distant positions matter, or numbers so large that float32 rounds their sums.
func drawProblem(r *rand.Rand, s shape) *problem {
	offsets := []int{0}
	for range s.chains {
		n := r.IntN(s.longest + 1)
		switch r.IntN(6) {
		case 0:
			n = 0
		case 1:
			n = min(1, s.longest)
		}
		offsets = append(offsets, offsets[len(offsets)-1]+n)
	}
	p := &problem{with: r.IntN(3) > 0}
	p.θ = newPotentials(offsets, s.labels, r.IntN(2) == 0)
	forbidden := []float64{0, 0, 0.1, 0.4}[r.IntN(4)]
	number := func() float32 {
		switch {
		case r.Float64() < forbidden:
			return never
		case s.integers:
			return float32(r.IntN(5) - 2)
		}
		return 6*r.Float32() - 3
	}
	for _, x := range [][]float32{p.θ.Node, p.θ.Edge} {
		for i := range x {
			x[i] = number()
		}
	}
	switch r.IntN(4) {
	case 0:
		for i := range p.θ.Edge {
			if from, to := i/s.labels%s.labels, i%s.labels; from != to {
				p.θ.Edge[i] -= 20
			}
		}
	case 1:
		if !s.integers {
			for i := range p.θ.Node {
				p.θ.Node[i] += 1e6
			}
		}
	}
	for range p.θ.Positions() {
		p.gold = append(p.gold, int32(r.IntN(s.labels+1)-1))
	}
	if r.IntN(2) == 0 {
		p.loss.LabelWeights = make([]float32, s.labels)
		for i := range p.loss.LabelWeights {
			p.loss.LabelWeights[i] = float32(r.IntN(4))
		}
	}
	p.loss.ByLength = !s.integers && r.IntN(2) == 0
	return p
}

// move uploads the problem to arrays with capacity for more chains and positions.
func (p *problem) move(d *device.Device, chains, positions int) {
	θ := p.θ
	b, n := θ.Len()+chains, θ.Positions()+positions
	edges := θ.Y * θ.Y
	if θ.PerPosition {
		edges *= n
	}
	p.on = &cudaoracles.Chains{
		B: b, N: n, Y: θ.Y, PerPosition: θ.PerPosition,
		Offsets: device.New[int32](d, b+1, "offsets"), Node: device.New[float32](d, n*θ.Y, "node"), Edge: device.New[float32](d, edges, "edge"),
	}
	offsets := make([]int32, b+1)
	for i := range offsets {
		offsets[i] = int32(θ.Offsets[min(i, θ.Len())])
		if i > 0 {
			p.on.Longest = max(p.on.Longest, int(offsets[i]-offsets[i-1]))
		}
	}
	p.a = cudaoracles.Augmentation{Gold: device.New[int32](d, n, "gold"), ByLength: p.loss.ByLength, Loss: p.with}
	device.Upload(d, p.on.Offsets, offsets)
	device.Upload(d, p.on.Node, θ.Node)
	device.Upload(d, p.on.Edge, θ.Edge)
	device.Upload(d, p.a.Gold, p.gold)
	if p.loss.LabelWeights != nil {
		p.a.Cost = device.New[float32](d, θ.Y, "cost")
		device.Upload(d, p.a.Cost, p.loss.LabelWeights)
	}
}

// free frees the device's arrays.
func (p *problem) free(d *device.Device) {
	device.Free(d, p.on.Offsets)
	device.Free(d, p.on.Node)
	device.Free(d, p.on.Edge)
	device.Free(d, p.a.Gold)
	device.Free(d, p.a.Cost)
}

// augmented returns the potentials, with the loss if it is used.
func (p *problem) augmented() *potentials {
	if !p.with {
		return p.θ
	}
	θ := p.θ.copy()
	for b := range θ.Len() {
		lo, hi := θ.Offsets[b], θ.Offsets[b+1]
		for t := lo; t < hi; t++ {
			g := p.gold[t]
			if g < 0 {
				continue
			}
			c := float32(1)
			if p.loss.LabelWeights != nil {
				c = p.loss.LabelWeights[g]
			}
			if p.loss.ByLength {
				c /= float32(hi - lo)
			}
			for l := range θ.Y {
				if l != int(g) {
					θ.Node[t*θ.Y+l] += c
				}
			}
		}
	}
	return θ
}

// goldScore returns the score of the known gold labels of chain b.
func (p *problem) goldScore(b int) float64 {
	s, θ := 0.0, p.θ
	for t := θ.Offsets[b]; t < θ.Offsets[b+1]; t++ {
		if p.gold[t] < 0 {
			continue
		}
		s += float64(θ.Node[t*θ.Y+int(p.gold[t])])
		if t > θ.Offsets[b] && p.gold[t-1] >= 0 {
			s += float64(θ.EdgeAt(t)[int(p.gold[t-1])*θ.Y+int(p.gold[t])])
		}
	}
	return s
}

// The loss that this file adds by hand equals chains.Hamming.
func TestAugmentedIsHamming(t *testing.T) {
	for seed := range uint64(20) {
		p := drawProblem(rand.New(rand.NewPCG(seed, 0)), shape{labels: 3, chains: 4, longest: 5})
		p.with = true
		want := p.θ.copy()
		for b := range want.Len() {
			p.loss.Augment(want.all, b, structured.Gold{Output: p.gold[want.Offsets[b]:want.Offsets[b+1]], Sets: [][]int32{nil}}) // −1: any label
		}
		for i, x := range p.augmented().Node {
			nearly(t, "potential", float64(x), float64(want.Node[i]), 1e-6)
		}
	}
}
