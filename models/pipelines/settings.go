package pipelines

import (
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
)

// Task is the value of the setting task that asks for a pipeline. It is no task of a single model: package tasks does
// not list it.
const Task = "pipeline"

// Summary says what it learns.
const Summary = "raw text to sentences, words, tags, lemmas and dependency trees, in stages (docs/guide/pipelines.md)"

func init() { config.AddTask(Task, true) }

// Settings are the settings that only pipelines have (--task-settings).
type Settings struct {
	Folds int     `yaml:"folds" help:"parts of the treebank, each tagged by a model of the others, for the later stages; 2 or more" min:"2"`
	Vary  float64 `yaml:"vary" help:"share of the training sentences whose punctuation gets other spaces, or other quotes" min:"0" max:"1"`
	Skip  string  `yaml:"skip" help:"stages to leave out, with + between them, such as xpos+lemma"`
}

// Default are the settings where nothing is given.
var Default = Settings{Folds: 3, Vary: 0.2}

// taken are the settings of a training that a pipeline takes.
var taken = []string{
	"task", config.OwnSettingsName, "train", "dev", "test", "format",
	"encoder", "encoder-layers", "pieces", "encoder-rows", "encoder-precision", "encoder-cache", "encoder-by-reference",
	"tree", "crossing", "passes", "patience", "stage-settings", "seed", "replace", "threads", "out",
	"resume", "quiet", "json", "ranks",
}

// Takes reports whether a pipeline takes a setting of a training.
func Takes(setting string) bool { return slices.Contains(taken, setting) }

// Help says what a setting means for a pipeline where that is not what it means for a single model; else it is empty.
func Help(setting string) string {
	switch setting {
	case "passes":
		return "most passes of every stage; 0: until patience ends it; without --dev, a number of its own"
	case "patience":
		return "passes without a better result on development data after which a stage ends; 0: 3, or 5 for lemma"
	}
	return ""
}

// ownSettings reads the settings that only pipelines have, and refuses those of single models.
func ownSettings(c *config.Config) (Settings, error) {
	for _, s := range config.Settings(c) {
		if Takes(s.Name) {
			if err := config.CheckSetting(s, c); err != nil {
				return Settings{}, err
			}
			continue
		}
		if !c.Asks(s) {
			continue
		}
		if s.Name == "tune-encoder" {
			return Settings{}, structured.BadInput("--tune-encoder: the stages of a pipeline share the rows of an encoder " +
				"that stays as it is; tune it in a tagger or a parser (--task tag, --task parse)")
		}
		return Settings{}, structured.BadInput("--%s has no effect with --task %s, whose stages have settings of their "+
			"own; it takes %s, and --%s%s",
			s.Name, Task, "--"+strings.Join(taken[2:], " --"), config.OwnSettingsName, settings.Listed(settings.Of(&Settings{})))
	}
	if c.Format != "" && c.Format != formats.Conllu {
		return Settings{}, structured.BadInput("--format %s: --task %s learns from CoNLL-U", c.Format, Task)
	}
	own, err := settings.Fill(Default, c.TaskSettings, config.OwnSettingsName, "--task "+Task)
	if err != nil {
		return Settings{}, err
	}
	o := *own.(*Settings)
	for _, name := range o.skipped() {
		if !slices.Contains(stageNames(), name) {
			return o, structured.BadInput("--%s skip=%s: expected stages: %s", config.OwnSettingsName,
				o.Skip, list(stageNames()))
		}
	}
	readers := append(rowStages(), treesStage)
	if c.Encoder != "" && !slices.ContainsFunc(readers, func(name string) bool {
		return !slices.Contains(o.skipped(), name)
	}) {
		return o, structured.BadInput("--encoder %s has no effect with --%s skip=%s, which leaves out the "+
			"stages that read it: %s", c.Encoder, config.OwnSettingsName, o.Skip, list(readers))
	}
	if c.Patience > 0 && c.Dev == "" {
		return o, structured.BadInput("--patience %d needs development data to watch: give --dev FILE", c.Patience)
	}
	return o, checkStages(c, &o)
}

// skipped lists the stages that are left out.
func (s *Settings) skipped() []string {
	if s.Skip == "" {
		return nil
	}
	return strings.Split(s.Skip, "+")
}
