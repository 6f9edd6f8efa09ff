package tasks

import (
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/settings"
)

// Every task has what no task can do without, and --task takes auto, every task, and nothing else.
func TestTasksAreComplete(t *testing.T) {
	names := []string{"auto"}
	for _, task := range All {
		names = append(names, task.Name)
		if task.Name == "" || task.Outputs == "" || task.Fit == nil || task.Output == nil || task.Net == nil || task.LogLikelihood == nil ||
			task.Layout == nil || task.Compare == nil || len(task.Metrics) == 0 || task.Result == "" || len(task.Columns) == 0 {
			t.Errorf("task %q lacks what every task has", task.Name)
		}
		if task.Draw == nil && task.FileFormat != "" {
			t.Errorf("task %s has a format beside built-in data, which it has not", task.Name)
		}
		if form := task.Output(config.Default(), inputs.Inputs{}, 3).Form; form.Structure == nil {
			t.Errorf("task %s scores no structure", task.Name)
		}
	}
	c := config.Default()
	if s, _ := settings.Named(config.Settings(&c), "task"); !slices.Equal(s.Values, names) {
		t.Errorf("--task takes %q, want %q", s.Values, names)
	}
}

// A format belongs to at most one task, and all but tag's own have one.
func TestFormatsHaveATask(t *testing.T) {
	for format, want := range map[string]string{formats.Builtin: "ocr", formats.Letters: "ocr", formats.Conll: "tag", formats.Conllu: "tag",
		formats.CRFsuite: "tag", formats.NPZ: "tag"} {
		if got := chooseTask(config.Default(), format); got != want {
			t.Errorf("%s is of task %s, want %s", format, got, want)
		}
	}
	for _, format := range append(formats.Names(), formats.Builtin) {
		claims := 0
		for _, task := range All {
			if task.Claims != nil && task.Claims(format) {
				claims++
			}
		}
		if claims > 1 {
			t.Errorf("%d tasks claim format %s", claims, format)
		}
	}
}

// A metric has one name, which no two kinds of outputs share.
func TestMetricsOfTasks(t *testing.T) {
	outputs := map[string]string{}
	for _, task := range All {
		for _, m := range task.Metrics {
			if of := outputs[m.Name]; of != "" && of != task.Outputs || m.Name == "objective" || m.Label == "" || m.Of == nil {
				t.Errorf("metric %q of task %s, and of %q", m.Name, task.Name, of)
			}
			outputs[m.Name] = task.Outputs
		}
	}
}

func TestListOfTasks(t *testing.T) {
	name := func(t Task) string { return t.Name }
	for want, among := range map[string]string{"": "", "tag": "tag", "ocr and parse": "parse ocr", "ocr, tag and parse": "ocr tag parse"} {
		if got := list(name, func(t Task) bool { return slices.Contains(strings.Fields(among), t.Name) }); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
