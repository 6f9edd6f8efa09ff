package intervals

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
)

// tokens returns n sequences of length each with gold label 0, and outputs that are right with probability p.
func tokens(n, length int, p float64, random *rand.Rand) *Sample {
	names := structured.NewAlphabet("a", "b")
	d := &structured.Dataset{Name: "d", Alphabet: names, Offsets: []int{0}}
	c := config.Default()
	c.Task = "tag"
	for range n {
		d.Offsets = append(d.Offsets, d.Positions()+length)
	}
	d.Labels = make([]int32, n*length)
	s := New(&c, names, d, false)
	for i := range d.Len() {
		labels := make([]int32, d.Length(i))
		for t := range labels {
			if random.Float64() > p {
				labels[t] = 1
			}
		}
		s.Keep(i, &predictions.Prediction{Output: predictions.Output{Labels: labels}})
	}
	return s
}

func near(a, b, by float64) bool { return math.Abs(a-b) <= by }

// Values of R's binom.test.
func TestClopperPearson(t *testing.T) {
	for _, x := range []struct{ right, trials, low, high float64 }{
		{8, 10, 0.4439045, 0.9747893}, {0, 10, 0, 0.3084971}, {10, 10, 0.6915029, 1}, {95, 100, 0.8871651, 0.9835681},
	} {
		if low, high := clopperPearson(x.right, x.trials, outside); !near(low, x.low, 1e-6) || !near(high, x.high, 1e-6) {
			t.Errorf("%v of %v: %v to %v, expected %v to %v", x.right, x.trials, low, high, x.low, x.high)
		}
	}
}

// Without a mistake nothing varies, and yet the next data set may have one: 100 right sentences leave about 3.7 %,
// however long they are.
func TestNoErrorsAreNotCertainty(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, length := range []int{1, 20} {
		all, err := tokens(100, length, 1, random).Estimates()
		if err != nil || len(all) != 2 {
			t.Fatal(all, err)
		}
		for _, e := range all {
			if e.Value != 1 || e.High != 1 || !near(e.Low, 0.9638, 1e-4) || e.Method != Exact {
				t.Errorf("%d tokens: %+v", length, e)
			}
		}
	}
	d, err := Differences(tokens(100, 20, 1, random), tokens(100, 20, 1, random))
	if err != nil || d[0].Gain != 0 || d[0].Low > -0.03 || d[0].High < 0.03 || d[0].P != 1 || d[0].decided() {
		t.Errorf("%+v, %v", d, err)
	}
}

// Of independent tokens, the effective number of trials is about that of tokens; of sentences that are right or wrong
// as a whole it is that of sentences, however long they are.
func TestEffectiveTrials(t *testing.T) {
	many := make(Counts, 400)
	random := rand.New(rand.NewPCG(2, 1))
	for i := range many {
		many[i] = []float64{binomial(random, 10, 0.75), 10}
	}
	blocks := make(Counts, 400)
	for i := range blocks {
		blocks[i] = []float64{10, 10}
		if i%4 == 0 {
			blocks[i][0] = 0
		}
	}
	if x := many.Interval(); x.Method != Effective || !near(x.High-x.Low, 2*1.96*math.Sqrt(0.75*0.25/4000), 0.004) {
		t.Errorf("%+v", x)
	}
	low, high := clopperPearson(300, 400, outside)
	if x := blocks.Interval(); !near(x.Low, low, 0.001) || !near(x.High, high, 0.001) ||
		!near(x.Deviation, math.Sqrt(0.75*0.25/399), 1e-6) {
		t.Errorf("%+v, expected %v to %v", x, low, high)
	}
	if text := Explain([]Estimate{{Interval: many.Interval()}}); !strings.Contains(text, "Korn-Graubard") ||
		strings.Contains(text, "as a whole") {
		t.Error(text)
	}
}

// Outputs of one token each are as many trials. Sentences of two tokens, which are both right or both wrong, are not:
// what their metric counts is tokens.
func TestWhole(t *testing.T) {
	for tokens, want := range map[float64]string{1: Exact, 2: Effective} {
		c := make(Counts, 100)
		for i := range c {
			c[i] = []float64{tokens, tokens}
			if i%9 == 0 {
				c[i][0] = 0
			}
		}
		if x := c.Interval(); x.Method != want {
			t.Errorf("outputs of %v tokens: %s, expected %s", tokens, x.Method, want)
		}
	}
}

// One output is no sample; a metric that only one output has is not known at all.
func TestTooFewOutputs(t *testing.T) {
	if _, err := tokens(1, 4, 0.5, rand.New(rand.NewPCG(5, 1))).Estimates(); !structured.IsBadInput(err) {
		t.Errorf("one example: %v", err)
	}
	if x := (Counts{{1, 2}, {0, 0}, {0, 0}}).Interval(); x.Low > 0.02 || x.High < 0.98 || math.IsNaN(x.Deviation) {
		t.Errorf("%+v", x)
	}
}

// With few outputs that differ, the chance of every set of swaps is known: of five that all speak for the first model,
// the difference is as large in 2 of 32.
func TestPairedIsExact(t *testing.T) {
	a, b := make(Counts, 40), make(Counts, 40)
	for i := range a {
		a[i], b[i] = []float64{8, 10}, []float64{8, 10}
		if i%8 == 3 {
			b[i][0] = 7
		}
	}
	if p := paired(a, b, swaps); !near(p, 2.0/32, 0.012) {
		t.Errorf("p = %v", p)
	}
	if p, q := paired(a, b, swaps), paired(b, a, swaps); p != q {
		t.Errorf("%v, with models exchanged %v", p, q)
	}
	if d := Compare(a, a); d.P != 1 || d.Gain != 0 || d.Deviation != 0 || d.Low > 0 || d.High < 0 {
		t.Errorf("%+v", d)
	}
}

// The test is the share of all swaps of outputs that make a difference as large as the one between the models, whatever
// the sizes of the outputs, and whatever number of outputs is alike in both.
func TestPairedIsAllSwaps(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 1))
	for _, c := range []struct{ columns, alike int }{{2, 0}, {2, 3000}, {6, 5}} {
		const differ = 8
		a, b := make(Counts, differ+c.alike), make(Counts, differ+c.alike)
		for i := range a {
			a[i], b[i] = make([]float64, c.columns), make([]float64, c.columns)
			for _, row := range [][]float64{a[i], b[i]} {
				for k := 0; k < c.columns; k += 2 {
					row[k+1] = float64(1 + random.IntN(6))
					row[k] = binomial(random, int(row[k+1]), 0.7)
				}
			}
			if i >= differ {
				b[i] = a[i]
			}
		}
		gain := func(swapped int) float64 {
			x, y := slices.Clone(a), slices.Clone(b)
			for i := range differ {
				if swapped>>i&1 == 1 {
					x[i], y[i] = y[i], x[i]
				}
			}
			return math.Abs(x.Value() - y.Value())
		}
		reached := 0
		for swapped := range 1 << differ {
			if gain(swapped) >= gain(0)-1e-12 {
				reached++
			}
		}
		want := float64(reached) / (1 << differ)
		if p := paired(a, b, swaps); !near(p, want, 4*math.Sqrt(want*(1-want)/swaps)) {
			t.Errorf("%d numbers, %d outputs alike: p = %v, of all swaps %v", c.columns, c.alike, p, want)
		}
	}
}

// A difference is claimed where p is the level itself: then its interval need not contain 0.
func TestLevel(t *testing.T) {
	for p, want := range map[float64]bool{Significant: true, math.Nextafter(Significant, 1): false} {
		d := Difference{alone: Interval{Low: 0.01, High: 0.02}}
		d.adjust(p)
		if claimed := !strings.Contains(d.String(), "cannot tell"); claimed != want || (d.Low > 0) != want {
			t.Errorf("p = %v: %s", p, d)
		}
	}
}

// No finite number of swaps shows that a difference is impossible: of many outputs that all speak for one model, the
// test counts what it saw.
func TestPairedIsNeverZero(t *testing.T) {
	a, b := make(Counts, 60), make(Counts, 60)
	for i := range a {
		a[i], b[i] = []float64{9, 10}, []float64{5, 10}
	}
	if p := paired(a, b, swaps); p != 1/float64(swaps+1) {
		t.Errorf("p = %v, want one of %d", p, swaps+1)
	}
}

func TestHolm(t *testing.T) {
	tests := []*Difference{{P: 0.03}, {P: 0.01}, {P: 0.04}}
	for family, want := range map[int][]float64{3: {0.06, 0.03, 0.06}, 6: {0.15, 0.06, 0.16}} {
		Correct(tests, family)
		for k, d := range tests {
			if !near(d.Adjusted, want[k], 1e-12) {
				t.Errorf("family of %d: %v, want %v", family, d.Adjusted, want[k])
			}
		}
	}
}

// Blocks of outputs have the same metric, and nearly the same interval.
func TestCondensed(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	all := make(Counts, 6001)
	for i := range all {
		all[i] = []float64{binomial(random, 10, 0.9), 10}
	}
	some := all.Condensed(2000)
	x, y := all.Interval(), some.Interval()
	if len(some) != 1000 || some.Value() != all.Value() || !near((y.High-y.Low)/(x.High-x.Low), 1, 0.1) {
		t.Errorf("%d blocks: %+v and %+v", len(some), x, y)
	}
	if same := all[:1000].Condensed(2000); len(same) != 1000 || &same[0] != &all[0] {
		t.Error("few counts are changed")
	}
}

// For every task, the counts of outputs add up to the metrics that its reports have.
func TestCountsAddUpToTheMetrics(t *testing.T) {
	for _, task := range tasks.All() {
		if task.Draw == nil {
			continue
		}
		c := config.Default()
		c.Task, c.Examples, c.Format = task.Name, settings.Sizes{2, 1, 4}, "builtin"
		if err := tasks.Resolve(&c); err != nil {
			t.Fatal(task.Name, err)
		}
		_, _, d, err := task.Draw(&c)
		if err != nil {
			t.Fatal(task.Name, err)
		}
		s := New(&c, d.Alphabet, d, false)
		compare := task.Compare(d.Alphabet, d, false)
		for i := range d.Len() {
			y := slices.Clone(d.Gold(i))
			if d.Readings != nil {
				y = slices.Clone(d.Readings[i])
			}
			if i%2 == 0 { // some are wrong
				y = append(y[1:], y[0])
			}
			p := &predictions.Prediction{Output: predictions.Output{Labels: y}}
			s.Keep(i, p)
			tasks.Add(compare, d, i, p)
		}
		m := compare.Report().General()
		all, err := s.Estimates()
		if err != nil || len(all) == 0 {
			t.Errorf("%s: %v, %v", task.Name, all, err)
		}
		for _, e := range all {
			k := slices.IndexFunc(task.Metrics, func(x tasks.Metric) bool { return x.Name == e.Metric })
			want := task.Metrics[k].Of(&m)
			if e.Value != want || !near(s.Counts(e.Metric).Value(), want, 1e-9) || e.Low > want || e.High < want || want == 0 {
				t.Errorf("%s: %s %+v, counts say %v, the report %v", task.Name, e.Metric, e, s.Counts(e.Metric).Value(), want)
			}
		}
	}
}

// Only models of the same examples and gold outputs are compared.
func TestRefusals(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 1))
	a, b := tokens(3, 2, 0.5, random), tokens(3, 2, 0.5, random)
	b.data.Labels[5] = 1
	if _, err := Differences(a, b); !structured.IsBadInput(err) {
		t.Errorf("other gold labels: %v", err)
	}
	if _, err := Differences(a, tokens(4, 2, 0.5, random)); !structured.IsBadInput(err) {
		t.Errorf("other examples: %v", err)
	}
}

// Models of tags in two schemes are compared by the entities, which both have; where these differ, they are refused.
func TestEntitiesInTwoSchemes(t *testing.T) {
	sample := func(gold, predicted []string) *Sample {
		names := structured.NewAlphabet(append(slices.Clone(gold), predicted...)...)
		d := &structured.Dataset{Name: "d", Alphabet: names, Offsets: []int{0, len(gold), 2 * len(gold)}}
		var labels []int32
		for t := range gold {
			d.Labels, labels = append(d.Labels, names.Index(gold[t])), append(labels, names.Index(predicted[t]))
		}
		d.Labels = append(d.Labels, d.Labels...)
		c := config.Default()
		c.Task = "tag"
		s := New(&c, names, d, false)
		for i := range 2 {
			s.Keep(i, &predictions.Prediction{Output: predictions.Output{Labels: labels}})
		}
		return s
	}
	bio := sample(strings.Fields("B-x I-x O B-y B-x"), strings.Fields("B-x I-x O O B-x"))
	bioes := sample(strings.Fields("B-x E-x O S-y S-x"), strings.Fields("B-x E-x O S-y O"))
	all, err := Differences(bio, bioes)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 1 || all[0].Metric != "f1" || !near(all[0].Value, 0.8, 1e-9) || !near(all[0].Other, 0.8, 1e-9) {
		t.Errorf("%+v", all)
	}
	for _, other := range []string{"B-x E-x O S-x S-x", "S-x S-x O S-y S-x", "B-x E-x O S-y O"} {
		if _, err := Differences(bio,
			sample(strings.Fields(other), strings.Fields("B-x E-x O S-y S-x"))); !structured.IsBadInput(err) {
			t.Errorf("gold labels %s: %v", other, err)
		}
	}
}
