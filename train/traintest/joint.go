package traintest

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// JointProblem is an AttributeProblem of chains of up to 8 positions, with three labels, whose positions have dim dense
// inputs, too. The labels determine them, with noise.
func JointProblem(t *testing.T, n, edges, dim int, loss engine.Loss, λ float64) *train.Problem {
	t.Helper()
	const labels = 3
	p := AttributeProblem(t, n, 8, labels, edges, loss, λ)
	r, d := rand.New(rand.NewPCG(9, uint64(n))), p.Data
	centres := make([]float32, labels*dim)
	for j := range centres {
		centres[j] = float32(r.NormFloat64()) / 2
	}
	d.Dim = dim
	for _, l := range d.Labels {
		for j := range dim {
			d.Features = append(d.Features, centres[int(l)*dim+j]+float32(r.NormFloat64()))
		}
	}
	net, err := sparse.NewDenseChain(30, edges, dim, labels, nets.EdgesTransition)
	if err != nil {
		t.Fatal(err)
	}
	p.Scorer = net
	p.Engine = engine.NewEngine(p.Objective, 1)
	return p
}

// AsAttributes returns a JointProblem as one of attributes alone: every dense input is an attribute with a value, and
// so is the bias.
func AsAttributes(t *testing.T, p *train.Problem) *train.Problem {
	t.Helper()
	o, d := *p.Objective, *p.Data
	x := &structured.Sparse{Offsets: []int{0}, Value: []float32{}}
	for k := range d.Positions() {
		index, value := d.Attributes.Row(k)
		x.Index, x.Value = append(x.Index, index...), append(x.Value, value...)
		for j, z := range d.Features[k*d.Dim : (k+1)*d.Dim] {
			x.Index, x.Value = append(x.Index, int32(30+j)), append(x.Value, z)
		}
		x.Index, x.Value = append(x.Index, int32(30+d.Dim)), append(x.Value, 1)
		x.Offsets = append(x.Offsets, len(x.Index))
	}
	edges := 0
	if e := d.EdgeAttributes; e != nil {
		edges = int(slices.Max(e.Index)) + 1
	}
	net, err := sparse.NewChain(30+d.Dim+1, edges, 3, nets.EdgesTransition)
	if err != nil {
		t.Fatal(err)
	}
	d.Attributes, d.Features, d.Dim = x, nil, 0
	o.Scorer, o.Data = net, &d
	q := *p
	q.Engine = engine.NewEngine(&o, p.Threads())
	return &q
}
