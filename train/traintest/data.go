package traintest

import (
	"math/rand/v2"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/train"
)

// Chains draws n chains whose labels follow a Markov chain and whose features are a noisy version of the label; with
// noise 0 the data is separable. Every label has two prototypes, so a network can do better than a linear model.
func Chains(n, dim, labels int, noise float64, seed uint64) *structured.Dataset {
	r := rand.New(rand.NewPCG(seed, 5))
	prototypes := make([]float64, 2*labels*dim)
	for j := range prototypes {
		prototypes[j] = r.NormFloat64()
	}
	d := &structured.Dataset{Name: "chains", Offsets: []int{0}, Dim: dim}
	names := make([]string, labels)
	for l := range names {
		names[l] = string(rune('a' + l))
	}
	d.Alphabet = structured.NewAlphabet(names...)
	for range n {
		l := r.IntN(labels)
		for range 3 + r.IntN(8) {
			if r.Float64() < 0.3 {
				l = r.IntN(labels)
			} else {
				l = (l + 1) % labels
			}
			d.Labels = append(d.Labels, int32(l))
			c := 2*l + r.IntN(2)
			for j := range dim {
				d.Features = append(d.Features, float32(prototypes[c*dim+j]+noise*r.NormFloat64()))
			}
		}
		d.Offsets = append(d.Offsets, len(d.Labels))
	}
	return d
}

// NoisyChains draws n chains of 3 to 12 positions, far from separable: labels follow a Markov chain, features are the
// label's centre plus unit noise, and one label in ten is wrong.
func NoisyChains(seed uint64, n, dim, y int) *structured.Dataset {
	r := rand.New(rand.NewPCG(seed, 1))
	centers := make([]float64, y*dim)
	for i := range centers {
		centers[i] = 0.8 * r.NormFloat64()
	}
	next := make([]int, y)
	for i := range next {
		next[i] = r.IntN(y)
	}
	d := &structured.Dataset{Name: "noisy chains", Offsets: []int{0}, Dim: dim}
	for range n {
		l := r.IntN(y)
		for range 3 + r.IntN(10) {
			if r.Float64() < 0.6 {
				l = next[l]
			} else {
				l = r.IntN(y)
			}
			for j := range dim {
				d.Features = append(d.Features, float32(centers[l*dim+j]+r.NormFloat64()))
			}
			gold := l
			if r.Float64() < 0.1 {
				gold = r.IntN(y)
			}
			d.Labels = append(d.Labels, int32(gold))
		}
		d.Offsets = append(d.Offsets, len(d.Labels))
	}
	return d
}

// SparseChains are NoisyChains with sparse attributes, some of which depend on the label. Their values are random or
// all ones. Features holds the same inputs in dense form, one column per attribute.
func SparseChains(seed uint64, n, attributes, y int, values bool) *structured.Dataset {
	r := rand.New(rand.NewPCG(seed, 9))
	d := NoisyChains(seed, n, 1, y)
	d.Dim = attributes
	d.Features = make([]float32, d.Positions()*attributes)
	x := &structured.Sparse{Offsets: []int{0}}
	for t, l := range d.Labels {
		for k := range 1 + r.IntN(5) {
			a := r.IntN(attributes)
			if k%2 == 0 {
				a = (int(l)*7 + r.IntN(4)) % attributes
			}
			value := float32(1)
			if values {
				value = float32(r.NormFloat64())
				x.Value = append(x.Value, value)
			}
			x.Index = append(x.Index, int32(a))
			d.Features[t*attributes+a] += value
		}
		x.Offsets = append(x.Offsets, len(x.Index))
	}
	d.Attributes = x
	return d
}

// LabelsOf returns the number of labels of a problem with chains.
func LabelsOf(p *train.Problem) int { return p.Scorer.Form().Parts[0].Width }

// Allows reports whether a problem's constraints allow a labeling.
func Allows(p *train.Problem, labels []int32) bool {
	c, _ := p.Constraints.(*chains.Constraints)
	return c.Allows(labels)
}
