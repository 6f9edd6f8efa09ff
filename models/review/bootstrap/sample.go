// Package bootstrap says how far a metric of a model, or the difference of two models, depends on which examples the data happen to have.
// It draws as many examples as there are, with replacement, and measures again; the spread over many such resamples estimates the spread
// over data sets of this size (Efron 1979). Examples are resampled whole, as their parts depend on each other.
package bootstrap

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/host"
)

// Resampling is deterministic: the same examples are drawn for every model that is measured on the same number of examples.
const (
	most  = 200            // resamples
	least = 40             // of large data
	work  = 20_000_000     // numbers of outputs that are compared in all resamples together, at most, while there are more than least
	seed  = 0x626f6f747374 // of the draws
)

// Sample holds the outputs of a model for the examples of a data set.
type Sample struct {
	data    *structured.Dataset
	outputs []predictions.Prediction // labels and score only
	start   func() tasks.Comparison
	metrics []tasks.Metric // the main one first
}

// New returns a sample without outputs yet, of a model with configuration c and those labels. strict is about entities.
func New(c *config.Config, labels *structured.Alphabet, d *structured.Dataset, strict bool) *Sample {
	task := tasks.Of(c)
	s := &Sample{data: d, outputs: make([]predictions.Prediction, d.Len()), metrics: slices.Clone(task.Metrics)}
	first := task.Compare(labels, d, strict)
	s.start = func() tasks.Comparison {
		if again, ok := first.(tasks.Repeatable); ok {
			return again.Again()
		}
		return task.Compare(labels, d, strict)
	}
	if main, err := task.ChooseMetric("auto", labels, d); err == nil {
		k := slices.IndexFunc(s.metrics, func(m tasks.Metric) bool { return m.Name == main.Name })
		s.metrics = slices.Insert(slices.Delete(s.metrics, k, k+1), 0, main)
	}
	return s
}

// Keep keeps the output for example i.
func (s *Sample) Keep(i int, p *predictions.Prediction) {
	s.outputs[i] = predictions.Prediction{Output: predictions.Output{Labels: slices.Clone(p.Labels), Score: p.Score, Probability: p.Probability}}
}

// Resamples returns how many resamples are drawn: fewer for large data.
func (s *Sample) Resamples() int {
	size := max(1, len(s.data.Labels), s.data.Len())
	return min(most, max(least, work/size))
}

// Replicates are the values of a metric on the data, and on each resample.
type Replicates struct {
	Metric tasks.Metric
	Value  float64
	On     []float64 // [Resamples]; NaN where the metric is not defined
}

// Replicates measures on the data and on all resamples, on that many threads (0: all cores), which do not change the results. It leaves
// out metrics that the data do not have.
func (s *Sample) Replicates(ctx context.Context, threads int) ([]Replicates, error) {
	measured := s.measure(func(int) int { return 1 })
	var all []Replicates
	for _, m := range s.metrics {
		if v := m.Of(&measured); !math.IsNaN(v) {
			all = append(all, Replicates{Metric: m, Value: v})
		}
	}
	numbers := make([]int, s.Resamples())
	for b := range numbers {
		numbers[b] = b
	}
	err := host.InOrder(ctx, threads, host.Each(numbers), func() []int { return make([]int, s.data.Len()) },
		func(counts []int, b int) ([]float64, error) {
			s.draw(counts, b)
			m := s.measure(func(i int) int { return counts[i] })
			values := make([]float64, len(all))
			for k := range all {
				values[k] = all[k].Metric.Of(&m)
			}
			return values, nil
		},
		func(values []float64) error {
			for k, v := range values {
				all[k].On = append(all[k].On, v)
			}
			return nil
		})
	return all, err
}

// draw counts how often resample b has each example.
func (s *Sample) draw(counts []int, b int) {
	clear(counts)
	random := rand.New(rand.NewPCG(seed, uint64(b)))
	for range counts {
		counts[random.IntN(len(counts))]++
	}
}

// measure compares the outputs, each as often as times says.
func (s *Sample) measure(times func(i int) int) structured.Metrics {
	c := s.start()
	scored, _ := c.(tasks.ScoredComparison)
	for i := range s.outputs {
		for range times(i) {
			if scored != nil {
				scored.AddScored(s.data, i, &s.outputs[i])
			} else {
				c.Add(s.data, i, s.outputs[i].Labels)
			}
		}
	}
	return c.Report().General()
}

// Data returns the data set.
func (s *Sample) Data() *structured.Dataset { return s.data }
