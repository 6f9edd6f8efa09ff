package alignments_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/structured"
)

// drawCorpus draws pairs of up to 5 by 5 words with random links.
func drawCorpus(rng *rand.Rand, pairs int) *alignments.Corpus {
	c := &alignments.Corpus{Name: "drawn", Offsets: []int{0}}
	for range pairs {
		source, target := make([]string, 1+rng.IntN(5)), make([]string, 1+rng.IntN(5))
		for _, side := range [][]string{source, target} {
			for k := range side {
				side[k] = string(rune('a' + rng.IntN(20)))
			}
		}
		links := []alignments.Link{}
		for i := range source {
			for j := range target {
				if k := rng.IntN(3); k < 2 {
					links = append(links, alignments.Link{Source: int32(i), Target: int32(j), Sure: k == 0})
				}
			}
		}
		c.Add(source, target, links)
	}
	return c
}

// bestMatching returns the largest number of sure links in a one-to-one matching, and the least Σ |(i+½)/n − (j+½)/m|
// among those, by enumeration.
func bestMatching(n, m int, links []alignments.Link) (size int, cost float64) {
	allowed := map[[2]int]bool{}
	for _, l := range links {
		allowed[[2]int{int(l.Source), int(l.Target)}] = l.Sure
	}
	taken := make([]bool, m)
	var visit func(i, k int, sum float64)
	visit = func(i, k int, sum float64) {
		if i == n {
			if k > size || k == size && sum < cost {
				size, cost = k, sum
			}
			return
		}
		visit(i+1, k, sum)
		for j := range m {
			if allowed[[2]int{i, j}] && !taken[j] {
				taken[j] = true
				visit(i+1, k+1, sum+math.Abs((float64(i)+0.5)/float64(n)-(float64(j)+0.5)/float64(m)))
				taken[j] = false
			}
		}
	}
	visit(0, 0, 0)
	return size, cost
}

func TestMatchingIsLargestAndNearestTheDiagonal(t *testing.T) {
	c := drawCorpus(rand.New(rand.NewPCG(1, 2)), 3000)
	for i := range c.Len() {
		n, m := c.Size(i)
		y := alignments.Matching(n, m, c.LinksOf(i))
		size, cost, taken := 0, 0.0, map[int32]bool{}
		for s, j := range y {
			if j == 0 {
				continue
			}
			if taken[j] {
				t.Fatalf("target word %d is matched twice in %v", j-1, y)
			}
			taken[j] = true
			size++
			cost += math.Abs((float64(s)+0.5)/float64(n) - (float64(j)-0.5)/float64(m))
			ok := false
			for _, l := range c.LinksOf(i) {
				ok = ok || l == sure(int32(s), j-1)
			}
			if !ok {
				t.Fatalf("%v: %d-%d is not a sure link of %v", y, s, j-1, c.LinksOf(i))
			}
		}
		wantSize, wantCost := bestMatching(n, m, c.LinksOf(i))
		if size != wantSize || math.Abs(cost-wantCost) > 1e-9 {
			t.Fatalf("%d by %d words, links %v: matching %v has %d links at cost %v, expected %d at %v", n, m, c.LinksOf(i), y,
				size, cost, wantSize, wantCost)
		}
	}
}

func TestDataset(t *testing.T) {
	c := read(t, alignments.Reader{}, "a b ||| x y z ||| 0-0 0-1 1?2\nc ||| w ||| 0-0\n")
	d := c.Dataset()
	if want := []int32{1, 0, 1}; !reflect.DeepEqual(d.Labels, want) {
		t.Errorf("gold outputs %v, expected %v", d.Labels, want)
	}
	if got, want := d.GoldOf(0).Costs, []float32{0, 0, 1, 1, 1, 0}; !reflect.DeepEqual(got, want) {
		t.Errorf("costs %v, expected %v", got, want)
	}
	if n, m := alignments.Size(d, 0); n != 2 || m != 3 || d.Length(0) != 5 || d.Where(1) != "a.pairs:2" {
		t.Errorf("example 0 has %d by %d words and %d positions", n, m, d.Length(0))
	}
	var batch structured.Batch
	batch.Reset(d, []int{1, 0})
	if got := batch.Rows(alignments.PairRows); !reflect.DeepEqual(got, []int{0, 1, 7}) {
		t.Errorf("pair rows of a batch %v", got)
	}
	if got := batch.Rows(alignments.SourceRows); !reflect.DeepEqual(got, []int{0, 1, 3}) ||
		!reflect.DeepEqual(got, batch.Outputs) {
		t.Errorf("source rows of a batch %v, outputs %v", got, batch.Outputs)
	}
}

// Links, costs and words survive Dataset, Subset and Of.
func TestOfSubset(t *testing.T) {
	c := drawCorpus(rand.New(rand.NewPCG(3, 4)), 50)
	d := c.Dataset()
	if got := alignments.Of(d); !reflect.DeepEqual(got, c) {
		t.Error("Of(Dataset) differs from the corpus")
	}
	examples := []int{49, 7, 7, 0}
	s := alignments.Of(d.Subset(examples))
	for k, i := range examples {
		if !reflect.DeepEqual(s.Source(k), c.Source(i)) || !reflect.DeepEqual(s.Target(k), c.Target(i)) {
			t.Errorf("example %d has other words", i)
		}
		if a, b := s.LinksOf(k), c.LinksOf(i); len(a)+len(b) > 0 && !reflect.DeepEqual(a, b) {
			t.Errorf("example %d: links %v, expected %v", i, a, b)
		}
	}
	unknown := read(t, alignments.Reader{Unlabeled: true}, "a ||| b\n").Dataset()
	if unknown.Labels != nil || unknown.Costs != nil || alignments.GoldLinks(unknown, 0) != nil ||
		alignments.Of(unknown).Known() {
		t.Error("unknown links became known")
	}
}

func TestMetrics(t *testing.T) {
	e := alignments.NewEvaluator()
	// Two sure and one possible link; the first is found, the possible one too, and a wrong one.
	e.AddLinks([]alignments.Link{sure(0, 0), sure(1, 1), possible(2, 2)},
		[]alignments.Link{sure(0, 0), sure(2, 2), sure(1, 0)})
	m := e.Links()
	want := alignments.Metrics{AER: 1 - (1+2)/5.0, Precision: 2 / 3.0, Recall: 1 / 2.0, F1: 4 / 7.0, Predicted: 3,
		Sure: 2, Possible: 3, Pairs: 1}
	if math.Abs(m.F1-want.F1) > 1e-12 {
		t.Errorf("F1 %v, expected %v", m.F1, want.F1)
	}
	m.F1 = want.F1
	if m != want {
		t.Errorf("metrics %+v, expected %+v", m, want)
	}
	general := e.Metrics()
	if name, err := general.Error(); name != "alignment error rate" || err != m.AER {
		t.Errorf("selection by %s %v, expected the alignment error rate", name, err)
	}
	if got := general.String(); got != "AER 40.00 %, link F1 57.14 %" {
		t.Errorf("metrics print as %q", got)
	}
	if got := (alignments.Evaluator{}); got.Links().AER != 0 || got.Links().Precision != 1 {
		t.Errorf("metrics of nothing: %+v", got.Links())
	}
}

// Through the data set, an output is compared with all links, not only with the matching that stands for them.
func TestEvaluatorOfDataset(t *testing.T) {
	d := read(t, alignments.Reader{}, "a b ||| x y z ||| 0-0 0-1 1?2\n").Dataset()
	e := alignments.NewEvaluator()
	e.Add(d, 0, []int32{2, 3})
	if m := e.Links(); m.Precision != 1 || m.Recall != 0.5 || m.AER != 1-(1+2)/4.0 {
		t.Errorf("metrics %+v", m)
	}
	if table := e.Table(); table == "" {
		t.Error("no table")
	}
}

func BenchmarkDataset(b *testing.B) {
	c := drawCorpus(rand.New(rand.NewPCG(5, 6)), 1000)
	for b.Loop() {
		c.Dataset()
	}
}
