package reproduce

import (
	"math"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// measure turns a run into one number.
type measure struct {
	kind string // final, best, mean, calls to, failed
	quantity
	level float64 // of "calls to"
}

// parseMeasure reads one of
//
//	final Q         Q after the last pass
//	best Q          its best value over the passes
//	mean Q          its mean over the passes
//	calls to Q X    oracle calls / n after which Q is at least as good as X
//	failed          1 if the run diverged, else 0
func parseMeasure(text string) (measure, error) {
	words := strings.Fields(text)
	m := measure{}
	switch {
	case text == "failed":
		m.kind = text
		return m, nil
	case len(words) > 3 && words[0] == "calls" && words[1] == "to":
		level, err := strconv.ParseFloat(words[len(words)-1], 64)
		if err != nil {
			return m, structured.BadInput("%q: expected a number at the end, such as calls to suboptimality 0.01", text)
		}
		m.kind, m.level = "calls to", level
		words = words[2 : len(words)-1]
	case len(words) > 1 && (words[0] == "final" || words[0] == "best" || words[0] == "mean"):
		m.kind, words = words[0], words[1:]
	default:
		return m, structured.BadInput("%q: expected final Q, best Q, mean Q, calls to Q X, or failed, where Q is an axis "+
			"such as objective or test f1", text)
	}
	var err error
	if m.quantity, err = parseQuantity(strings.Join(words, " ")); err == nil && m.progress() && m.kind != "final" {
		err = structured.BadInput("%q: %s only says how far a run has come", text, m.name)
	}
	return m, err
}

// of returns the measure of r; NaN if it cannot be told.
func (m measure) of(r *Run) float64 {
	failed := r.Diverged != ""
	switch {
	case m.kind == "failed" && failed:
		return 1
	case m.kind == "failed":
		return 0
	case len(r.Records) == 0 && failed, m.kind != "calls to" && m.kind != "best" && failed && !m.progress():
		if m.kind == "calls to" {
			return math.Inf(1)
		}
		return m.worst()
	case len(r.Records) == 0:
		return math.NaN()
	}
	result, n := math.NaN(), 0.0
	for _, at := range r.Records {
		x := m.quantity.of(r, at)
		switch {
		case m.kind == "calls to":
			if m.level == x || m.rises() == (x > m.level) && !math.IsNaN(x) {
				return quantity{name: "calls"}.of(r, at)
			}
			if !math.IsNaN(x) {
				result = math.Inf(1)
			}
		case m.kind == "final":
			result = x
		case math.IsNaN(x):
		case m.kind == "mean":
			n++
			if n == 1 {
				result = 0
			}
			result += (x - result) / n
		case math.IsNaN(result) || m.rises() == (x > result):
			result = x
		}
	}
	return result
}

// show formats a value of the measure.
func (m measure) show(x float64) string {
	switch {
	case math.IsNaN(x):
		return "–"
	case math.IsInf(x, 0) && m.kind == "calls to":
		return "never"
	case math.IsInf(x, 0):
		return "diverged"
	case m.kind == "failed":
		return strconv.FormatFloat(100*x, 'f', 0, 64) + " %"
	case m.kind != "calls to" && m.percent():
		return strconv.FormatFloat(100*x, 'f', 2, 64) + " %"
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}
