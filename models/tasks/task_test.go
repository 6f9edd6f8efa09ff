package tasks

import (
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/nets"
)

// Every task has what no task can do without, and --task takes auto, every task, and nothing else.
func TestTasksAreComplete(t *testing.T) {
	names := []string{"auto"}
	for _, task := range All() {
		names = append(names, task.Name)
		if lacks := task.lacks(); lacks != "" {
			t.Errorf("task %q has no %s", task.Name, lacks)
		}
		if task.Draw == nil && task.FileFormat != "" {
			t.Errorf("task %s has a format beside built-in data, which it has not", task.Name)
		}
		c := config.Default()
		c.Task = task.Name
		if form := task.Output(c, inputs.Inputs{}, 3).Form; form.Structure == nil {
			t.Errorf("task %s scores no structure", task.Name)
		}
	}
	c := config.Default()
	if s, _ := settings.Named(config.Settings(&c), "task"); !slices.Equal(s.Values, names) {
		t.Errorf("--task takes %q, want %q", s.Values, names)
	}
}

// The first task of a format is that of its data where nobody says.
func TestFormatsHaveATask(t *testing.T) {
	for format, want := range map[string]string{formats.Builtin: "ocr", formats.Letters: "ocr",
		formats.Conll: "tag", formats.Conllu: "tag", formats.CRFsuite: "tag", formats.NPZ: "tag"} {
		if got := chooseTask(config.Default(), format); got != want {
			t.Errorf("%s is of task %s, want %s", format, got, want)
		}
	}
	for _, name := range append(formats.Names(), formats.Builtin) {
		for _, task := range formats.Find(name).Tasks {
			if _, ok := Named(task); !ok {
				t.Errorf("format %s has data for task %s, which is none", name, task)
			}
		}
	}
}

// What takes a setting names one that there is.
func TestTakenSettingsExist(t *testing.T) {
	c := config.Default()
	takes := map[string][]string{}
	for _, task := range All() {
		takes["task "+task.Name] = task.Takes
	}
	for _, name := range append(formats.Names(), formats.Builtin) {
		takes["format "+name] = formats.Find(name).Takes
	}
	for _, p := range nets.Presets() {
		takes["net "+p.Name] = p.Settings
	}
	for of, names := range takes {
		for _, name := range names {
			// which programs set
			if _, ok := settings.Named(config.Settings(&c), name); !ok && name != "kernel" && name != "stride" {
				t.Errorf("%s takes %s, which is no setting", of, name)
			}
		}
	}
}

// A metric has one name, which no two kinds of outputs share.
func TestMetricsOfTasks(t *testing.T) {
	outputs := map[string]string{}
	for _, task := range All() {
		for _, m := range task.Metrics {
			if of := outputs[m.Name]; of != "" && of != task.Outputs || m.Name == "objective" || m.Label == "" || m.Of == nil {
				t.Errorf("metric %q of task %s, and of %q", m.Name, task.Name, of)
			}
			outputs[m.Name] = task.Outputs
		}
	}
}

func TestListOfTasks(t *testing.T) {
	for want, among := range map[string]string{"": "", "tag": "tag", "ocr and parse": "parse ocr",
		"ocr, parse and tag": "ocr tag parse"} {
		if got := list(names(func(t Task) bool { return slices.Contains(strings.Fields(among), t.Name) }),
			"and"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
