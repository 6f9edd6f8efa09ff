package reproduce

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
)

// tiny is a figure that takes a moment.
const tiny = `figure: tiny
title: two methods
seeds: 2
y: [suboptimality, test token_accuracy]
settings: {task: ocr, examples: [24, 8, 8], net: linear, loss: hinge, passes: 3, batch: 1}
reference: {method: bcfw, passes: 40, batch: 0}
curves:
  - name: sgd
    settings: {method: sgd, schedule: constant}
    tune: {lr: [1e-9, 0.02, 1e30]}
  - {name: bcfw, settings: {method: bcfw}}
parts:
  - {name: weak, settings: {reg: 1}}
  - {name: strong, settings: {reg: 10}}
claims:
  - {says: BCFW stays below a high level., where: nowhere, check: "final objective: bcfw <= 1000"}
  - {says: BCFW gets below nothing., where: nowhere, part: weak, check: "best objective: bcfw <= 0"}
notes: [a note]
quick: {seeds: 1, settings: {passes: 1}}
`

func parse(t *testing.T, text string) *Figure {
	t.Helper()
	f, err := Parse("tiny.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func reproduced(t *testing.T, text string, o Options) *Result {
	t.Helper()
	r, err := Reproduce(context.Background(), []*Figure{parse(t, text)}, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func contents(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A figure trains each curve with each seed, chooses the tuned value, judges the claims, and writes its files.
func TestReproduce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	r := reproduced(t, tiny, Options{Out: dir})
	f := r.Figures[0]
	verdicts := []string{f.Claims[0].Verdict, f.Claims[1].Verdict, f.Claims[2].Verdict}
	if !slices.Equal(verdicts, []string{agrees, agrees, disagrees}) || r.Counts[agrees] != 2 {
		t.Errorf("%+v", f.Claims)
	}
	for _, tuned := range f.Tuned {
		if tuned.Curve != "sgd" || tuned.Values["lr"] != "0.02" || tuned.Edge {
			t.Errorf("%+v", tuned)
		}
	}
	if rows := strings.Count(contents(t, f.Curves), "\n"); len(f.Tuned) != 2 || rows != 1+2*2*2*3 {
		t.Errorf("%d tuned curves, %d rows of curves", len(f.Tuned), rows)
	}
	if !strings.HasPrefix(contents(t, f.Picture), "\x89PNG") || contents(t, dir, "figuretiny.yaml") != tiny ||
		!strings.HasPrefix(contents(t, dir, "figuretiny.svg"), "<?xml") {
		t.Error("the picture or the YAML is not there")
	}
	for _, part := range []string{"BCFW stays below", "2 of 2", "lr 0.02", "a note",
		"Best certified dual", "2 agree, 1 disagree"} {
		if table := contents(t, r.Table); !strings.Contains(table, part) {
			t.Errorf("no %q in\n%s", part, table)
		}
	}
	for _, line := range strings.Split(contents(t, f.Curves), "\n")[1:] {
		if cells := strings.Split(line, ","); len(cells) > 8 && (cells[8] == "" || strings.HasPrefix(cells[8], "-")) {
			t.Errorf("suboptimality %q, expected a number of at least 0: %s", cells[8], line)
		}
	}
}

// The same folder goes on with what is missing: nothing, one more seed, or a run that was cut off.
func TestContinue(t *testing.T) {
	if testing.Short() {
		t.Skip("long; the race detector runs shorter tests of the same code")
	}
	dir := t.TempDir()
	reproduced(t, tiny, Options{Out: dir})
	path := filepath.Join(dir, runsFile)
	curves := func() string { return timeless(contents(t, dir, "figuretiny.csv")) }
	runs, first := contents(t, path), curves()
	reproduced(t, tiny, Options{Out: dir, Threads: 1})
	if contents(t, path) != runs || curves() != first {
		t.Error("finished runs were trained again")
	}
	if err := os.WriteFile(path, []byte(runs[:len(runs)-9]), 0o666); err != nil {
		t.Fatal(err)
	}
	reproduced(t, tiny, Options{Out: dir})
	if n := strings.Count(contents(t, path), "\n"); n != strings.Count(runs, "\n") || curves() != first {
		t.Errorf("%d runs, and other curves", n)
	}
	reproduced(t, tiny, Options{Out: dir, Seeds: 3})
	if n := strings.Count(contents(t, path), "\n") - strings.Count(runs, "\n"); n != 4 {
		t.Errorf("%d runs for one more seed of four curves", n)
	}
}

// timeless drops the seconds from the rows of curves.
func timeless(csv string) string {
	var rows []string
	for line := range strings.Lines(csv) {
		if cells := strings.Split(line, ","); len(cells) > 7 {
			rows = append(rows, strings.Join(slices.Delete(cells, 6, 7), ","))
		}
	}
	return strings.Join(rows, "")
}

// A figure of tagging draws its text, or reads files.
func TestText(t *testing.T) {
	if testing.Short() {
		t.Skip("long; the race detector runs shorter tests of the same code")
	}
	figure := `figure: 1
data: text
seeds: 1
y: [objective, test f1]
settings: {task: tag, examples: [20, 10, 10], net: linear, loss: hinge, method: bcfw, passes: 2}
curves: [{name: bcfw}]
`
	dir := t.TempDir()
	drawn := reproduced(t, figure, Options{Out: dir})
	if !strings.Contains(contents(t, drawn.Figures[0].Curves), "test f1") {
		t.Error("no F1")
	}
	text := filepath.Join(dir, "data", "text-20-10-10-seed1")
	own := reproduced(t, figure,
		Options{Out: t.TempDir(), Train: filepath.Join(text, "train.conll"), Test: filepath.Join(text, "dev.conll"),
			Columns: "word=0,pos=1,label=-1"})
	if a, b := contents(t, drawn.Figures[0].Curves), contents(t, own.Figures[0].Curves); a == b ||
		!strings.Contains(b, "test f1") || strings.Contains(b, "dev f1") {
		t.Errorf("got\n%s", b)
	}
}

// stopper is a slog.Handler that ends a context when a curve is done.
type stopper struct {
	slog.Handler
	stop func()
}

func (s stopper) Enabled(context.Context, slog.Level) bool { return true }

func (s stopper) Handle(_ context.Context, r slog.Record) error {
	if strings.Contains(r.Message, "runs: ") {
		s.stop()
	}
	return nil
}

// An interrupt keeps finished runs, and the next call ends with what it would have ended with.
func TestInterrupt(t *testing.T) {
	dir, whole := t.TempDir(), t.TempDir()
	ctx, stop := context.WithCancel(context.Background())
	_, err := Reproduce(ctx, []*Figure{parse(t, tiny)},
		Options{Out: dir, Threads: 1, Log: slog.New(stopper{slog.DiscardHandler, stop})})
	if n := strings.Count(contents(t, dir, runsFile), "\n"); !errors.Is(err, train.ErrInterrupted) || n == 0 || n > 10 {
		t.Errorf("%d runs, %v", n, err)
	}
	if _, err := Reproduce(ctx, []*Figure{parse(t, tiny)}, Options{Out: dir}); !errors.Is(err, train.ErrInterrupted) {
		t.Errorf("interrupted at the start: %v", err)
	}
	reproduced(t, tiny, Options{Out: dir})
	reproduced(t, tiny, Options{Out: whole})
	if timeless(contents(t, dir, "figuretiny.csv")) != timeless(contents(t, whole, "figuretiny.csv")) {
		t.Error("other curves after an interrupt")
	}
}

// Data are the same for all seeds, unless each run draws its own.
func TestDataSeed(t *testing.T) {
	for seed, differ := range map[string]bool{"1": false, "0": true} {
		f := parse(t, "data-seed: "+seed+"\n"+tiny)
		p := newPlanner(Options{})
		a, err1 := p.unit(f, &f.Parts[0], "bcfw", f.Parts[0].Curves[1].Settings, nil, 1)
		b, err2 := p.unit(f, &f.Parts[0], "bcfw", f.Parts[0].Curves[1].Settings, nil, 2)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		if a.key == b.key || (a.objective != b.objective) != differ {
			t.Errorf("data-seed %s: keys %s %s, objectives %s %s", seed, a.key, b.key, a.objective, b.objective)
		}
	}
}

// The program's figures can be read, and every setting of every curve goes together with the others.
func TestStudies(t *testing.T) {
	if testing.Short() {
		t.Skip("long; the race detector runs shorter tests of the same code")
	}
	for _, path := range slices.Concat(files("casimir"), files("bcfw"), files("gaps"), files("agm")) {
		text, err := studies.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := tasks.Named("localise"); !ok && bytes.Contains(text, []byte("task: localise")) {
			continue
		}
		f, err := Parse(path, text)
		if err != nil {
			t.Error(err)
			continue
		}
		p := newPlanner(Options{Out: t.TempDir(), Quick: true})
		if err := p.check(context.Background(), f); err != nil {
			t.Error(err)
		}
		if len(f.Claims) == 0 || f.Seeds != 10 || f.Quick.Seeds == 0 {
			t.Errorf("figure %s lacks claims, seeds or its quick form", f.Name)
		}
	}
}

func TestWriteStudy(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "studies")
	written, err := WriteStudy("casimir", dir)
	if err != nil || len(written) != 6 {
		t.Fatal(written, err)
	}
	if f, err := Read(filepath.Join(dir, "figure2.yaml")); err != nil || f[0].Name != "2" {
		t.Error(err)
	}
	if _, err := WriteStudy("casimir", dir); !structured.IsBadInput(err) {
		t.Errorf("written over: %v", err)
	}
}

func TestChosenFigures(t *testing.T) {
	f := parse(t, tiny)
	if _, err := Reproduce(context.Background(), []*Figure{f},
		Options{Out: t.TempDir(), Figures: []string{"9"}}); !structured.IsBadInput(err) ||
		!strings.Contains(err.Error(), "there are tiny") {
		t.Error(err)
	}
}

// Settings take precedence from the figure to the curve, then the tuned value, then the quick form.
func TestPrecedence(t *testing.T) {
	f := parse(t, tiny)
	p := newPlanner(Options{})
	configured := func() config.Config {
		r, err := p.configure(f, &f.Parts[1], f.Parts[1].Curves[0].Settings, map[string]string{"lr": "0.5"}, 7)
		if err != nil {
			t.Fatal(err)
		}
		return r.Config()
	}
	if c := configured(); c.Reg != 10 || c.LR != 0.5 || c.Method != "sgd" || c.Passes != 3 ||
		c.Seed != 7 || c.Device != config.CPU {
		t.Errorf("%+v", c)
	}
	p.o.Quick = true
	if c := configured(); c.Passes != 1 {
		t.Errorf("%d passes", c.Passes)
	}
	if got := p.combinations(f.Parts[0].Curves[0]); len(got) != 1 || got[0]["lr"] != "0.02" {
		t.Errorf("quick tries %v, expected the middle value", got)
	}
}

// A run that diverges is a result.
func TestDiverged(t *testing.T) {
	text := strings.Replace(tiny, "tune: {lr: [1e-9, 0.02, 1e30]}", "tune: {lr: [1e30, 1e31]}", 1)
	text = strings.Replace(text, `check: "final objective: bcfw <= 1000"`, `check: "final objective: bcfw < sgd"`, 1)
	r := reproduced(t, text, Options{Out: t.TempDir()})
	if tuned := r.Figures[0].Tuned[0]; tuned.Values != nil {
		t.Errorf("%+v", tuned)
	}
	if v := r.Figures[0].Claims[0].Verdict; v != notMeasured {
		t.Errorf("verdict %s on a curve without runs", v)
	}
	text = strings.Replace(tiny, "tune: {lr: [1e-9, 0.02, 1e30]}", "tune: {lr: [1e30]}", 1)
	text = strings.Replace(text, `check: "final objective: bcfw <= 1000"`, `check: "final objective: bcfw < sgd"`, 1)
	r = reproduced(t, text, Options{Out: t.TempDir()})
	if c := r.Figures[0].Claims[0]; c.Verdict != agrees || !strings.Contains(strings.Join(c.Values, " "), "sgd diverged") {
		t.Errorf("%+v", c)
	}
	if x := quantile([]float64{1, math.Inf(1), 2}, 0.5); x != 2 {
		t.Errorf("median %v", x)
	}
}
