package tasks

import (
	"math"
	"strings"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// Metric is a measure that settings are compared by: the more, the better.
type Metric struct {
	Name  string // as --metric has it
	Label string // for tables and pictures
	Of    func(m *structured.Metrics) float64
	// Shares are what the metric is made of: it is the mean of those with a whole. Their parts and wholes add up over
	// outputs. names are those of the labels.
	Shares func(m *structured.Metrics, names []string) []Share
}

// Share is a part of a whole, such as the right tokens of all.
type Share struct{ Part, Whole float64 }

// share returns the one share of a metric: the measure is the rate of things in the whole, which both are counted.
func share(measure, whole string) func(m *structured.Metrics, names []string) []Share {
	return func(m *structured.Metrics, _ []string) []Share { return rate(m.Get(measure), m.Get(whole)) }
}

// rate returns the share of things that are counted, with nothing in it where there are none.
func rate(share, whole float64) []Share {
	if math.IsNaN(share) || math.IsNaN(whole) {
		return []Share{{}}
	}
	return []Share{{math.Round(share * whole), whole}}
}

// entityShare is F1: of the gold and the predicted entities together, the share that is in both.
func entityShare(m *structured.Metrics, _ []string) []Share {
	return rate(m.Get("f1"), m.Get("gold")+m.Get("predicted"))
}

// sequenceShare is the share of right sequences.
func sequenceShare(m *structured.Metrics, _ []string) []Share {
	return rate(1-m.Get("sequence_error"), m.Get("sequences"))
}

// linkShare is 1 − AER: of the predicted and the sure links together, the share that is right.
func linkShare(m *structured.Metrics, _ []string) []Share {
	return rate(1-m.Get("aer"), m.Get("predicted")+m.Get("sure"))
}

// meanIoU is the overlap of boxes, which is not counted.
func meanIoU(m *structured.Metrics, _ []string) []Share {
	images := m.Get("images")
	return []Share{{m.Get("mean_iou") * images, images}}
}

// classShares are the intersection in the union of each class.
func classShares(m *structured.Metrics, names []string) []Share {
	all := make([]Share, len(names))
	for k, name := range names {
		if c, ok := m.Types[name]; ok {
			correct := c.Get("correct")
			all[k] = Share{correct, c.Get("gold") + c.Get("predicted") - correct}
		}
	}
	return all
}

// objective is the metric of every task that is not measured on data. The less, the better.
var objective = Metric{"objective", "objective", nil, nil}

// ChooseMetric returns the metric of that name for development data, or nil, with those labels; auto depends on them.
func (t Task) ChooseMetric(name string, labels *structured.Alphabet, dev *structured.Dataset) (Metric, error) {
	if name == objective.Name {
		return objective, nil
	}
	if owner, ok := measuredBy(name); ok && !t.measures(name) {
		if owner.Labels {
			var own []string
			for _, m := range t.Metrics {
				own = append(own, m.Name)
			}
			return Metric{}, structured.BadInput("--metric %s compares %s; for %s use %s", name, owner.Outputs, t.Outputs,
				strings.Join(own, " or "))
		}
		return Metric{}, structured.BadInput("--metric %s compares %s, which --task %s does not predict",
			name, owner.Outputs, t.Name)
	}
	switch {
	case t.Metric != nil:
		var err error
		if name, err = t.Metric(name, labels, dev); err != nil {
			return Metric{}, err
		}
	case name == "auto":
		name = t.Metrics[0].Name
	}
	for _, m := range t.Metrics {
		if m.Name == name {
			return m, nil
		}
	}
	return Metric{}, structured.BadInput("--metric %q is not known", name)
}

func (t Task) measures(name string) bool {
	for _, m := range t.Metrics {
		if m.Name == name {
			return true
		}
	}
	return false
}

// measuredBy returns a task that has the metric of that name.
func measuredBy(name string) (Task, bool) {
	for _, t := range All() {
		if t.measures(name) {
			return t, true
		}
	}
	return Task{}, false
}

var labelMetrics = []Metric{
	{"f1", "entity F1", func(m *structured.Metrics) float64 { return m.Get("f1") }, entityShare},
	{"accuracy", "accuracy", func(m *structured.Metrics) float64 { return m.Get("token_accuracy") },
		share("token_accuracy", "tokens")},
	{"sequence", "sequences right", func(m *structured.Metrics) float64 { return 1 - m.Get("sequence_error") },
		sequenceShare},
}

// chooseLabelMetric is Task.Metric for labels: entity F1 where there are entities, else accuracy. Both F1 and the share
// of right sequences need a sequence whose labels are all known.
func chooseLabelMetric(name string, labels *structured.Alphabet, dev *structured.Dataset) (string, error) {
	entities := chains.EntityTags(labels)
	whole := dev == nil || dev.Len() == 0 // or some sequence has all its labels
	for i := 0; !whole && i < dev.Len(); i++ {
		whole = !dev.Partial(i)
	}
	switch {
	case (name == "f1" || name == "sequence") && !whole:
		return "", structured.BadInput("--metric %s compares whole sequences, but there is none in %s whose labels are "+
			"all known; use accuracy", name, dev.Name)
	case name == "auto" && entities && whole:
		return "f1", nil
	case name == "auto":
		return "accuracy", nil
	case name == "f1" && !entities:
		return "", structured.BadInput("--metric f1 compares entities, but the labels are not entity tags (O, B-x, I-x); " +
			"use accuracy or sequence")
	}
	return name, nil
}
