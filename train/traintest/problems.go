// Package traintest holds what the tests of training share: small problems, a network, a fake device and checks.
package traintest

import (
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// The smoothings; the method chooses μ.
var (
	Entropy = oracles.Smoothing{Kind: oracles.Entropy}
	L2      = oracles.Smoothing{Kind: oracles.L2}
)

var FullPassCases = []struct {
	Name      string
	Loss      engine.Loss
	Smoothing oracles.Smoothing
}{
	{"hinge, entropy", engine.Hinge, oracles.Smoothing{Kind: oracles.Entropy, Mu: 0.7}},
	{"hinge, l2", engine.Hinge, oracles.Smoothing{Kind: oracles.L2, Mu: 2, MaxK: 4096}},
	{"hinge, l2 on 3", engine.Hinge, oracles.Smoothing{Kind: oracles.L2, Mu: 2, K: 3}},
	{"hinge", engine.Hinge, oracles.Smoothing{}},
	{"crf", engine.CRF, oracles.Smoothing{}},
	{"softmax-margin", engine.SoftmaxMargin, oracles.Smoothing{}},
}

func LinearProblem(n int, noise, λ float64, threads int) *train.Problem {
	data := Chains(n, 6, 4, noise, 1)
	net := &Net{Inputs: 6, Labels: 4}
	o := &engine.Objective{Scorer: net, Data: data, Lambda: λ}
	return &train.Problem{Engine: engine.NewEngine(o, threads), Seed: 3}
}

func NoisyProblem(n int, loss engine.Loss, s oracles.Smoothing, λ float64) *train.Problem {
	o := &engine.Objective{Scorer: &Net{Inputs: 5, Labels: 4}, Data: NoisyChains(1, n, 5, 4), Loss: loss, Lambda: λ}
	return &train.Problem{Engine: engine.NewEngine(o, 1), Smoothing: s, Seed: 3}
}

func NetProblem(n, batch, threads int) *train.Problem {
	data := Chains(n, 8, 5, 0.7, 2)
	o := &engine.Objective{Scorer: &Net{Inputs: 8, hidden: 12, Labels: 5}, Data: data, Lambda: 1e-3}
	return &train.Problem{Engine: engine.NewEngine(o, threads), Batch: batch, Seed: 4}
}

// ShortNetProblem is a problem of a net whose chains are so short that all outputs can be listed.
func ShortNetProblem(n int) *train.Problem {
	o := &engine.Objective{Scorer: &Net{Inputs: 6, hidden: 9, Labels: 3}, Data: shortChains(Chains(n, 6, 3, 0.7, 5), 4), Lambda: 1e-3}
	return &train.Problem{Engine: engine.NewEngine(o, 1), Seed: 4}
}

// LoopProblem is a small convex problem, identical on every call.
func LoopProblem() (*train.Problem, *train.State) {
	net := &Net{Inputs: 4, Labels: 3}
	o := &engine.Objective{Scorer: net, Data: Chains(40, 4, 3, 1, 1), Lambda: 0.1}
	return &train.Problem{Engine: engine.NewEngine(o, 1), Smoothing: oracles.Smoothing{Kind: oracles.Entropy}, Seed: 3}, train.NewState(make([]float32, net.Dim()))
}

// Shifted gives the problem a centre, a constant and example weights.
func Shifted(p *train.Problem) *train.Problem {
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

// SparseProblem is a problem with the linear scorer for sparse inputs.
func SparseProblem(n int, loss engine.Loss, s oracles.Smoothing, λ float64) *train.Problem {
	data := SparseChains(1, n, 40, 4, loss == engine.Hinge)
	net, err := sparse.NewChain(40, 0, 4, nets.EdgesTransition)
	if err != nil {
		panic(err)
	}
	o := &engine.Objective{Scorer: net, Data: data, Loss: loss, Lambda: λ}
	return &train.Problem{Engine: engine.NewEngine(o, 1), Smoothing: s, Seed: 3}
}

// Densely returns the same problem with a scorer of dense inputs whose weights have the same order.
func Densely(p *train.Problem) *train.Problem {
	o := *p.Objective
	o.Scorer = &Net{Inputs: o.Data.Dim, Labels: LabelsOf(p)}
	q := *p
	q.Engine = engine.NewEngine(&o, p.Threads())
	return &q
}

// AttributeProblem draws n chains of 1 to longest positions. Their labels determine, with errors, a few of 30
// attributes. Edges have attributes too if edges > 0.
func AttributeProblem(t *testing.T, n, longest, labels, edges int, loss engine.Loss, λ float64) *train.Problem {
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
	net, err := sparse.NewChain(30, edges, labels, nets.EdgesTransition)
	if err != nil {
		t.Fatal(err)
	}
	o := &engine.Objective{Scorer: net, Data: d, Loss: loss, Lambda: λ}
	return &train.Problem{Engine: engine.NewEngine(o, 1), Seed: 3}
}

// network is a net with the methods that prox-linear and devices need.
type network struct{ *nets.Net }

func (n network) Linearise() engine.Linearised {
	return nets.Linearise(n.Net, make([]float32, n.Dim()))
}
func (n network) Network() *nets.Net { return n.Net }

// EmbeddingProblem draws n chains of up to 6 positions with two discrete inputs, for a network with embeddings of both.
// Examples have weights.
func EmbeddingProblem(n int, loss engine.Loss, λ float64) *train.Problem {
	r := rand.New(rand.NewPCG(7, 8))
	d := &structured.Dataset{Name: "drawn", Offsets: []int{0}, Vocab: []*structured.Alphabet{{}, {}}, Alphabet: structured.NewAlphabet("a", "b", "c")}
	for i := range n {
		for range 1 + r.IntN(6) {
			word := r.IntN(40)
			d.Ids = append(d.Ids, int32(word), int32(r.IntN(5)))
			d.Labels = append(d.Labels, int32((word+r.IntN(9)/7)%3))
		}
		d.Offsets = append(d.Offsets, len(d.Labels))
		d.Weights = append(d.Weights, 0.5+float64(i%3)/2)
	}
	net, err := nets.New(nets.Config{Net: "embed", Embed: []int{5, 3}, Channels: []int{7}}, graph.Input{Vocab: []int{40, 5}}, 3)
	if err != nil {
		panic(err)
	}
	o := &engine.Objective{Scorer: network{net}, Data: d, Loss: loss, Lambda: λ}
	return &train.Problem{Engine: engine.NewEngine(o, 2), Seed: 1}
}

// Initial returns initial weights for the problem: random ones for a network, else zeros.
func Initial(p *train.Problem) []float32 {
	switch s := p.Scorer.(type) {
	case *Net:
		return s.Glorot(1)
	case network:
		return s.Init(3)
	}
	return make([]float32, p.Scorer.Dim())
}
