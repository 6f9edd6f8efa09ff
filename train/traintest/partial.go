package traintest

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// Hide hides the given share of d's labels: each becomes any label, or one of two that include the right one. Some
// examples stay fully labelled. It returns the original labels.
func Hide(d *structured.Dataset, share float64, seed uint64) []int32 {
	r, was := rand.New(rand.NewPCG(seed, 8)), slices.Clone(d.Labels)
	d.LabelSets = [][]int32{nil}
	y := int32(slices.Max(d.Labels)) + 1
	d.Alphabet = structured.NewAlphabet()
	for l := range y {
		d.Alphabet.Add(string(rune('a' + l)))
	}
	for a := range y {
		for b := a + 1; b < y; b++ {
			d.LabelSets = append(d.LabelSets, []int32{a, b})
		}
	}
	for i := range d.Len() {
		if i%4 == 3 {
			continue
		}
		for t, l := range d.Gold(i) {
			if r.Float64() >= share {
				continue
			}
			k := r.IntN(len(d.LabelSets))
			for k > 0 && !slices.Contains(d.LabelSets[k], l) {
				k = r.IntN(len(d.LabelSets))
			}
			d.Gold(i)[t] = int32(-1 - k)
		}
	}
	return was
}

// shortChains truncates chains to at most most positions.
func shortChains(d *structured.Dataset, most int) *structured.Dataset {
	s := &structured.Dataset{Name: d.Name, Dim: d.Dim, Alphabet: d.Alphabet, Offsets: []int{0}}
	if d.Attributes != nil {
		s.Attributes = &structured.Sparse{Offsets: []int{0}}
	}
	for i := range d.Len() {
		for t := d.Offsets[i]; t < min(d.Offsets[i+1], d.Offsets[i]+most); t++ {
			s.Labels = append(s.Labels, d.Labels[t])
			s.Features = append(s.Features, d.Features[t*d.Dim:(t+1)*d.Dim]...)
			if x := d.Attributes; x != nil {
				s.Attributes.Index = append(s.Attributes.Index, x.Index[x.Offsets[t]:x.Offsets[t+1]]...)
				s.Attributes.Offsets = append(s.Attributes.Offsets, len(s.Attributes.Index))
			}
		}
		s.Offsets = append(s.Offsets, len(s.Labels))
	}
	return s
}

// PartialProblems are small problems with partial labels: dense and sparse, with shared edges and edges per position,
// with and without constraints, weights and costs.
func PartialProblems(t *testing.T, loss engine.Loss) map[string]*train.Problem {
	problems := map[string]*train.Problem{}
	add := func(name string, o *engine.Objective) {
		o.Loss, o.Lambda = loss, 0.1
		Hide(o.Data, 0.6, 1)
		problems[name] = &train.Problem{Engine: engine.NewEngine(o, 2), Seed: 3}
	}
	add("dense", &engine.Objective{Scorer: &Net{Inputs: 4, Labels: 3}, Data: shortChains(NoisyChains(1, 20, 4, 3), 5)})
	costs := chains.Hamming{LabelWeights: []float32{0.5, 2, 3}}
	add("costs", &engine.Objective{Scorer: &Net{Inputs: 4, Labels: 3}, Data: shortChains(NoisyChains(2, 20, 4, 3), 5), Task: costs})
	Shifted(problems["costs"])

	data := shortChains(NoisyChains(3, 20, 4, 3), 5)
	c := &chains.Constraints{Transition: make([]bool, 9), Start: make([]bool, 3)}
	for i := range c.Transition {
		c.Transition[i] = true
	}
	for i := range data.Len() { // the constraints allow everything that occurs in the gold outputs
		for t, l := range data.Gold(i) {
			if t > 0 {
				c.Transition[data.Gold(i)[t-1]*3+l] = false
			}
		}
	}
	c.Transition[slices.Index(c.Transition, false)] = true
	add("constraints", &engine.Objective{Scorer: &Net{Inputs: 4, Labels: 3}, Data: data, Constraints: c})
	kept := []int{}
	for i := range data.Len() {
		if c.AllowsSome(data, i) {
			kept = append(kept, i)
		}
	}
	problems["constraints"].Engine = engine.NewEngine(&engine.Objective{
		Scorer: &Net{Inputs: 4, Labels: 3}, Data: data.Subset(kept), Constraints: c, Loss: loss, Lambda: 0.1}, 2)

	for name, edges := range map[string]int{"sparse": 0, "sparse, edges per position": 12} {
		data := shortChains(SparseChains(4, 20, 12, 3, false), 5)
		if edges > 0 {
			data.EdgeAttributes = data.Attributes
		}
		net, err := sparse.NewChain(12, edges, 3, nets.EdgesTransition)
		if err != nil {
			t.Fatal(err)
		}
		add(name, &engine.Objective{Scorer: net, Data: data})
	}
	return problems
}
