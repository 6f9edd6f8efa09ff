package report

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/exchange"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
)

// settings adds the settings that differ from the defaults, and all of them by group.
func (w *writer) settings(c *config.Config) {
	def := config.Default()
	plain := config.Settings(&def)
	w.Changed = &Table{Head: []string{"setting", "value", "default"}, Words: true}
	for k, s := range config.Settings(c) {
		if s.Name == "out" || s.Name == "resume" || s.Name == "quiet" || s.Name == "json" {
			continue
		}
		value, usual := fmt.Sprint(s.Value.Interface()), fmt.Sprint(plain[k].Value.Interface())
		if value != usual {
			w.Changed.row(s.Name, clean(value), cmp.Or(usual, "–"))
		}
		at := slices.IndexFunc(w.Settings, func(g Group) bool { return g.Name == s.Group })
		if at < 0 {
			at = len(w.Settings)
			w.Settings = append(w.Settings, Group{Name: s.Group, Table: Table{Words: true}})
		}
		w.Settings[at].row(s.Name, cmp.Or(clean(value), "–"))
	}
	if len(w.Changed.Rows) == 0 {
		w.Changed = nil
	}
}

// countedBytes bounds the training files that are read only to count their examples.
const countedBytes = 4 << 20

// describe adds what is known of the data and of the model. d is what the model was measured on, or nil.
func (w *writer) describe(c *config.Config, d *structured.Dataset) {
	t := &Table{Head: []string{"data", "from", "size", "contents"}, Words: true}
	var dev, test *structured.Metrics
	if w.run != nil && len(w.run.Records) > 0 {
		r := w.run.Results()[0]
		dev, test = r.Dev, r.Test
	}
	for k, set := range []struct {
		name, path string
		metrics    *structured.Metrics
	}{{"training", c.Train, nil}, {"development", c.Dev, dev}, {"test", c.Test, test}} {
		switch {
		case c.Format == formats.Builtin:
			t.row(set.name, "drawn from seed "+fmt.Sprint(c.Seed), "", cmp.Or(contents(set.metrics), drawn(c, k)))
		case set.path != "":
			about := contents(set.metrics)
			if k == 0 {
				about = w.count(set.path)
			}
			t.row(set.name, clean(config.FileNames(set.path)), sizeOf(set.path), about)
		}
	}
	if d != nil {
		t.row("measured on", clean(config.FileNames(d.Name)), "",
			fmt.Sprintf("%d examples, %d positions", d.Len(), d.Positions()))
	}
	t.dropEmpty()
	if len(t.Rows) > 0 {
		w.Data = t
	}
	m := w.model
	if m == nil {
		return
	}
	w.Model = &Table{Head: []string{"model", ""}, Words: true}
	w.Model.row("weights", fmt.Sprintf("%d", m.Net.Dim()))
	if n := m.Labels.Len(); n > 0 {
		w.Model.row("labels", fmt.Sprint(n))
	}
	if m.Dictionary != nil {
		w.Model.row("attributes", fmt.Sprint(m.Dictionary.Nodes()))
	}
	if arcs, labels, _ := m.ArcAttributes(); arcs > 0 {
		w.Model.row("attributes of arcs", fmt.Sprint(arcs))
		w.Model.row("attributes of relations", fmt.Sprint(labels))
	}
	if pairs, source, _ := m.PairAttributes(); pairs > 0 {
		w.Model.row("attributes of pairs", fmt.Sprint(pairs))
		w.Model.row("attributes of unmatched items", fmt.Sprint(source))
	}
	w.Model.row("structure", m.Net.Form().Structure.Name())
	w.Model.row("trained by", "dsp "+m.Version)
}

// drawn says how many examples were drawn.
func drawn(c *config.Config, k int) string {
	if n := tasks.ChooseExamples(c); k < len(n) {
		return fmt.Sprintf("%d examples", n[k])
	}
	return ""
}

// count reads training data to count the examples, if that is quick.
func (w *writer) count(path string) string {
	info, err := os.Stat(path)
	if err != nil || w.model == nil || info.Size() > countedBytes || info.IsDir() {
		return ""
	}
	if d, err := w.model.ReadData(models.Request{Path: path, Threads: w.o.Threads}); err == nil {
		return fmt.Sprintf("%d examples, %d positions", d.Len(), d.Positions())
	}
	return ""
}

// contents says what metrics counted.
func contents(m *structured.Metrics) string {
	text := ""
	for _, name := range []string{"sequences", "tokens", "sentences", "words", "pairs", "images", "labelled"} {
		if n := m.Get(name); !math.IsNaN(n) {
			if text != "" {
				text += ", "
			}
			text += fmt.Sprintf("%.0f %s", n, measureName(name))
		}
	}
	return text
}

// sizeOf says how large a file is, or how many files a folder has.
func sizeOf(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return "not there any more"
	}
	if info.IsDir() {
		files, err := os.ReadDir(path)
		if err != nil {
			return ""
		}
		return fmt.Sprintf("%d files", len(files))
	}
	switch n := float64(info.Size()); {
	case n < 1<<10:
		return fmt.Sprintf("%.0f bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", n/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", n/(1<<20))
	default:
		return fmt.Sprintf("%.2f GiB", n/(1<<30))
	}
}

// Weights are the largest weights of a label.
type Weights struct {
	Label string
	Table
}

// How many weights of how many labels are shown.
const (
	topWeights   = 10
	weightLabels = 40
)

// weights adds the largest weights of attributes.
func (w *writer) weights() {
	all := exchange.Top(w.model, topWeights)
	for k, top := range all {
		if k == weightLabels {
			w.Numbering = append(w.Numbering,
				fmt.Sprintf("The other %d labels are left out; dsp info MODEL --top N has all.", len(all)-k))
			break
		}
		x := Weights{Label: clean(top.Label), Table: Table{Head: []string{"attribute", "weight"}}}
		largest := 0.0
		for _, a := range top.Weights {
			largest = max(largest, math.Abs(float64(a.Weight)))
		}
		for _, a := range top.Weights {
			if a.Weight != 0 {
				x.Rows = append(x.Rows, []Cell{{Text: clean(a.Attribute)},
					{Text: fmt.Sprintf("%+.3g", a.Weight), Shade: math.Abs(float64(a.Weight)) / largest, Wrong: a.Weight < 0}})
			}
		}
		if len(x.Rows) > 0 {
			w.Weights = append(w.Weights, x)
		}
	}
}
