package report

import (
	"fmt"
	"strings"

	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/review"
	"github.com/dsp-go/dsp/models/review/intervals"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
)

// How many examples a report shows, and how many of the worst a picture may choose from.
const (
	shownExamples = 12
	pictured      = 200
)

// measure evaluates the model on the data, which it returns; nil without data.
func (w *writer) measure() (*structured.Dataset, error) {
	d, part, err := w.data()
	if err != nil || d == nil || d.Len() == 0 {
		return nil, err
	}
	m := w.model
	sample := intervals.New(&m.Config, m.Labels, d, false)
	looks := []func(i int, p *predictions.Prediction){sample.Keep}
	pairs := w.pairs(d)
	if pairs != nil {
		looks = append(looks, func(i int, p *predictions.Prediction) { pairs.Add(d, i, p.Labels) })
	}
	report, found, err := m.Review(w.ctx, d, false, w.o.Threads, looks...)
	if err != nil {
		return nil, err
	}
	to := &Measured{On: d.Name, Part: part, Examples: d.Len(), Metrics: metricTable(report.General())}
	w.Measured = to
	if err := w.spread(to, sample); err != nil {
		return nil, err
	}
	to.Tables, to.Confusion = labelTables(report)
	if pairs != nil {
		to.Confusion = confusionTable(m.Labels.Names(), pairs.Count)
	}
	if err := w.probabilities(to, found); err != nil {
		return nil, err
	}
	found.Worst(pictured)
	if err := w.worst(to, d, found); err != nil {
		return nil, err
	}
	return d, nil
}

// pairs returns what counts the gold and predicted labels of graphs; nil for other tasks, whose reports have them, and
// for data with labels that the model does not know.
func (w *writer) pairs(d *structured.Dataset) *graphs.Evaluator {
	if !w.model.Net.Form().ReadsGraphs() || d.Alphabet.Len() > w.model.Labels.Len() {
		return nil
	}
	return graphs.NewEvaluator(w.model.Labels)
}

// spread adds the intervals of the metrics, and compares the model with the baselines of its run.
func (w *writer) spread(to *Measured, sample *intervals.Sample) error {
	d := sample.Data()
	if d.Len() < 2 {
		return nil
	}
	var err error
	if to.Estimates, err = sample.Estimates(); err != nil || len(to.Estimates) == 0 {
		return err
	}
	to.Intervals = intervals.Explain(to.Estimates)
	if w.run == nil {
		return nil
	}
	var names []string
	var tests []*intervals.Difference
	for k := range w.run.Baselines {
		b := &w.run.Baselines[k]
		if b.Model == nil || b.Model.Config.Task != w.model.Config.Task {
			continue
		}
		other := intervals.New(&b.Model.Config, b.Model.Labels, d, false)
		if _, err := b.Model.Compare(w.ctx, d, false, predictions.Options{Threads: w.o.Threads}, other.Keep); err != nil {
			if structured.IsBadInput(err) { // it reads other inputs
				continue
			}
			return err
		}
		differences, err := intervals.Differences(sample, other)
		if err != nil {
			return err
		}
		names, tests = append(names, b.Name()), append(tests, &differences[0])
	}
	intervals.Correct(tests, len(tests)) // only these are shown
	for k, d := range tests {
		to.Against = append(to.Against, fmt.Sprintf("Against %s: %v.", names[k], *d))
	}
	if tests != nil {
		to.Tests = intervals.ExplainDifferences(len(tests))
	}
	return nil
}

// probabilities adds calibration, and precision against recall.
func (w *writer) probabilities(to *Measured, found *review.Review) error {
	var err error
	if found.Probabilities && len(found.Parts) > 0 {
		c := found.Calibration(w.model.Temper(), !w.model.Uncalibrated())
		to.Calibrated = capital(c.String()) + "."
		if w.model.Uncalibrated() {
			to.Calibrated += " The loss of this model does not fit probabilities; dsp calibrate fits a temperature."
		}
		if to.Reliability, err = w.draw("reliability of the probabilities", c.Write); err != nil {
			return err
		}
	}
	if !found.Probabilities && tasks.Of(&w.model.Config).Request != tasks.Pairs {
		return nil
	}
	c := found.Curve()
	if len(c.Points) < 2 {
		return nil
	}
	to.CurveText = capital(c.String()) + "."
	to.Curve, err = w.draw("precision against recall", c.Write)
	return err
}

// labelTables returns the tables by type, label and relation, and the confusions of labels.
func labelTables(report tasks.Report) (all []Table, confusion *Table) {
	general := report.General()
	if t := typeTable(general.Types); t != nil {
		t.Caption = "By type"
		all = append(all, *t)
	}
	switch r := report.(type) {
	case *tasks.LabelReport:
		t := Table{Caption: "By label", Head: []string{"label", "precision", "recall", "F1", "gold", "predicted", "right"}}
		right, mistakes := map[string]float64{}, map[[2]string]float64{}
		var names []string
		for _, l := range r.Labels {
			if l.Support+l.Predicted == 0 {
				continue
			}
			t.row(l.Label, percent(l.Precision), percent(l.Recall), percent(l.F1), fmt.Sprint(l.Support),
				fmt.Sprint(l.Predicted), fmt.Sprint(l.Correct))
			names, right[l.Label] = append(names, l.Label), float64(l.Correct)
		}
		for _, m := range r.Confusion {
			mistakes[[2]string{m.Gold, m.Predicted}] = float64(m.Count)
		}
		return append(all, t), confusionTable(names, func(gold, predicted int) float64 {
			if gold == predicted {
				return right[names[gold]]
			}
			return mistakes[[2]string{names[gold], names[predicted]}]
		})
	case *tasks.TreeReport:
		t := Table{Caption: "By relation",
			Head: []string{"relation", "right head", "right head and relation", "precision", "gold", "predicted"}}
		for _, x := range r.Relations {
			t.row(x.Name, percent(x.HeadRecall), percent(x.Recall), percent(x.Precision),
				fmt.Sprint(x.Gold), fmt.Sprint(x.Predicted))
		}
		return append(all, t), nil
	}
	return all, nil
}

// capital writes the first letter large.
func capital(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
