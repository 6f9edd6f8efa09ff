package train

import (
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
)

// The smoothings, with μ left to the method.
var (
	entropy = oracles.Smoothing{Kind: oracles.Entropy}
	l2      = oracles.Smoothing{Kind: oracles.L2}
)

var fullPassCases = []struct {
	name      string
	loss      Loss
	smoothing oracles.Smoothing
}{
	{"hinge, entropy", Hinge, oracles.Smoothing{Kind: oracles.Entropy, Mu: 0.7}},
	{"hinge, l2", Hinge, oracles.Smoothing{Kind: oracles.L2, Mu: 2, MaxK: 4096}},
	{"hinge, l2 on 3", Hinge, oracles.Smoothing{Kind: oracles.L2, Mu: 2, K: 3}},
	{"hinge", Hinge, oracles.Smoothing{}},
	{"crf", CRF, oracles.Smoothing{}},
	{"softmax-margin", SoftmaxMargin, oracles.Smoothing{}},
}

func linearProblem(n int, noise, λ float64, threads int) *Problem {
	data := testChains(n, 6, 4, noise, 1)
	net := &testNet{dim: 6, labels: 4}
	o := &Objective{Scorer: net, Data: data, Lambda: λ}
	return &Problem{Engine: NewEngine(o, threads), Seed: 3}
}

func noisyProblem(n int, loss Loss, s oracles.Smoothing, λ float64) *Problem {
	o := &Objective{Scorer: &testNet{dim: 5, labels: 4}, Data: noisyChains(1, n, 5, 4), Loss: loss, Lambda: λ}
	return &Problem{Engine: NewEngine(o, 1), Smoothing: s, Seed: 3}
}

func netProblem(n, batch, threads int) *Problem {
	data := testChains(n, 8, 5, 0.7, 2)
	o := &Objective{Scorer: &testNet{dim: 8, hidden: 12, labels: 5}, Data: data, Lambda: 1e-3}
	return &Problem{Engine: NewEngine(o, threads), Batch: batch, Seed: 4}
}

// loopProblem is a small convex problem; the same every time.
func loopProblem() (*Problem, *State) {
	net := &testNet{dim: 4, labels: 3}
	o := &Objective{Scorer: net, Data: testChains(40, 4, 3, 1, 1), Lambda: 0.1}
	return &Problem{Engine: NewEngine(o, 1), Smoothing: oracles.Smoothing{Kind: oracles.Entropy}, Seed: 3}, &State{W: make([]float32, net.Dim())}
}

// shifted gives the problem a centre, a constant and example weights.
func shifted(p *Problem) *Problem {
	p.Center = make([]float32, p.Scorer.Dim())
	for j := range p.Center {
		p.Center[j] = float32(j%5)/10 - 0.2
	}
	p.Constant = 0.3
	p.Data.Weights = make([]float64, p.Len())
	for i := range p.Data.Weights {
		p.Data.Weights[i] = 0.5 + float64(i%3)
	}
	return p
}

// sparseProblem is a problem with the linear scorer of sparse inputs.
func sparseProblem(n int, loss Loss, s oracles.Smoothing, λ float64) *Problem {
	data := sparseChains(1, n, 40, 4, loss == Hinge)
	net, err := nets.NewSparseLinear(40, 0, 4, nets.EdgesTransition)
	if err != nil {
		panic(err)
	}
	o := &Objective{Scorer: net, Data: data, Loss: loss, Lambda: λ}
	return &Problem{Engine: NewEngine(o, 1), Smoothing: s, Seed: 3}
}

// densely is the same problem with a scorer of dense inputs, whose weights lie in the same order.
func densely(p *Problem) *Problem {
	o := *p.Objective
	o.Scorer = &testNet{dim: o.Data.Dim, labels: labelsOf(p)}
	q := *p
	q.Engine = NewEngine(&o, p.Threads())
	return &q
}

// attributeProblem draws n chains of 1 to longest positions whose labels show, with errors, in a few of 30 attributes; steps
// have attributes too where so many are asked for.
func attributeProblem(t *testing.T, n, longest, labels, edges int, loss Loss, λ float64) *Problem {
	t.Helper()
	r := rand.New(rand.NewPCG(8, uint64(n)))
	x := &structured.Sparse{Offsets: []int{0}, Value: []float32{}}
	z := &structured.Sparse{Offsets: []int{0}}
	d := &structured.Dataset{Name: "attributes", Offsets: []int{0}, Attributes: x}
	for range n {
		for range 1 + r.IntN(longest) {
			l := r.IntN(labels)
			for range 1 + r.IntN(4) {
				x.Index = append(x.Index, int32((l+labels*r.IntN(30/labels)+r.IntN(9)/7)%30))
				x.Value = append(x.Value, float32(1+r.IntN(3))/2)
			}
			x.Offsets = append(x.Offsets, len(x.Index))
			if edges > 0 {
				z.Index = append(z.Index, int32(r.IntN(edges)))
				z.Offsets = append(z.Offsets, len(z.Index))
			}
			d.Labels = append(d.Labels, int32(l))
		}
		d.Offsets = append(d.Offsets, len(d.Labels))
	}
	if edges > 0 {
		d.EdgeAttributes = z
	}
	names := make([]string, labels)
	for l := range names {
		names[l] = string(rune('a' + l))
	}
	d.Alphabet = structured.NewAlphabet(names...)
	net, err := nets.NewSparseLinear(30, edges, labels, nets.EdgesTransition)
	if err != nil {
		t.Fatal(err)
	}
	o := &Objective{Scorer: net, Data: d, Loss: loss, Lambda: λ}
	return &Problem{Engine: NewEngine(o, 1), Seed: 3}
}
