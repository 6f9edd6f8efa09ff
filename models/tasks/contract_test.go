package tasks

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// drawnFor draws few examples for a task as a training does.
func drawnFor(t *testing.T, task Task, seed uint64,
	sizes settings.Sizes) (c config.Config, sets [3]*structured.Dataset) {
	t.Helper()
	c = config.Default()
	c.Task, c.Seed = task.Name, seed
	give(t, &c, "examples", sizes.String())
	if task.Name == "localise" {
		give(t, &c, "candidates", "40")
	}
	if err := Resolve(&c); err != nil {
		t.Fatal(err)
	}
	var err error
	if sets[0], sets[1], sets[2], err = task.Draw(&c); err != nil {
		t.Fatal(err)
	}
	return c, sets
}

// eachDrawn runs a test for each task that draws data.
func eachDrawn(t *testing.T, test func(t *testing.T, task Task)) {
	for _, task := range All() {
		if task.Draw != nil {
			t.Run(task.Name, func(t *testing.T) { test(t, task) })
		}
	}
}

// goldOf returns the gold output of an example as a model would predict it.
func goldOf(d *structured.Dataset, i int) []int32 {
	if d.Readings != nil {
		return d.Readings[i]
	}
	return d.Gold(i)
}

// Drawn data are as many examples as settings say, the same for a seed, others for another, and the sets differ.
func TestDrawnDataAreThoseOfTheirSeed(t *testing.T) {
	eachDrawn(t, func(t *testing.T, task Task) {
		sizes := settings.Sizes{2, 1, 1}
		_, one := drawnFor(t, task, 7, sizes)
		_, two := drawnFor(t, task, 7, sizes)
		_, other := drawnFor(t, task, 8, sizes)
		print := func(d *structured.Dataset) string {
			text := fmt.Sprint(d.Labels, d.Readings, d.Columns, d.Offsets)
			if d.Source == nil && len(d.Features) > 0 {
				text += fmt.Sprint(d.Features)
			}
			return text
		}
		for k, d := range one {
			if d.Len() != sizes[k] {
				t.Errorf("set %d has %d examples, want %d", k, d.Len(), sizes[k])
			}
			if print(d) != print(two[k]) {
				t.Errorf("set %d differs from that of the same seed", k)
			}
			if print(d) == print(other[k]) || k > 0 && print(d) == print(one[k-1]) {
				t.Errorf("set %d is that of another seed, or of another set", k)
			}
			if d.Alphabet != nil && one[0].Alphabet != nil && k > 0 && !task.Nameless {
				if names := one[0].Alphabet.Names(); !slices.Equal(d.Alphabet.Names()[:len(names)], names) {
					t.Errorf("set %d numbers labels in another way: %v", k, d.Alphabet.Names())
				}
			}
		}
	})
}

// Gold outputs are compared as right: no metric is better than theirs, and outputs of which some are wrong are worse.
// The main metrics are those of the report, the report is JSON and text, and a metric is the mean of its shares.
func TestGoldOutputsAreBest(t *testing.T) {
	eachDrawn(t, func(t *testing.T, task Task) {
		_, sets := drawnFor(t, task, 3, settings.Sizes{5, 4, 1})
		d := sets[1]
		names := sets[0].Alphabet
		compare := func(wrong int) (structured.Metrics, Report) {
			c := task.Compare(names, d, false)
			if again, ok := c.(Repeatable); ok {
				c = again.Again()
			}
			for i := range d.Len() {
				y := slices.Clone(goldOf(d, i))
				if i < wrong {
					y = wrongOutput(task, d, i)
				}
				Add(c, d, i, &predictions.Prediction{Output: predictions.Output{Labels: y}})
			}
			r := c.Report()
			if !reflect.DeepEqual(Measures(c), r.General()) {
				t.Errorf("measures %v, in the report %v", Measures(c), r.General())
			}
			return r.General(), r
		}
		gold, report := compare(0)
		worse, _ := compare(d.Len())
		half, _ := compare(2)
		for _, m := range task.Metrics {
			best, bad, some := m.Of(&gold), m.Of(&worse), m.Of(&half)
			if best > 1+1e-12 || best < 0.2 || bad >= best || some > best || bad > some {
				t.Errorf("%s: %g of gold outputs, %g of two wrong ones, %g of wrong ones", m.Name, best, some, bad)
			}
			// to predict the truth that is compared
			able := !slices.Contains([]string{"align", "warp", "localise", "segment"}, task.Name)
			if able && best != 1 && !math.IsNaN(best) {
				t.Errorf("%s: %g of gold outputs", m.Name, best)
			}
			var classes []string
			if names != nil {
				classes = names.Names()
			}
			shares, sum, n := m.Shares(&half, classes), 0.0, 0
			for _, s := range shares {
				if s.Part < 0 || s.Part > s.Whole {
					t.Errorf("%s: %g of %g", m.Name, s.Part, s.Whole)
				}
				if s.Whole > 0 {
					sum, n = sum+s.Part/s.Whole, n+1
				}
			}
			if n > 0 && (sum/float64(n)-some > 1e-9 || some-sum/float64(n) > 1e-9) {
				t.Errorf("%s is %g, and the mean of its shares %g", m.Name, some, sum/float64(n))
			}
		}
		for _, column := range task.Columns {
			if !slices.ContainsFunc(gold.Measures, func(m structured.Measure) bool { return m.Name == column.Measure }) &&
				column.Measure != "f1" {
				t.Errorf("the table of results has a column %s, which no report has", column.Measure)
			}
		}
		text, err := json.Marshal(report)
		var members map[string]any
		if err != nil || json.Unmarshal(text, &members) != nil {
			t.Fatalf("%s: %v", text, err)
		}
		for _, m := range gold.Measures {
			if _, ok := members[m.Name]; !ok {
				t.Errorf("the JSON of a report has no %s: %s", m.Name, text)
			}
		}
		short, long := report.Text(ReportOptions{}), report.Text(ReportOptions{Labels: true, Confusions: 3})
		if len(short) == 0 || !strings.HasSuffix(short, "\n") || !strings.HasPrefix(long, short) {
			t.Errorf("%q, with more\n%q", short, long)
		}
		if task.Describe != nil {
			if change := task.Describe(d); change.Message == "" || len(change.Values)%2 != 0 || change.Values[1] != any(d.Name) {
				t.Errorf("%+v", change)
			}
		}
	})
}

// wrongOutput returns an output of an example that has nothing right, as far as its structure allows.
func wrongOutput(task Task, d *structured.Dataset, i int) []int32 {
	y := slices.Clone(goldOf(d, i))
	switch task.Outputs {
	case "links":
		if task.Name == "warp" {
			for k := range y {
				y[k] = 0
			}
			_, longest := task.Untrained(inputs.Inputs{})
			return longest(d, i)
		}
		for k := range y { // nothing is linked
			y[k] = 0
		}
	case "trees of constituents":
		n := d.Length(i)
		for at := range y {
			y[at] = 0
		}
		y[n-1] = 1 + (d.Gold(i)[n-1])%int32(d.Alphabet.Len())
	case "trees":
		n := len(y) / 2
		for k := range n { // a chain to the left
			y[k] = int32(k)
			y[n+k] = (y[n+k] + 1) % int32(d.Alphabet.Len())
		}
	case "boxes":
		y[0]++
		if y[0] >= int32(d.Length(i)) {
			y[0] = 0
		}
	case "strings":
		return nil
	default:
		for k := range y {
			y[k] = (y[k] + 1) % int32(d.Alphabet.Len())
		}
	}
	return y
}

// Networks are those that score outputs of the task: the one of auto is accepted, and of all presets those are refused,
// by name, that score something else.
func TestNetworksOfTasks(t *testing.T) {
	for _, task := range All() {
		for _, in := range []graph.Input{{Dim: 5}, {Vocab: []int{7}},
			{Dim: 12, Map: graph.Map{Height: 2, Width: 2, Channels: 3}}} {
			name := task.Net(in)
			if _, ok := nets.FindPreset(name); !ok {
				t.Errorf("%s: auto is %q, which is none", task.Name, name)
			}
			if task.CheckNet != nil && task.CheckNet(name) != nil {
				t.Errorf("%s: auto is %s: %v", task.Name, name, task.CheckNet(name))
			}
		}
		if task.CheckNet == nil {
			continue
		}
		for _, p := range nets.Presets() {
			scores := map[string]string{"parse": nets.ScoresArcs, "constituency": nets.ScoresArcs, "graph": nets.ScoresNodes,
				"segment": nets.ScoresNodes}[task.Name]
			want := p.CanScore(scores) && !(task.Name == "graph" && p.CanRead(nets.ReadsMaps))
			if err := task.CheckNet(p.Name); (err == nil) != want || err != nil &&
				(!structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), "--net "+p.Name+" does not score ")) {
				t.Errorf("%s --net %s: %v", task.Name, p.Name, err)
			}
		}
		if err := task.CheckNet("own-network"); err != nil {
			t.Errorf("%s: a network of the program's own: %v", task.Name, err)
		}
	}
}

// The net of sequences follows from what they have: words, images of letters, or other numbers.
func TestNetOfLabels(t *testing.T) {
	for want, in := range map[string]graph.Input{
		"embed":     {Vocab: []int{3}, Dim: nets.ImageHeight * nets.ImageWidth},
		"cnn-image": {Dim: nets.ImageHeight * nets.ImageWidth}, "mlp": {Dim: nets.ImageHeight*nets.ImageWidth + 1},
	} {
		if got := labelNet(in); got != want {
			t.Errorf("%+v: %s, want %s", in, got, want)
		}
	}
	localise, _ := Named("localise")
	for want, in := range map[string]graph.Input{"conv-crop": {Map: graph.Map{Height: 4, Width: 4, Channels: 3}},
		"linear": {Map: graph.Map{Height: 4, Width: 4, Channels: 4}}} {
		if got := localise.Net(in); got != want {
			t.Errorf("%+v: %s, want %s", in, got, want)
		}
	}
}

// Labels are learned by their likelihood where attributes, an encoder or the network's layers make that the custom, and
// trees always; links, boxes and graphs have no likelihood.
func TestLogLikelihoodOfTasks(t *testing.T) {
	c := config.Default()
	for name, want := range map[string]bool{"align": false, "warp": true, "constituency": true, "parse": true,
		"graph": false, "segment": false, "localise": false, "transcribe": true, "tag": false, "ocr": false} {
		task, _ := Named(name)
		if got := task.LogLikelihood(c, inputs.Inputs{}); got != want {
			t.Errorf("%s: %v", name, got)
		}
		if attributes := task.LogLikelihood(c, inputs.Inputs{Dictionary: &structured.Dictionary{}}); attributes != (want ||
			task.Labels) {
			t.Errorf("%s with attributes: %v", name, attributes)
		}
	}
}

// Predictions that need no training are outputs of the structure.
func TestUntrainedOutputs(t *testing.T) {
	eachDrawn(t, func(t *testing.T, task Task) {
		if task.Untrained == nil {
			return
		}
		c, sets := drawnFor(t, task, 3, settings.Sizes{8, 6, 6})
		c.Net = "linear"
		in, err := task.Fit(&c, inputs.Alone(sets[0]))
		if err != nil {
			t.Fatal(err)
		}
		name, predict := task.Untrained(in)
		if name == "" || predict == nil {
			t.Fatalf("%q", name)
		}
		comparison := task.Compare(nil, sets[0], false)
		for i := range sets[0].Len() {
			y := predict(sets[0], i)
			if len(y) != len(sets[0].Gold(i)) {
				t.Fatalf("example %d: %d numbers, want %d", i, len(y), len(sets[0].Gold(i)))
			}
			comparison.Add(sets[0], i, y)
		}
		m := Measures(comparison)
		if got := task.Metrics[0].Of(&m); !(got > 0.1 && got < 1) {
			t.Errorf("%s: %s %g", name, task.Metrics[0].Name, got)
		}
		if _, none := task.Untrained(inputs.Inputs{}); task.Name == "align" && none != nil {
			t.Error("links are predicted without statistics")
		}
	})
}
