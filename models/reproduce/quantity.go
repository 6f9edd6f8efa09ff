package reproduce

import (
	"math"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train/record"
)

// quantity is a number of each pass of a run: how far it has come, a value of the objective, or a metric.
type quantity struct {
	set  string // dev or test for a metric, else empty
	name string
}

// progress lists what curves can be drawn against, values what they can show besides metrics, with their labels.
var (
	progress = []named{
		{"calls", "oracle calls / n"}, {"all-calls", "oracle calls / n, with those of full passes"},
		{"passes", "passes"}, {"seconds", "seconds"},
	}
	values = []named{
		{"objective", "objective"}, {"suboptimality", "relative suboptimality"}, {"dual", "certified dual"},
		{"gap", "certified relative gap"}, {"smoothed", "smoothed objective"}, {"prox-gradient", "prox-gradient norm"},
	}
)

type named struct{ name, label string }

func find(all []named, name string) (named, bool) {
	k := slices.IndexFunc(all, func(n named) bool { return n.name == name })
	if k < 0 {
		return named{}, false
	}
	return all[k], true
}

func parseQuantity(text string) (quantity, error) {
	set, name, ok := strings.Cut(text, " ")
	switch {
	case ok && (set == "dev" || set == "test") && name != "":
		return quantity{set, strings.TrimSpace(name)}, nil
	case !ok:
		if _, ok := find(slices.Concat(progress, values), text); ok {
			return quantity{"", text}, nil
		}
	}
	return quantity{}, structured.BadInput("expected objective, suboptimality, dual, gap, smoothed, prox-gradient, or a "+
		"metric such as dev f1 or test token_error, found %q",
		text)
}

func (q quantity) String() string { return strings.TrimSpace(q.set + " " + q.name) }

// progress reports whether q says how far a run has come.
func (q quantity) progress() bool {
	_, ok := find(progress, q.name)
	return ok && q.set == ""
}

// rises reports whether larger is better.
func (q quantity) rises() bool {
	return q.set != "" && !strings.HasSuffix(q.name, "error") || q.name == "dual"
}

// percent reports whether q is shown in percent.
func (q quantity) percent() bool { return q.set != "" }

// certificate reports whether q tells how far the objective is from its optimum, or from a bound of it.
func (q quantity) certificate() bool {
	return q.set == "" && (q.name == "dual" || q.name == "gap" || q.name == "suboptimality")
}

// label names q on an axis.
func (q quantity) label() string {
	if q.set != "" {
		return q.set + " " + strings.ReplaceAll(q.name, "_", " ") + ", %"
	}
	n, _ := find(slices.Concat(progress, values), q.name)
	return n.label
}

// worst is the value of a run that diverged.
func (q quantity) worst() float64 {
	if q.rises() {
		return math.Inf(-1)
	}
	return math.Inf(1)
}

// of returns q at a pass of r; NaN if the method does not compute it.
func (q quantity) of(r *Run, at record.Record) float64 {
	n := float64(max(1, r.Examples))
	switch {
	case q.set == "dev":
		return at.Dev.Get(q.name)
	case q.set == "test":
		return at.Test.Get(q.name)
	}
	switch q.name {
	case "calls":
		return float64(at.OracleCalls) / n
	case "all-calls":
		return float64(at.OracleCalls)/n + float64(at.FullPasses)
	case "passes":
		return float64(at.Pass)
	case "seconds":
		return at.Seconds
	case "objective":
		return float64(at.Objective)
	case "suboptimality":
		if r.bound > 0 {
			return float64(at.Objective)/r.bound - 1
		}
	case "dual":
		return float64(at.Dual)
	case "gap":
		return at.RelativeGap()
	case "smoothed":
		return float64(at.Smoothed)
	case "prox-gradient":
		return float64(at.ProxGradient)
	}
	return math.NaN()
}
