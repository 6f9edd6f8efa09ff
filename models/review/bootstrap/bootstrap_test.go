package bootstrap

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/predictions"
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
	fill(s, p, random)
	return s
}

func fill(s *Sample, p float64, random *rand.Rand) {
	for i := range s.data.Len() {
		labels := make([]int32, s.data.Length(i))
		for t := range labels {
			if random.Float64() > p {
				labels[t] = 1
			}
		}
		s.Keep(i, &predictions.Prediction{Output: predictions.Output{Labels: labels}})
	}
}

func replicates(t *testing.T, s *Sample) []Replicates {
	t.Helper()
	all, err := s.Replicates(context.Background(), 2)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// For sequences of one token the accuracy is a mean of independent numbers: over resamples it has the deviation √(p(1−p)/n), and a normal
// interval.
func TestAccuracyOfIndependentTokens(t *testing.T) {
	s := tokens(2000, 1, 0.8, rand.New(rand.NewPCG(1, 1)))
	all := replicates(t, s)
	if len(all) != 2 || all[0].Metric.Name != "accuracy" || len(all[0].On) != most {
		t.Fatalf("%+v", all)
	}
	e := all[0].Estimate()
	want := math.Sqrt(e.Value * (1 - e.Value) / 2000)
	if math.Abs(e.Value-0.8) > 0.03 || math.Abs(e.Deviation/want-1) > 0.15 {
		t.Errorf("accuracy %v, deviation %v, expected %v", e.Value, e.Deviation, want)
	}
	if math.Abs((e.Value-e.Low)/(1.96*want)-1) > 0.25 || math.Abs((e.High-e.Value)/(1.96*want)-1) > 0.25 {
		t.Errorf("%v of %v, expected ± %v", e.Interval, e.Value, 1.96*want)
	}
}

// Tokens of a sequence are drawn together: if they are all right or all wrong, longer sequences do not narrow the interval.
func TestExamplesAreDrawnWhole(t *testing.T) {
	s := tokens(400, 10, 1, rand.New(rand.NewPCG(1, 1)))
	for i := range s.outputs {
		if i%4 == 0 {
			for k := range s.outputs[i].Labels {
				s.outputs[i].Labels[k] = 1
			}
		}
	}
	e := replicates(t, s)[0].Estimate()
	if want := math.Sqrt(0.25 * 0.75 / 400); e.Value != 0.75 || math.Abs(e.Deviation/want-1) > 0.15 {
		t.Errorf("accuracy %v, deviation %v, expected %v", e.Value, e.Deviation, want)
	}
}

// The difference of two models is paired: that of a model to itself has no spread, and one that is wrong in a few more places is told
// apart although the intervals of both overlap.
func TestDifference(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	a := tokens(1000, 1, 0.7, random)
	b := *a
	b.outputs = slices.Clone(a.outputs)
	worse := 0
	for i := range b.outputs {
		if b.outputs[i].Labels[0] == 0 && worse < 15 {
			b.outputs[i] = predictions.Prediction{Output: predictions.Output{Labels: []int32{1}}}
			worse++
		}
	}
	all, err := Differences(context.Background(), a, &b, 0)
	if err != nil {
		t.Fatal(err)
	}
	d := all[0]
	// The gain is a mean of n numbers, 15 of which are 1 and the others 0.
	want := math.Sqrt(0.015 * 0.985 / 1000)
	if math.Abs(d.Gain-0.015) > 1e-9 || math.Abs(d.Deviation/want-1) > 0.15 || !d.Decided() || d.Wins < 0.99 {
		t.Errorf("%+v, expected a deviation of %v", d, want)
	}
	ra, rb := replicates(t, a)[0], replicates(t, &b)[0]
	if x, y := IntervalOf(ra.On), IntervalOf(rb.On); x.Low > y.High {
		t.Errorf("the example is too easy: %v, %v", x, y)
	}
	same, err := Differences(context.Background(), a, a, 0)
	if err != nil || same[0].Gain != 0 || same[0].Deviation != 0 || same[0].Decided() || same[0].Wins != 0.5 {
		t.Errorf("%+v, %v", same, err)
	}
}

// Threads change nothing.
func TestThreads(t *testing.T) {
	s := tokens(50, 3, 0.6, rand.New(rand.NewPCG(4, 1)))
	one, err := s.Replicates(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	many, err := s.Replicates(context.Background(), 7)
	if err != nil || !slices.Equal(one[0].On, many[0].On) {
		t.Errorf("%v: %v and %v", err, one[0].On[:3], many[0].On[:3])
	}
}

func TestRefusals(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 1))
	single := tokens(1, 4, 0.5, random)
	if _, err := single.Estimates(context.Background(), 0); !structured.IsBadInput(err) {
		t.Errorf("one example: %v", err)
	}
	a, b := tokens(3, 2, 0.5, random), tokens(3, 2, 0.5, random)
	b.data.Labels[5] = 1
	if _, err := Differences(context.Background(), a, b, 0); !structured.IsBadInput(err) {
		t.Errorf("other gold labels: %v", err)
	}
	if _, err := Differences(context.Background(), a, tokens(4, 2, 0.5, random), 0); !structured.IsBadInput(err) {
		t.Errorf("other examples: %v", err)
	}
}

func TestQuantile(t *testing.T) {
	x := []float64{0, 1, 2, 3, 4}
	for p, want := range map[float64]float64{0: 0, 0.5: 2, 1: 4, 0.1: 0.4} {
		if got := quantile(x, p); math.Abs(got-want) > 1e-12 {
			t.Errorf("%v: %v, expected %v", p, got, want)
		}
	}
	if i := IntervalOf([]float64{1, math.NaN()}); !math.IsNaN(i.Low) || i.Resamples != 1 {
		t.Errorf("%+v", i)
	}
}
