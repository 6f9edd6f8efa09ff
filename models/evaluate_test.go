package models

import (
	"context"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/tasks"
)

// A gold label that training never saw counts as a mistake, whatever is predicted, and is in the report.
func TestEvaluateUnknownLabels(t *testing.T) {
	c := textConfig(file(t, "train.conll", "a\tX\nb\tY\n\nb\tY\n"))
	c.Columns = ""
	m, _ := attributeModel(t, c)
	d, err := m.ReadData(Request{Path: file(t, "test.conll", "a\tX\nb\tNEW\n\nc\tX\n"), Labels: true})
	if err != nil {
		t.Fatal(err)
	}
	report, err := m.Report(t.Context(), d, false, 1)
	r, ok := report.(*tasks.LabelReport)
	if err != nil || !ok || r.Tokens != 3 || m.Labels.Len() != 2 {
		t.Fatalf("%+v, %v, labels %v", report, err, m.Labels.Names())
	}
	for _, l := range r.Labels {
		if l.Label == "NEW" && l.Support == 1 && l.Predicted == 0 && l.Recall == 0 {
			return
		}
	}
	t.Errorf("the report does not tell of NEW: %+v", r.Labels)
}

// BenchmarkEvaluate labels drawn words with the default network, on one thread.
func BenchmarkEvaluate(b *testing.B) {
	c := config.Default()
	c.Examples = settings.Sizes{1, 1, 1000}
	data, err := ReadData(&c)
	if err != nil {
		b.Fatal(err)
	}
	m, err := NewModel(c, data)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := m.Evaluate(context.Background(), data.Test, false, 1); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(data.Test.Positions()*b.N)/b.Elapsed().Seconds(), "letters/s")
	b.ReportAllocs()
}
