package bitext_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/models/data/features/pairs"
	"github.com/dsp-go/dsp/models/data/features/templates"
	"github.com/dsp-go/dsp/models/drawn/bitext"
	"github.com/dsp-go/dsp/structured"
)

// greedy returns a matching: pairs in the order of falling scores [n·m], as long as both words are free and the score
// is more than threshold.
func greedy(n, m int, scores []float64, threshold float64) []int32 {
	order := make([]int, 0, n*m)
	for k, s := range scores {
		if s > threshold {
			order = append(order, k)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	y, taken := make([]int32, n), make([]bool, m)
	for _, k := range order {
		if i, j := k/m, k%m; y[i] == 0 && !taken[j] {
			y[i], taken[j] = int32(j)+1, true
		}
	}
	return y
}

func part(o bitext.Options, k int) *alignments.Corpus { return o.Parts()[k].Corpus() }

// diceAER aligns the test pairs greedily by the Dice coefficient in the given corpora.
func diceAER(t testing.TB, test *alignments.Corpus, threshold float64,
	corpora ...*alignments.Corpus) alignments.Metrics {
	t.Helper()
	stats, err := pairs.Count(0, corpora...)
	if err != nil {
		t.Fatal(err)
	}
	e := alignments.NewEvaluator()
	for i := range test.Len() {
		n, m := test.Size(i)
		scores := make([]float64, 0, n*m)
		for _, s := range test.Source(i) {
			for _, w := range test.Target(i) {
				scores = append(scores, stats.Dice(strings.ToLower(s), strings.ToLower(w)))
			}
		}
		e.AddLinks(test.LinksOf(i), alignments.OfOutput(greedy(n, m, scores, threshold)))
	}
	return e.Links()
}

// matchingAER measures the matchings that stand for the gold links: the best that one-to-one alignment can do, nearly.
func matchingAER(test *structured.Dataset) float64 {
	e := alignments.NewEvaluator()
	for i := range test.Len() {
		e.Add(test, i, test.Gold(i))
	}
	return e.Links().AER
}

// perceptronAER trains weights of the attributes with an averaged perceptron on greedy matchings, and measures them on
// the test set.
func perceptronAER(t testing.TB, train, test *alignments.Corpus, passes int, bitext ...*alignments.Corpus) float64 {
	t.Helper()
	template, err := pairs.Parse(pairs.Builtin(), "built-in")
	if err != nil {
		t.Fatal(err)
	}
	stats, err := pairs.Count(0, append(bitext, train)...)
	if err != nil {
		t.Fatal(err)
	}
	numbers, err := template.Fit(stats, train, templates.Options{MinCount: 2})
	if err != nil {
		t.Fatal(err)
	}
	data := [2]*structured.Dataset{train.Dataset(), test.Dataset()}
	for _, d := range data {
		if err := pairs.Apply(template, stats, numbers, d, 0); err != nil {
			t.Fatal(err)
		}
	}
	weights := [2][]float64{make([]float64, numbers.Pair.Nodes()), make([]float64, numbers.Source.Nodes())}
	sums := [2][]float64{make([]float64, numbers.Pair.Nodes()), make([]float64, numbers.Source.Nodes())}
	predict := func(d *structured.Dataset, i int, weights [2][]float64) []int32 {
		n, m := alignments.Size(d, i)
		pair, source := d.Table(alignments.PairRows), d.Table(alignments.SourceRows)
		scores := make([]float64, n*m)
		for k := range scores {
			index, _ := pair.Attributes.Row(pair.Offsets[i] + k)
			for _, a := range index {
				scores[k] += weights[0][a]
			}
			index, _ = source.Attributes.Row(source.Offsets[i] + k/m)
			for _, a := range index {
				scores[k] -= weights[1][a]
			}
		}
		return greedy(n, m, scores, 0)
	}
	step := 0.0
	add := func(d *structured.Dataset, i int, y []int32, c float64) {
		_, m := alignments.Size(d, i)
		for s, j := range y {
			table, row, part := d.Table(alignments.SourceRows), s, 1
			if j > 0 {
				table, row, part = d.Table(alignments.PairRows), s*m+int(j)-1, 0
			}
			index, _ := table.Attributes.Row(table.Offsets[i] + row)
			for _, a := range index {
				weights[part][a] += c
				sums[part][a] += c * step
			}
		}
	}
	for range passes {
		for i := range data[0].Len() {
			step++
			y := predict(data[0], i, weights)
			add(data[0], i, data[0].Gold(i), 1)
			add(data[0], i, y, -1)
		}
	}
	for p := range weights {
		for a := range weights[p] {
			weights[p][a] -= sums[p][a] / step
		}
	}
	e := alignments.NewEvaluator()
	for i := range data[1].Len() {
		e.Add(data[1], i, predict(data[1], i, weights))
	}
	return e.Links().AER
}

// The data leave something to learn: aligning by the Dice coefficient is far from right, and attributes help a lot.
// More text helps both. Matchings can express nearly all sure links.
func TestLearnable(t *testing.T) {
	o := bitext.DefaultOptions()
	o.Train, o.Test, o.Bitext = 500, 100, 3000
	train, test, bitext := part(o, 0), part(o, 2), part(o, 3)
	best := matchingAER(test.Dataset())
	dice, more := diceAER(t, test, 0.1, train).AER, diceAER(t, test, 0.1, train, bitext).AER
	learned, both := perceptronAER(t, train, test, 3), perceptronAER(t, train, test, 3, bitext)
	t.Logf("AER: matchings %.3f; Dice %.3f, with more text %.3f; perceptron %.3f, with more text %.3f", best,
		dice, more, learned, both)
	if best > 0.03 || dice < 0.15 || dice > 0.35 || more > dice-0.03 || learned > dice/2 || both > learned {
		t.Errorf("AER: matchings %.3f, expected at most 0.03; Dice %.3f, expected 0.15 to 0.35; with more text %.3f, "+
			"expected less; perceptron %.3f, expected half of Dice; with more text %.3f, expected less",
			best, dice, more, learned, both)
	}
}

func TestDifficulty(t *testing.T) {
	before := 0.0
	for _, difficulty := range []float64{0, 0.5, 1} {
		o := bitext.DefaultOptions()
		o.Difficulty = difficulty
		aer := diceAER(t, part(o, 2), 0.1, part(o, 0)).AER
		t.Logf("difficulty %.1f: Dice baseline AER %.4f", difficulty, aer)
		if aer < before+0.03 {
			t.Errorf("difficulty %v: AER %.3f, expected at least 0.03 more than %.3f", difficulty, aer, before)
		}
		before = aer
	}
}
