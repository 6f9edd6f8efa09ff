package sweep

import (
	"math"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/train/record"
)

// metric is the measure that settings are compared by.
type metric struct {
	name  string // as --metric has it
	label string // for tables and pictures
	of    func(m *structured.Metrics) float64
}

// metrics are measured on development data, except the objective, whose of is nil.
var metrics = []metric{
	{"f1", "entity F1", func(m *structured.Metrics) float64 { return m.Get("f1") }},
	{"accuracy", "accuracy", func(m *structured.Metrics) float64 { return m.Get("token_accuracy") }},
	{"sequence", "sequences right", func(m *structured.Metrics) float64 { return 1 - m.Get("sequence_error") }},
	{"las", "LAS", func(m *structured.Metrics) float64 { return m.Get("las") }},
	{"uas", "UAS", func(m *structured.Metrics) float64 { return m.Get("uas") }},
	{"objective", "objective", nil},
}

// chooseMetric returns the metric of that name for development data, or nil, with those labels; auto depends on them.
func chooseMetric(task, name string, labels *structured.Alphabet, dev *structured.Dataset) (metric, error) {
	if trees := name == "las" || name == "uas"; task == "parse" && name == "auto" {
		name = "las"
	} else if task == "parse" && !trees && name != "objective" {
		return metric{}, structured.BadInput("--metric %s compares labels; for trees use las or uas", name)
	} else if task != "parse" && trees {
		return metric{}, structured.BadInput("--metric %s compares trees, which --task %s does not predict", name, task)
	}
	entities := chains.EntityTags(labels)
	whole := dev == nil || dev.Len() == 0 // or some sequence has all its labels
	for i := 0; !whole && i < dev.Len(); i++ {
		whole = !dev.Partial(i)
	}
	switch {
	case (name == "f1" || name == "sequence") && !whole:
		return metric{}, structured.BadInput("--metric %s compares whole sequences, but there is none in %s whose labels are all known; use accuracy", name, dev.Name)
	case name == "auto" && entities && whole:
		name = "f1"
	case name == "auto":
		name = "accuracy"
	case name == "f1" && !entities:
		return metric{}, structured.BadInput("--metric f1 compares entities, but the labels are not entity tags (O, B-x, I-x); use accuracy or sequence")
	}
	for _, m := range metrics {
		if m.name == name {
			return m, nil
		}
	}
	return metric{}, structured.BadInput("--metric %q is not known", name)
}

// better reports whether a is better than b. NaN is worse than any number.
func (m metric) better(a, b float64) bool {
	if math.IsNaN(a) || math.IsNaN(b) {
		return !math.IsNaN(a) && math.IsNaN(b)
	}
	if m.of == nil {
		return a < b
	}
	return a > b
}

// measure returns the metric on d; NaN if d is nil.
func (m metric) measure(d *structured.Metrics) record.Number {
	if d == nil || m.of == nil {
		return record.Number(math.NaN())
	}
	return record.Number(m.of(d))
}

// meanAndDeviation returns the mean of x and its standard deviation; NaN if there are too few numbers.
func meanAndDeviation(x []record.Number) (mean, deviation record.Number) {
	n, sum, squares := float64(len(x)), 0.0, 0.0
	for _, v := range x {
		sum += float64(v)
	}
	for _, v := range x {
		squares += (float64(v) - sum/n) * (float64(v) - sum/n)
	}
	if n < 2 {
		return record.Number(sum / n), record.Number(math.NaN())
	}
	return record.Number(sum / n), record.Number(math.Sqrt(squares / (n - 1)))
}
