package bootstrap

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dsp-go/dsp/structured"
)

// Interval says how far a number varies over resamples.
type Interval struct {
	Deviation float64 `json:"sd"`   // standard deviation
	Low       float64 `json:"low"`  // the ends of the 95 % interval: quantiles over the resamples
	High      float64 `json:"high"` //
	Resamples int     `json:"resamples"`
}

// IntervalOf returns the spread of replicates; NaN does not count. It is all NaN without two numbers.
func IntervalOf(replicates []float64) Interval {
	x := slices.DeleteFunc(slices.Clone(replicates), math.IsNaN)
	if len(x) < 2 {
		return Interval{math.NaN(), math.NaN(), math.NaN(), len(x)}
	}
	slices.Sort(x)
	n, mean, squares := float64(len(x)), 0.0, 0.0
	for _, v := range x {
		mean += v / n
	}
	for _, v := range x {
		squares += (v - mean) * (v - mean)
	}
	return Interval{math.Sqrt(squares / (n - 1)), quantile(x, 0.025), quantile(x, 0.975), len(x)}
}

// quantile interpolates linearly between sorted numbers.
func quantile(x []float64, p float64) float64 {
	at := p * float64(len(x)-1)
	k := int(at)
	if k+1 >= len(x) {
		return x[len(x)-1]
	}
	return x[k] + (at-float64(k))*(x[k+1]-x[k])
}

// String formats a 95 % interval of fractions.
func (i Interval) String() string {
	return fmt.Sprintf("95 %% interval %.2f to %.2f %%", 100*i.Low, 100*i.High)
}

// Estimate is a metric with its spread.
type Estimate struct {
	Metric string  `json:"metric"` // as --metric has it; the more, the better
	Label  string  `json:"-"`      // for people
	Value  float64 `json:"value"`
	Interval
}

// String says what the metric is and how sure that is.
func (e Estimate) String() string {
	return fmt.Sprintf("%s %.2f %%, %v (standard deviation %.2f %%)", e.Label, 100*e.Value, e.Interval, 100*e.Deviation)
}

// Estimate returns the value with its spread.
func (r *Replicates) Estimate() Estimate {
	return Estimate{r.Metric.Name, r.Metric.Label, r.Value, IntervalOf(r.On)}
}

// Estimates returns every metric that the data have with its spread, the main one first.
func (s *Sample) Estimates(ctx context.Context, threads int) ([]Estimate, error) {
	if s.data.Len() < 2 {
		return nil, structured.BadInput("%s: one example shows no spread; the bootstrap resamples examples", s.data.Name)
	}
	all, err := s.Replicates(ctx, threads)
	var list []Estimate
	for k := range all {
		list = append(list, all[k].Estimate())
	}
	return list, err
}

// Difference compares a metric of two models on the same examples.
type Difference struct {
	Metric   string  `json:"metric"`
	Label    string  `json:"-"`
	Value    float64 `json:"value"`   // of the first model
	Other    float64 `json:"against"` // of the second
	Gain     float64 `json:"gain"`    // Value − Other
	Wins     float64 `json:"wins"`    // share of resamples in which the first is better; ties count half
	Interval         // of the gain, over resamples that both models share
}

// Decided reports whether the interval of the difference excludes 0.
func (d Difference) Decided() bool { return d.Low > 0 || d.High < 0 }

// String says which model is better, and whether the data can tell.
func (d Difference) String() string {
	text := fmt.Sprintf("%s %.2f %% against %.2f %%: %+.2f points, 95 %% interval %+.2f to %+.2f; better in %.0f %% of resamples",
		d.Label, 100*d.Value, 100*d.Other, 100*d.Gain, 100*d.Low, 100*d.High, 100*d.Wins)
	if !d.Decided() {
		text += "; the data cannot tell them apart"
	}
	return text
}

// DifferenceOf compares two models by replicates of the same metric on the same resamples.
func DifferenceOf(a, b *Replicates) Difference {
	d := Difference{Metric: a.Metric.Name, Label: a.Metric.Label, Value: a.Value, Other: b.Value, Gain: a.Value - b.Value}
	gains := make([]float64, min(len(a.On), len(b.On)))
	for k := range gains {
		gains[k] = a.On[k] - b.On[k]
		switch {
		case gains[k] > 0:
			d.Wins++
		case gains[k] == 0:
			d.Wins += 0.5
		}
	}
	d.Wins /= float64(max(1, len(gains)))
	d.Interval = IntervalOf(gains)
	return d
}

// Differences compares the first sample with the second, in every metric that both have. Both must be of the same examples in the same
// order; whatever else the models read of them may differ.
func Differences(ctx context.Context, first, second *Sample, threads int) ([]Difference, error) {
	if err := sameExamples(first.data, second.data); err != nil {
		return nil, err
	}
	if first.data.Len() < 2 {
		return nil, structured.BadInput("%s: one example shows no spread; the bootstrap resamples examples", first.data.Name)
	}
	a, err := first.Replicates(ctx, threads)
	if err != nil {
		return nil, err
	}
	b, err := second.Replicates(ctx, threads)
	if err != nil {
		return nil, err
	}
	var all []Difference
	for k := range a {
		for j := range b {
			if a[k].Metric.Name == b[j].Metric.Name {
				all = append(all, DifferenceOf(&a[k], &b[j]))
			}
		}
	}
	if all == nil {
		return nil, structured.BadInput("%s: the two models have no metric in common", first.data.Name)
	}
	return all, nil
}

// sameExamples refuses data sets whose examples differ in number, length, words or gold labels.
func sameExamples(a, b *structured.Dataset) error {
	if a.Len() != b.Len() {
		return structured.BadInput("%s has %d examples for one model and %d for the other; they are compared on the same ones", a.Name, a.Len(), b.Len())
	}
	words, others := a.Column("word"), b.Column("word")
	for i := range a.Len() {
		same := a.OutputLength(i) == b.OutputLength(i)
		for t := 0; same && words != nil && others != nil && t < a.Length(i); t++ {
			same = words[a.Offsets[i]+t] == others[b.Offsets[i]+t]
		}
		x, y := a.Gold(i), b.Gold(i)
		for t := 0; same && a.OutputLength(i) == a.Length(i) && t < len(x); t++ {
			switch {
			case x[t] < 0 || y[t] < 0: // not known for certain
				same = x[t] < 0 && y[t] < 0
			case a.Alphabet.Len() == 0 || b.Alphabet.Len() == 0: // numbers without names
				same = x[t] == y[t]
			default:
				same = a.Alphabet.Name(x[t]) == b.Alphabet.Name(y[t])
			}
		}
		if !same {
			return structured.BadInput("%s: the two models read other words or gold labels here; they are compared on the same ones "+
				"(drawn data depend on a model's settings: write them to files with dsp data)", a.Where(i))
		}
	}
	return nil
}
