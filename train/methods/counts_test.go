package methods

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// drawnWords returns n weighted sentences of words with labels, some of them empty. Attributes are the words and, with
// marks, where sentences begin and end, in an order that is drawn. words[t] is the word of position t.
func drawnWords(r *rand.Rand, n, vocabulary, labels int, marks bool) (d *structured.Dataset, words []int, number []int) {
	number = r.Perm(vocabulary + 2) // the last two are the marks
	d = &structured.Dataset{Name: "drawn", Offsets: []int{0}, Attributes: &structured.Sparse{Offsets: []int{0}}}
	for range n {
		length := r.IntN(5)
		for t := range length {
			w := r.IntN(vocabulary)
			words = append(words, w)
			d.Labels = append(d.Labels, int32((w+r.IntN(2))%labels))
			index := []int32{int32(number[w])}
			if marks && t == 0 {
				index = append(index, int32(number[vocabulary]))
			}
			if marks && t == length-1 {
				index = append(index, int32(number[vocabulary+1]))
			}
			d.Attributes.Index = append(d.Attributes.Index, index...)
			d.Attributes.Offsets = append(d.Attributes.Offsets, len(d.Attributes.Index))
		}
		d.Offsets = append(d.Offsets, d.Offsets[len(d.Offsets)-1]+length)
		d.Weights = append(d.Weights, 0.5+float64(r.IntN(3)))
	}
	return d, words, number
}

func countProblem(t *testing.T, d *structured.Dataset, attributes, edges, labels int, kind string) *train.Problem {
	t.Helper()
	net, err := sparse.NewChain(attributes, edges, labels, kind)
	if err != nil {
		t.Fatal(err)
	}
	return &train.Problem{Engine: engine.NewEngine(&engine.Objective{Scorer: net, Data: d, Loss: engine.CRF, Lambda: 0.01}, 2)}
}

// The score of every labelling of a sentence is the logarithm of its probability, factor by factor from counts of the
// data.
func TestCountsAreProbabilities(t *testing.T) {
	const vocabulary, labels = 7, 3
	const word, step = 0.3, 0.7
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 3))
		marks := seed%3 > 0
		d, words, _ := drawnWords(r, 12, vocabulary, labels, marks)
		p := countProblem(t, d, vocabulary+2, 0, labels, nets.EdgesTransition)
		m, s := &Counts{Word: word, Step: step}, train.NewState(make([]float32, p.Scorer.Dim()))
		if err := m.Start(context.Background(), p, s); err != nil {
			t.Fatal(err)
		}
		if err := m.Pass(context.Background(), p, s); err != nil {
			t.Fatal(err)
		}
		if value, err := p.Value(context.Background(), s.W); err != nil || math.Abs(value-s.Primal) > 1e-3*value || !s.Done || s.Passes != 1 {
			t.Errorf("F %g, reported %g, done %v after %d passes: %v", value, s.Primal, s.Done, s.Passes, err)
		}
		count := func(is func(i, t int) bool) float64 { // positions, each with the weight of its example
			sum := 0.0
			for i := range d.Len() {
				for t := d.Offsets[i]; t < d.Offsets[i+1]; t++ {
					if is(i, t) {
						sum += d.Weights[i]
					}
				}
			}
			return sum
		}
		first := func(i, t int) bool { return t == d.Offsets[i] }
		last := func(i, t int) bool { return t == d.Offsets[i+1]-1 }
		met := map[int]bool{}
		for _, w := range words {
			met[w] = true
		}
		var all structured.Batch
		examples := make([]int, d.Len())
		for i := range examples {
			examples[i] = i
		}
		all.Reset(d, examples)
		var θ structured.Potentials
		if err := p.Scorer.NewWorker().Score(s.W, &all, &θ); err != nil {
			t.Fatal(err)
		}
		for i := range d.Len() {
			lo, hi := d.Offsets[i], d.Offsets[i+1]
			if lo == hi {
				continue
			}
			y := make([]int32, hi-lo)
			for k := range y {
				y[k] = r.Int32N(labels)
			}
			want := 0.0
			for k, l := range y {
				is := func(_, t int) bool { return d.Labels[t] == l }
				want += math.Log((count(func(i, t int) bool { return is(i, t) && words[t] == words[lo+k] }) + word) / (count(is) + word*float64(len(met))))
				if k == 0 {
					if marks {
						want += math.Log((count(func(i, t int) bool { return is(i, t) && first(i, t) }) + step) / (count(first) + step*labels))
					}
					continue
				}
				from := func(i, t int) bool { return d.Labels[t] == y[k-1] }
				both := count(func(i, t int) bool { return !first(i, t) && is(i, t) && from(i, t-1) })
				steps, outcomes := count(func(i, t int) bool { return from(i, t) && !last(i, t) }), float64(labels)
				if marks {
					steps, outcomes = count(from), outcomes+1
				}
				want += math.Log((both + step) / (steps + step*outcomes))
			}
			if end := y[len(y)-1]; marks {
				is := func(i, t int) bool { return d.Labels[t] == end }
				want += math.Log((count(func(i, t int) bool { return is(i, t) && last(i, t) }) + step) / (count(is) + step*(labels+1)))
			}
			if got := θ.Score(i, y); math.Abs(got-want) > 1e-4 {
				t.Fatalf("seed %d, sentence %d: score %g, log probability %g", seed, i, got, want)
			}
		}
	}
}

// Without anything added, what never occurs has a score that nothing makes up for, and all numbers are finite.
func TestCountsWithoutSmoothing(t *testing.T) {
	d, _, _ := drawnWords(rand.New(rand.NewPCG(1, 1)), 9, 7, 3, true)
	p := countProblem(t, d, 9, 0, 4, nets.EdgesTransition) // label 3 never occurs
	s := train.NewState(make([]float32, p.Scorer.Dim()))
	if err := new(Counts).Pass(context.Background(), p, s); err != nil {
		t.Fatal(err)
	}
	never := 0
	for _, w := range s.W {
		if w != w || w < leastLog || w > 0 {
			t.Fatalf("a weight of %v", w)
		}
		if w == leastLog {
			never++
		}
	}
	if never == 0 || s.Primal != s.Primal {
		t.Errorf("%d weights of what never occurs, F %v", never, s.Primal)
	}
}

func TestCountsRefuse(t *testing.T) {
	d, _, _ := drawnWords(rand.New(rand.NewPCG(1, 1)), 9, 7, 3, true)
	negative, steps := *d, *d
	negative.Attributes = &structured.Sparse{Offsets: d.Attributes.Offsets, Index: d.Attributes.Index, Value: make([]float32, len(d.Attributes.Index))}
	negative.Attributes.Value[3] = -1
	steps.EdgeAttributes = &structured.Sparse{Offsets: make([]int, d.Positions()+1)}
	partial := *d
	partial.Labels, partial.LabelSets = slices.Clone(d.Labels), [][]int32{nil}
	partial.Labels[2] = -1
	soft := countProblem(t, d, 9, 0, 3, nets.EdgesTransition)
	soft.Soft = true
	for want, p := range map[string]*train.Problem{
		"edges none have no weights":   countProblem(t, d, 9, 0, 3, nets.EdgesNone),
		"of at least 0, not -1":        countProblem(t, &negative, 9, 0, 3, nets.EdgesTransition),
		"attributes of steps (B lines": countProblem(t, &steps, 9, 2, 3, nets.EdgesTransition),
		"not the targets of a teacher": soft,
		"needs to know all gold":       countProblem(t, &partial, 9, 0, 3, nets.EdgesTransition),
		"without dense inputs":         countProblem(t, &structured.Dataset{Offsets: d.Offsets, Labels: d.Labels}, 9, 0, 3, nets.EdgesTransition),
	} {
		err := new(Counts).Start(context.Background(), p, train.NewState(make([]float32, p.Scorer.Dim())))
		if err == nil || !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
}
