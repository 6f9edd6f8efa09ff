package intervals

import (
	"fmt"
	"math"
	"slices"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
)

// Sample counts the outputs of a model for the examples of a data set.
type Sample struct {
	data    *structured.Dataset
	names   []string       // of labels, sorted
	metrics []tasks.Metric // the main one first
	counts  []Counts       // of each metric

	all   tasks.Comparison        // of the outputs so far
	again func() tasks.Comparison // nil: counts are differences of what all says
	sums  [][]float64             // what all says of each metric
}

// New returns a sample without outputs yet, of a model with configuration c and those labels. strict is about entities.
func New(c *config.Config, labels *structured.Alphabet, d *structured.Dataset, strict bool) *Sample {
	task := tasks.Of(c)
	s := &Sample{data: d, names: slices.Sorted(slices.Values(labels.Names())), metrics: slices.Clone(task.Metrics),
		all: task.Compare(labels, d, strict)}
	if main, err := task.ChooseMetric("auto", labels, d); err == nil {
		k := slices.IndexFunc(s.metrics, func(m tasks.Metric) bool { return m.Name == main.Name })
		s.metrics = slices.Insert(slices.Delete(s.metrics, k, k+1), 0, main)
	}
	s.counts = make([]Counts, len(s.metrics))
	for k := range s.counts {
		s.counts[k] = make(Counts, d.Len())
	}
	if repeats, ok := s.all.(tasks.Repeatable); ok {
		s.again = repeats.Again
	}
	s.sums = s.sharesOf(s.all)
	return s
}

// sharesOf returns the parts and wholes of each metric.
func (s *Sample) sharesOf(c tasks.Comparison) [][]float64 {
	m := tasks.Measures(c)
	all := make([][]float64, len(s.metrics))
	for k := range all {
		for _, x := range s.metrics[k].Shares(&m, s.names) {
			all[k] = append(all[k], x.Part, x.Whole)
		}
	}
	return all
}

// Keep counts the output for example i.
func (s *Sample) Keep(i int, p *predictions.Prediction) {
	tasks.Add(s.all, s.data, i, p)
	if s.again != nil {
		one := s.again()
		tasks.Add(one, s.data, i, p)
		for k, row := range s.sharesOf(one) {
			s.counts[k][i] = row
		}
		return
	}
	sums := s.sharesOf(s.all)
	for k, row := range sums {
		s.counts[k][i] = slices.Clone(row)
		for j := range row {
			s.counts[k][i][j] -= s.sums[k][j]
		}
	}
	s.sums = sums
}

func (s *Sample) Data() *structured.Dataset { return s.data }

// Counts returns the counts of the metric of that name; nil if the outputs do not have it.
func (s *Sample) Counts(metric string) Counts {
	for k, m := range s.metrics {
		if m.Name == metric && s.has(k) {
			return s.counts[k]
		}
	}
	return nil
}

// has reports whether a metric is defined.
func (s *Sample) has(metric int) bool { return !math.IsNaN(s.counts[metric].Value()) }

// value returns a metric as reports have it.
func (s *Sample) value(metric int) float64 {
	m := tasks.Measures(s.all)
	return s.metrics[metric].Of(&m)
}

// enough refuses data of one example.
func (s *Sample) enough() error {
	if s.data.Len() < 2 {
		return structured.BadInput("%s: one example shows no spread; intervals compare examples", s.data.Name)
	}
	return nil
}

// Estimate is a metric with its interval.
type Estimate struct {
	Metric string  `json:"metric"` // as --metric has it; the more, the better
	Label  string  `json:"-"`      // for people
	Value  float64 `json:"value"`
	Interval
}

// String says what the metric is and how sure that is.
func (e Estimate) String() string {
	return fmt.Sprintf("%s %.2f %%, %v (standard deviation %.2f %%)", e.Label, 100*e.Value, e.Interval, 100*e.Deviation) +
		e.caution()
}

// String formats a 95 % interval of fractions.
func (i Interval) String() string {
	return fmt.Sprintf("95 %% interval %.2f to %.2f %%", 100*i.Low, 100*i.High)
}

// caution returns what to say beside an interval.
func (i Interval) caution() string {
	if i.Caution == "" {
		return ""
	}
	return "; " + i.Caution
}

// Estimates returns every metric that the outputs have with its interval, the main one first.
func (s *Sample) Estimates() ([]Estimate, error) {
	if err := s.enough(); err != nil {
		return nil, err
	}
	var list []Estimate
	for k, m := range s.metrics {
		if s.has(k) {
			list = append(list, Estimate{m.Name, m.Label, s.value(k), s.counts[k].Interval()})
		}
	}
	return list, nil
}

// Explain says in a sentence what the intervals of estimates are.
func Explain(all []Estimate) string {
	exact, effective := false, false
	for _, e := range all {
		exact, effective = exact || e.Method == Exact, effective || e.Method == Effective
	}
	const many = "Intervals take outputs, whose errors go together, as what was sampled (Korn-Graubard's method)"
	const whole = "outputs that are right or wrong as a whole are exact (Clopper-Pearson's)"
	switch {
	case exact && effective:
		return many + "; those of " + whole + "."
	case exact:
		return "Intervals of " + whole + "."
	}
	return many + "."
}
