package cudaoracles_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/cuda/cases"
	"github.com/dsp-go/dsp/structured"
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

type potentials = cases.Potentials

// problem is a case that is drawn.
type problem struct{ cases.Chains }

// labelCounts are the label counts at which the choice of kernel changes, and some in between.
var labelCounts = []int{1, 2, 3, 5, 8, 9, 16, 17, 31, 32, 33, 64, 65, 100, 128, 129, 200, 257}

// shape says what drawProblem should draw.
type shape struct {
	labels, chains, longest int
	integers                bool
}

// drawProblem draws ragged chains, including some of length 0 and 1. Some batches have forbidden labels and
// transitions, labels that rarely change, so that distant positions matter, or numbers so large that float32 rounds
// their sums.
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
	p := &problem{cases.Chains{With: r.IntN(3) > 0}}
	p.Host = cases.NewPotentials(offsets, s.labels, r.IntN(2) == 0)
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
	for _, x := range [][]float32{p.Host.Node, p.Host.Edge} {
		for i := range x {
			x[i] = number()
		}
	}
	switch r.IntN(4) {
	case 0:
		for i := range p.Host.Edge {
			if from, to := i/s.labels%s.labels, i%s.labels; from != to {
				p.Host.Edge[i] -= 20
			}
		}
	case 1:
		if !s.integers {
			for i := range p.Host.Node {
				p.Host.Node[i] += 1e6
			}
		}
	}
	for range p.Host.Positions() {
		p.Gold = append(p.Gold, int32(r.IntN(s.labels+1)-1))
	}
	if r.IntN(2) == 0 {
		p.Loss.LabelWeights = make([]float32, s.labels)
		for i := range p.Loss.LabelWeights {
			p.Loss.LabelWeights[i] = float32(r.IntN(4))
		}
	}
	p.Loss.ByLength = !s.integers && r.IntN(2) == 0
	return p
}

// The loss that a case adds by hand equals chains.Hamming.
func TestAugmentedIsHamming(t *testing.T) {
	for seed := range uint64(20) {
		p := drawProblem(rand.New(rand.NewPCG(seed, 0)), shape{labels: 3, chains: 4, longest: 5})
		p.With = true
		want := p.Host.Copy()
		for b := range want.Len() {
			// −1: any label
			p.Loss.Augment(want.All, b, structured.Gold{Output: p.Gold[want.Offsets[b]:want.Offsets[b+1]], Sets: [][]int32{nil}})
		}
		for i, x := range p.Augmented().Node {
			nearly(t, "potential", float64(x), float64(want.Node[i]), 1e-6)
		}
	}
}
