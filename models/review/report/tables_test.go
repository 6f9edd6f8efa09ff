package report

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/sweep"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/trees"
	"github.com/dsp-go/dsp/train/record"
)

// written is the text of a table: its head and rows, with bars between cells.
func written(t *Table) string {
	if t == nil {
		return ""
	}
	lines := []string{strings.Join(t.Head, "|")}
	for _, row := range t.Rows {
		var cells []string
		for _, c := range row {
			cells = append(cells, c.Text)
		}
		lines = append(lines, strings.Join(cells, "|"))
	}
	return strings.Join(lines, "\n")
}

func measures(pairs ...any) structured.Metrics {
	var m structured.Metrics
	for k := 0; k < len(pairs); k += 2 {
		m.Measures = append(m.Measures, structured.Measure{Name: pairs[k].(string), Value: pairs[k+1].(float64)})
	}
	return m
}

// Labels have their precision, recall and counts, those that do not occur are left out, and what was mistaken for what
// is a matrix.
func TestTablesOfLabels(t *testing.T) {
	r := &tasks.LabelReport{
		Metrics: chains.Metrics{EntityMetrics: &chains.EntityMetrics{Types: map[string]chains.EntityScore{
			"Y": {Precision: 0.25, Recall: 0.5, F1: 1. / 3, Gold: 3, Predicted: 6, Correct: 2}, "X": {Precision: 0.5, Gold: 1},
		}}}}
	r.Labels = []chains.LabelScore{{Label: "a", Precision: 0.5, Recall: 0.25, F1: 1. / 3, Support: 8, Predicted: 4,
		Correct: 2}, {Label: "b"}, {Label: "c", Recall: math.NaN(), Predicted: 6}}
	r.Confusion = []chains.Mistake{{Gold: "a", Predicted: "c", Count: 6}}
	all, confusion := labelTables(r)
	if len(all) != 2 || all[0].Caption != "By type" ||
		written(&all[0]) != "type|precision|recall|F1|gold|predicted|correct\nX|50.00 %|0.00 %|0.00 %|1|0|0\n"+
			"Y|25.00 %|50.00 %|33.33 %|3|6|2" {
		t.Errorf("%+v", all)
	}
	if want := "label|precision|recall|F1|gold|predicted|right\na|50.00 %|25.00 %|33.33 %|8|4|2\n" +
		"c|0.00 %|–|0.00 %|0|6|0"; written(&all[1]) != want || all[1].Caption != "By label" {
		t.Errorf("%s\nexpected\n%s", written(&all[1]), want)
	}
	if want := "gold|a|c\na|2|6\nc||"; written(confusion) != want || confusion.Rows[0][1] != (Cell{"2", 0.25, false}) ||
		confusion.Rows[0][2] != (Cell{"6", 0.75, true}) {
		t.Errorf("%+v", confusion)
	}
}

// Relations have the shares of right heads and relations.
func TestTablesOfRelations(t *testing.T) {
	r := &tasks.TreeReport{
		Metrics: trees.Metrics{
			Relations: []trees.RelationScore{{Name: "nsubj", Gold: 4, Predicted: 5, HeadRecall: 0.75,
				Recall: 0.5, Precision: 0.4}}}}
	all, confusion := labelTables(r)
	if len(all) != 1 || confusion != nil || all[0].Caption != "By relation" ||
		written(&all[0]) != "relation|right head|right head and relation|precision|gold|predicted\n"+
			"nsubj|75.00 %|50.00 %|40.00 %|4|5" {
		t.Errorf("%+v, %v", all, confusion)
	}
}

// Measures have names for people, and counts are whole.
func TestTableOfMeasures(t *testing.T) {
	if got, want := written(
		metricTable(measures("f1", 0.5, "tokens", 1., "token_error", 0.125, "ap50", 1., "images", 0., "new", 12.))),
		"measure|value\nF1|50.00 %\ntokens|1\ntoken error|12.50 %\nAP at IoU .50|100.00 %\nimages|0\nnew|12"; got != want {
		t.Errorf("%s\nexpected\n%s", got, want)
	}
	if typeTable(nil) != nil {
		t.Error("a table of no types")
	}
	if got := written(upright([][]string{{"", "a", "b"}, {"x", "1", "2"}})); got != "|x\na|1\nb|2" {
		t.Error(got)
	}
	for want, c := range map[string]Cell{"": {Shade: 0}, "background:rgba(0,114,178,0.30)": {Shade: 0.5},
		"background:rgba(213,94,0,0.60)": {Shade: 3, Wrong: true}, " ": {Shade: math.NaN()}} {
		if string(c.Style()) != strings.TrimSpace(want) {
			t.Errorf("%+v: %s, expected %s", c, c.Style(), want)
		}
	}
}

// Settings of a sweep have what varies, the metric and how far they are behind the best; columns without text are left
// out.
func TestTableOfTrials(t *testing.T) {
	nan := record.Number(math.NaN())
	r := &sweep.Recorded{Metric: "F1", Percent: true, Varied: []string{"reg", "method"}, Trials: []sweep.Trial{
		{Settings: map[string]any{"reg": 1.5, "method": "bcfw"}, Metric: 0.75, Deviation: nan,
			Test: 0.5, Objective: 2, Gap: 0.02},
		{Settings: map[string]any{"reg": 3, "method": "svrg"}, Metric: 0.5, Deviation: nan, Test: nan, Objective: nan,
			Gap: nan, Behind: &sweep.Behind{Difference: 0.25, Low: 0.125, High: 0.5, P: 0.03}},
		{Settings: map[string]any{"reg": 9, "method": "svrg"}, Metric: nan, Deviation: nan, Test: nan, Objective: nan,
			Gap: nan, Error: "diverged\x01"},
	}}
	got := trialTable(r)
	want := "reg|method|F1|behind the best, points|test|certified gap|failed\n1.5|bcfw|75.00 %|–|50.00 %|1.00 %|–\n" +
		"3|svrg|50.00 %|25.00 (12.50 to 50.00), p = 0.03|–|–|–\n9|svrg|–|–|–|–|diverged\ufffd"
	if text := written(got); text != want {
		t.Errorf("%s\nexpected\n%s", text, want)
	}
	many := &sweep.Recorded{Metric: "objective", Varied: []string{"reg"}}
	for k := range shownTrials + 5 {
		many.Trials = append(many.Trials, sweep.Trial{Settings: map[string]any{"reg": k}, Metric: record.Number(k),
			Deviation: nan, Test: nan, Objective: nan, Gap: nan})
	}
	if got := trialTable(many); len(got.Rows) != shownTrials ||
		!strings.HasPrefix(got.Caption, "The best 100 of 105 settings. ") || got.Rows[12][1].Text != "12" {
		t.Errorf("%d rows, %s", len(got.Rows), got.Caption)
	}
	if got := trialTable(&sweep.Recorded{}); len(got.Rows) != 0 {
		t.Errorf("%+v", got)
	}
}

// Tokens say what was predicted and how surely, and where that is wrong, what is right.
func TestTokens(t *testing.T) {
	names := structured.NewAlphabet("O", "X")
	d := &structured.Dataset{
		Alphabet: structured.NewAlphabet("O", "X", "new\x01"), Offsets: []int{0, 4}, Labels: []int32{0, 1, 2, -1},
		LabelSets: [][]int32{nil}, ColumnNames: []string{"word"}, Columns: [][]string{{"a", "b\x02", "c", "d"}},
	}
	p := &predictions.Prediction{Output: predictions.Output{Labels: []int32{0, 0, 1, 1}},
		Marginals: []float32{.75, .25, .625, .375, .5, .5, 0, 1}}
	got := tokensOf(d, 0, p, names)
	want := []Token{
		{Word: "a", Gold: "O", Predicted: "O", Title: "predicted O (75.0 %)", Probability: 0.75},
		{Word: "b\ufffd", Gold: "X", Predicted: "O", Wrong: true, Title: "predicted O (62.5 %), gold X (37.5 %)",
			Probability: 0.625},
		{Word: "c", Gold: "new\ufffd", Predicted: "X", Wrong: true, Title: "predicted X (50.0 %)", Probability: 0.5},
		{Word: "d", Gold: "?", Predicted: "X", Title: "predicted X (100.0 %)", Probability: 1},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v\nexpected\n%+v", got, want)
	}
	p.Marginals = nil
	if got = tokensOf(d, 0, p, names); got[0].Probability != 0 || got[1].Probability != 1 ||
		got[1].Title != "predicted O" {
		t.Errorf("without probabilities: %+v", got)
	}
	long := make([]Token, mostTokens+40)
	long[0].Wrong, long[100].Wrong, long[mostTokens+39].Wrong = true, true, true
	some := shorten(long)
	gaps := 0
	for _, x := range some {
		if x.Gap {
			gaps++
		}
	}
	if len(some) != 4*nearMistake+3+gaps || gaps != 2 || some[0].Gap || !some[0].Wrong || !some[len(some)-1].Wrong {
		t.Errorf("%d tokens with %d gaps", len(some), gaps)
	}
}

// Sizes, contents and texts are written for people, and pages contain no control characters.
func TestFacts(t *testing.T) {
	dir := t.TempDir()
	for n, want := range map[int]string{0: "0 bytes", 1023: "1023 bytes", 1024: "1.0 KiB",
		1536: "1.5 KiB", 1 << 20: "1.0 MiB"} {
		path := filepath.Join(dir, fmt.Sprint(n))
		if err := os.WriteFile(path, make([]byte, n), 0o666); err != nil {
			t.Fatal(err)
		}
		if got := sizeOf(path); got != want {
			t.Errorf("%d: %s, expected %s", n, got, want)
		}
	}
	if sizeOf(dir) != "5 files" || sizeOf(filepath.Join(dir, "x")) != "not there any more" {
		t.Errorf("%s, %s", sizeOf(dir), sizeOf(filepath.Join(dir, "x")))
	}
	m := measures("tokens", 12., "sequences", 3., "f1", 0.5)
	if got := contents(&m); got != "3 sequences, 12 tokens" || contents(nil) != "" {
		t.Errorf("%q, %q", got, contents(nil))
	}
	if got := clean("a\tb\nc\rd\x00\x1f\x7f\ufffe\uffffé\xff "); got != "a\tb\n"+
		"c\rd\ufffd\ufffd\ufffd\ufffd\ufffdé\ufffd " {
		t.Errorf("%q", got)
	}
	if capital("") != "" || capital("abc") != "Abc" || percent(math.NaN()) != "–" {
		t.Error("capitals and percentages")
	}
}

// Settings are in their groups, and those that were changed stand with their defaults.
func TestSettings(t *testing.T) {
	c := config.Default()
	c.Passes, c.Train, c.Out, c.Quiet = 7, "x\x01", "runs", true
	w := &writer{}
	w.settings(&c)
	if got := written(w.Changed); got != "setting|value|default\ntrain|x\ufffd|–\npasses|7|0" {
		t.Errorf("%s", got)
	}
	seen, rows := map[string]bool{}, 0
	for _, g := range w.Settings {
		if seen[g.Name] || len(g.Rows) == 0 {
			t.Errorf("group %s is there twice, or empty", g.Name)
		}
		seen[g.Name], rows = true, rows+len(g.Rows)
		for _, row := range g.Rows {
			if row[1].Text == "" || row[0].Text == "out" || row[0].Text == "quiet" {
				t.Errorf("%+v", row)
			}
		}
	}
	if all := len(config.Settings(&c)); rows != all-4 {
		t.Errorf("%d of %d settings", rows, all)
	}
	plain := config.Default()
	w = new(writer)
	if w.settings(&plain); w.Changed != nil {
		t.Errorf("%s", written(w.Changed))
	}
}
