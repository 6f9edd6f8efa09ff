package tasks

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/structured"
)

func metricsOf(pairs ...any) *structured.Metrics {
	m := new(structured.Metrics)
	for k := 0; k < len(pairs); k += 2 {
		m.Measures = append(m.Measures, structured.Measure{Name: pairs[k].(string), Value: pairs[k+1].(float64)})
	}
	return m
}

// A metric is the mean of its shares, more is better, and what it is not made of does not count.
func TestMetricsAndShares(t *testing.T) {
	class := func(correct, gold, predicted float64) structured.Metrics {
		return *metricsOf("correct", correct, "gold", gold, "predicted", predicted)
	}
	graph := metricsOf("class_iou", 0.35, "miou", 0.35, "accuracy", 0.8, "pixel_accuracy", 0.8, "labelled", 40.)
	graph.Types = map[string]structured.Metrics{"a": class(6, 8, 10), "b": class(1, 5, 1)}
	labels := metricsOf("f1", 0.5, "gold", 10., "predicted", 6., "token_accuracy", 0.75, "tokens", 100.,
		"sequence_error", 0.25, "sequences", 8.)
	for _, c := range []struct {
		task, metric string
		m            *structured.Metrics
		want         float64
		shares       string
	}{
		{"align", "aer", metricsOf("aer", 0.25, "predicted", 4., "sure", 8.), 0.75, "[{9 12}]"},
		{"warp", "aer", metricsOf("aer", 0.25, "predicted", 4., "sure", 8.), 0.75, "[{9 12}]"},
		{"constituency", "bracket-f1", metricsOf("f1", 0.5, "gold", 10., "predicted", 6.), 0.5, "[{8 16}]"},
		{"constituency", "complete", metricsOf("complete", 0.25, "sentences", 8.), 0.25, "[{2 8}]"},
		{"graph", "class_iou", graph, 0.35, "[{6 12} {0 0} {1 5}]"}, {"graph", "variables", graph, 0.8, "[{32 40}]"},
		{"segment", "miou", graph, 0.35, "[{6 12} {0 0} {1 5}]"}, {"segment", "pixels", graph, 0.8, "[{32 40}]"},
		{"localise", "corloc", metricsOf("corloc", 0.5, "images", 4.), 0.5, "[{2 4}]"},
		{"localise", "mean_iou", metricsOf("mean_iou", 0.625, "images", 4.), 0.625, "[{2.5 4}]"},
		{"tag", "f1", labels, 0.5, "[{8 16}]"}, {"tag", "accuracy", labels, 0.75, "[{75 100}]"},
		{"tag", "sequence", labels, 0.75, "[{6 8}]"}, {"ocr", "sequence", labels, 0.75, "[{6 8}]"},
		{"parse", "las", metricsOf("las", 0.5, "words", 6.), 0.5, "[{3 6}]"},
		{"parse", "uas", metricsOf("uas", 1., "words", 6.), 1, "[{6 6}]"},
		{"tag", "f1", metricsOf("token_accuracy", 0.5), 0, "[{0 0}]"},
	} {
		task, _ := Named(c.task)
		found := false
		for _, m := range task.Metrics {
			if m.Name != c.metric {
				continue
			}
			found = true
			if got := m.Of(c.m); got != c.want && c.want != 0 || fmt.Sprint(m.Shares(c.m, []string{"a", "x", "b"})) != c.shares {
				t.Errorf("%s, %s: %v of %v", c.task, c.metric, got, m.Shares(c.m, []string{"a", "x", "b"}))
			}
		}
		if !found {
			t.Errorf("%s has no %s", c.task, c.metric)
		}
	}
}

// A metric of another kind of outputs is refused, and auto depends on the labels and on what is known of them.
func TestChooseMetric(t *testing.T) {
	tags, plain := structured.NewAlphabet("O", "B-X", "I-X"), structured.NewAlphabet("a", "b")
	partial := &structured.Dataset{Name: "d", Offsets: []int{0, 1}, Labels: []int32{-1}, LabelSets: [][]int32{nil}}
	some := &structured.Dataset{Name: "d", Offsets: []int{0, 1, 2}, Labels: []int32{-1, 0}, LabelSets: [][]int32{nil}}
	for _, c := range []struct {
		task, name string
		labels     *structured.Alphabet
		dev        *structured.Dataset
		want       string
	}{
		{"tag", "auto", tags, nil, "f1"}, {"tag", "auto", plain, nil, "accuracy"}, {"tag", "auto", tags, partial, "accuracy"},
		{"tag", "auto", tags, some, "f1"}, {"tag", "sequence", plain, nil, "sequence"},
		{"tag", "f1", plain, nil, "!--metric f1 compares entities, but the labels are not entity tags"},
		{"tag", "f1", tags, partial, "!--metric f1 compares whole sequences, but there is none in d whose labels are " +
			"all known; use accuracy"},
		{"tag", "sequence", plain, partial, "!--metric sequence compares whole sequences"},
		{"tag", "las", plain, nil, "!--metric las compares "}, {"parse", "f1", plain, nil, "!--metric f1 compares "},
		{"parse", "auto", plain, nil, "las"}, {"parse", "uas", plain, nil, "uas"},
		{"parse", "objective", plain, nil, "objective"}, {"parse", "x", plain, nil, `!--metric "x" is not known`},
		{"graph", "auto", plain, nil, "class_iou"},
	} {
		task, _ := Named(c.task)
		m, err := task.ChooseMetric(c.name, c.labels, c.dev)
		if want, bad := strings.CutPrefix(c.want, "!"); bad != (err != nil) || bad &&
			(!structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), want)) || !bad && m.Name != want {
			t.Errorf("%s, %s: %q, %v, expected %s", c.task, c.name, m.Name, err, c.want)
		}
	}
}

// A task that lacks something is refused with what that is; labelling tasks lack little.
func TestTaskRegistration(t *testing.T) {
	tag, _ := Named("tag")
	for want, change := range map[string]func(t *Task){
		`own task "tag": another one has this name`: func(*Task) {},
		`own task "x": it has no Outputs`:           func(t *Task) { t.Name, t.Outputs = "x", "" },
		`own task "x": it has no Summary`:           func(t *Task) { t.Name, t.Summary = "x", "" },
		`own task "x": it has no Fit`:               func(t *Task) { t.Name, t.Fit = "x", nil },
		`own task "x": it has no Output`:            func(t *Task) { t.Name, t.Output = "x", nil },
		`own task "x": it has no Net`:               func(t *Task) { t.Name, t.Net = "x", nil },
		`own task "x": it has no LogLikelihood`:     func(t *Task) { t.Name, t.LogLikelihood = "x", nil },
		`own task "x": it has no Layout`:            func(t *Task) { t.Name, t.Layout = "x", nil },
		`own task "x": it has no Compare`:           func(t *Task) { t.Name, t.Compare = "x", nil },
		`own task "x": it has no Review`:            func(t *Task) { t.Name, t.Review = "x", nil },
		`own task "x": it has no Metrics`:           func(t *Task) { t.Name, t.Metrics = "x", nil },
		`own task "x": it has no Result`:            func(t *Task) { t.Name, t.Result = "x", "" },
		`own task "x": it has no Columns`:           func(t *Task) { t.Name, t.Columns = "x", nil },
		`own task "x": its settings are a int`:      func(t *Task) { t.Name, t.Settings = "x", 3 },
		"":                                          func(t *Task) { t.Name = "x" },
	} {
		own := tag
		change(&own)
		if err := checkRegistration(own); (err == nil) != (want == "") || err != nil &&
			(!structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%v, expected %s", err, want)
		}
	}
	own := Labelling(Task{Name: "x", Summary: "labels", Output: tag.Output})
	if lacks := own.lacks(); lacks != "" || !own.Labels || own.Outputs != tag.Outputs || own.Result != tag.Result ||
		own.LogLikelihood(config.Default(), inputs.Inputs{}) {
		t.Errorf("it lacks %q", lacks)
	}
	kept := Labelling(Task{Name: "x", Outputs: "mine", Result: "so", Metrics: []Metric{objective},
		Columns: []Column{{"a", "b"}}})
	if kept.Outputs != "mine" || kept.Result != "so" || len(kept.Metrics) != 1 || len(kept.Columns) != 1 ||
		kept.Metric != nil {
		t.Errorf("%+v", kept)
	}
}
