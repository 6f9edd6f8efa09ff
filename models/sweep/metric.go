package sweep

import (
	"math"

	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train/record"
)

// metric is the measure that settings are compared by; the objective has no Of.
type metric struct{ tasks.Metric }

// better reports whether a is better than b. NaN is worse than any number.
func (m metric) better(a, b float64) bool {
	if math.IsNaN(a) || math.IsNaN(b) {
		return !math.IsNaN(a) && math.IsNaN(b)
	}
	if m.Of == nil {
		return a < b
	}
	return a > b
}

// measure returns the metric on d; NaN if d is nil.
func (m metric) measure(d *structured.Metrics) record.Number {
	if d == nil || m.Of == nil {
		return record.Number(math.NaN())
	}
	return record.Number(m.Of(d))
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
