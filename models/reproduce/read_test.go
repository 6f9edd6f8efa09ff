package reproduce

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// Every mistake in a YAML file is named with its line and what to write instead.
func TestBadYAML(t *testing.T) {
	for _, c := range []struct{ was, is, message string }{
		{"seeds: 2", "sedes: 2", `tiny.yaml:3: the figure has no key "sedes"; did you mean "seeds"?`},
		{"seeds: 2", "seeds: two", "tiny.yaml:3: seeds: expected a whole number of at least 1, found two"},
		{"seeds: 2", "seeds: 2\nseeds: 3", `tiny.yaml:4:1: mapping key "seeds" already defined at [3:1]`},
		{"figure: tiny", "figure: a/b", "expected a name for its files"},
		{"title: two methods", "title: [two]", "tiny.yaml:2: title: expected text"},
		{"title: two methods", "data: voc", "data: expected text (drawn sentences) or task"},
		{"token_accuracy]", "token_accuracy, objectiv]", `found "objectiv"`},
		{"seeds: 2", "x: hours", `x: expected calls, all-calls, passes or seconds, found "hours"`},
		{"net: linear", "nett: linear", `tiny.yaml:5: unknown setting "nett"; did you mean "net"?`},
		{"task: ocr", "task: orc", `tiny.yaml:5: --task "orc" is not known`},
		{"passes: 3", "net: mlp, passes: 3", `tiny.yaml:5:71: mapping key "net" already defined`},
		{"passes: 3", "passes: many", "tiny.yaml:5: passes: expected a whole number, found many"},
		{"name: sgd", "nome: sgd", `tiny.yaml:8: a curve has no key "nome"; did you mean "name"?`},
		{"{name: bcfw, settings", "{settings", "tiny.yaml:11: a curve needs a name"},
		{"{name: bcfw, settings", "{name: sgd, settings", `tiny.yaml:11: two curves are called "sgd"`},
		{"tune: {lr: [1e-9, 0.02, 1e30]}", "tune: {lr: [x]}", `tiny.yaml:10: tune: lr: "x": expected a number`},
		{"tune: {lr: [1e-9, 0.02, 1e30]}", "tune: {lr: 1}", "tiny.yaml:10: lr: expected a list, found 1"},
		{"tune: {lr: [1e-9, 0.02, 1e30]}", "tune: {lr: []}", "expected values to try"},
		{"tune: {lr", "tune: {lrr", `tune has no key "lrr"; did you mean "lr"?`},
		{"seeds: 2", "choose: f1", "tiny.yaml:3: choose: expected objective, or objective within N% of dev METRIC"},
		{"name: strong", "name: weak", `a part needs a name of its own, found "weak"`},
		{"bcfw <= 1000", "bcfv <= 1000",
			`tiny.yaml:16: check: part "weak" has no curve "bcfv"; did you mean bcfw?; it has sgd, bcfw`},
		{"part: weak", "part: week", `there is no part "week"`},
		{"bcfw <= 1000", "bcfw = 1000", "tiny.yaml:16: check: "},
		{"notes: [a note]", "notes: a note", "notes: expected a list, found a note"},
		{"notes: [a note]", "notes: [a note", "tiny.yaml:"},
		{"notes: [a note]", "notes:\n  - a note: this", "tiny.yaml:19: notes: expected text, found \"key: value\" in a " +
			"note: this; put text with a colon in quotes"},
		{tiny, "", "tiny.yaml: the file is empty; expected a figure"},
		{tiny, "- a", `tiny.yaml:1: the figure: expected "key: value" lines`},
		{tiny, "figure: 1", `part "" has no curves`},
	} {
		text := strings.Replace(tiny, c.was, c.is, 1)
		if text == tiny {
			t.Fatalf("%q is not in the figure", c.was)
		}
		_, err := Parse("tiny.yaml", []byte(text))
		if !structured.IsBadInput(err) || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%q: got %v, expected %s", c.is, err, c.message)
		}
	}
}

// Settings that do not go together are refused before any training, with the line of the curve.
func TestBadSettings(t *testing.T) {
	for is, message := range map[string]string{
		"{method: bcfw, lr: 1}":                      "tiny.yaml:11: weak, bcfw, seed 1: --lr",
		"{method: svrg, net: mlp}":                   "tiny.yaml:11: weak, bcfw, seed 1: --method svrg",
		"{method: bcfw, net: linear, features: ner}": "tiny.yaml:11: weak, bcfw, seed 1: ",
	} {
		f := parse(t, strings.Replace(tiny, "settings: {method: bcfw}", "settings: "+is, 1))
		_, err := Reproduce(t.Context(), []*Figure{f}, Options{Out: t.TempDir()})
		if !structured.IsBadInput(err) || !strings.Contains(err.Error(), message) {
			t.Errorf("%s: got %v, expected %s", is, err, message)
		}
	}
}

// Anchors and aliases save repetition.
func TestAnchors(t *testing.T) {
	f := parse(t, strings.NewReplacer("settings: {reg: 1}", "settings: &one {reg: 1}", "settings: {reg: 10}",
		"settings: *one").Replace(tiny))
	p := newPlanner(Options{})
	for k := range f.Parts {
		if c, err := p.configure(f, &f.Parts[k], f.Parts[k].Curves[1].Settings, nil, 1); err != nil || c.Config().Reg != 1 {
			t.Errorf("part %d: %+v, %v", k, c, err)
		}
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	if _, err := Read(dir); !structured.IsBadInput(err) {
		t.Errorf("an empty folder: %v", err)
	}
	for _, name := range []string{"a.yaml", "b.yaml"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(tiny), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Read(dir); !structured.IsBadInput(err) || !strings.Contains(err.Error(), "figure tiny is in") {
		t.Errorf("two files with one figure: %v", err)
	}
	if f, err := Read(filepath.Join(dir, "a.yaml")); err != nil || len(f) != 1 || len(f[0].Parts) != 2 {
		t.Error(f, err)
	}
	if _, err := Read(filepath.Join(dir, "c.yaml")); !structured.IsBadInput(err) {
		t.Errorf("a missing file: %v", err)
	}
}

// A damaged line of the runs is named.
func TestBadRuns(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, runsFile), []byte("{\"key\": 3}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Reproduce(t.Context(), []*Figure{parse(t, tiny)}, Options{Out: dir}); !structured.IsBadInput(err) ||
		!strings.Contains(err.Error(), "runs.jsonl:1: expected a finished run") {
		t.Error(err)
	}
}
