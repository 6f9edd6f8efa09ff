package pipelines

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
)

// passesOf says how many passes a stage has without development data: as many as are worth their time on most
// treebanks.
var passesOf = map[string]int{charactersStage: 15, wordsStage: 20, upos: 6, xpos: 4, feats: 4, lemma: 4, treesStage: 4}

// A stage that watches development data ends after so many passes without a better result, and after so many in all.
// Those of a parser take long, and the errors of lemmas rise and fall.
const (
	defaultPatience = 3
	lemmaPatience   = 5
	mostPasses      = 40
	mostTreePasses  = 12
)

// biaffinePasses are those of a biaffine parser without development data.
const biaffinePasses = 6

// encodedDropout is that of a biaffine parser that reads an encoder, whose rows are many numbers for each word.
const encodedDropout = 0.2

// parserNet is the network of the parser. With an encoder it is biaffine if nothing is said: a linear one would add
// what the rows of both ends of an arc say; that one sees them together.
func parserNet(c *config.Config) string {
	usual := "linear"
	if c.Encoder != "" {
		usual = "biaffine"
	}
	return cmp.Or(c.StageSettings[treesStage+".net"], usual)
}

// stageSettingsName is the setting that holds those of single stages.
const stageSettingsName = "stage-settings"

// ofStages are the settings that stages take beside those that say how they learn; the pipeline decides the others.
var ofStages = []string{"edges", "min-count", "dropout", "arc-units", "label-units"}

// takesStage reports whether a stage takes a setting of a training.
func takesStage(stage string, s settings.Setting) bool {
	return stage == treesStage && s.Name == "net" ||
		slices.Contains([]string{"Objective", config.MethodGroup}, s.Group) &&
			!slices.Contains([]string{"prior", "teacher", "teacher-share"}, s.Name) ||
		slices.Contains(ofStages, s.Name)
}

func setStage(stage *config.Config, name string, c *config.Config) error {
	all := config.Settings(stage)
	for _, key := range slices.Sorted(maps.Keys(c.StageSettings)) {
		of, setting, ok := strings.Cut(key, ".")
		if !ok || !slices.Contains(stageNames(), of) {
			return structured.BadInput("--%s %s: expected STAGE.NAME=VALUE, with a stage of %s",
				stageSettingsName, key, list(stageNames()))
		}
		if of != name {
			continue
		}
		s, known := settings.Named(all, setting)
		if !known || !takesStage(of, s) {
			return structured.BadInput("--%s %s: a stage has no setting %q of its own; it has those of how a model learns, "+
				"such as passes, patience, reg, loss, method and gap (dsp train --help --task tag), and %s; %s has net, too",
				stageSettingsName, key, setting, list(ofStages), treesStage)
		}
		if err := s.Set(c.StageSettings[key]); err != nil {
			return structured.BadInput("--%s %s: %w", stageSettingsName, key, err)
		}
	}
	return nil
}

// stageConfig returns the settings of a stage: those that it always has, and those that c has for it. A stage that
// watches development data goes on until they stop improving; another one, which that of a fold is, has a number of
// passes.
func stageConfig(c *config.Config, name string, watches bool) (config.Config, error) {
	s := config.Default()
	s.Net, s.Baselines, s.Seed = "linear", "off", c.Seed
	s.Passes = passesOf[name]
	if name == treesStage {
		s.Task, s.Format, s.Tree, s.Crossing = "parse", formats.Conllu, c.Tree, c.Crossing
		switch s.Net = parserNet(c); s.Net {
		case "linear":
			s.Loss, s.Method = "hinge", "bcpfw" // few calls of the oracle, and little memory
		case "biaffine":
			s.Loss, s.Passes = "crf", biaffinePasses
			if c.Encoder != "" {
				s.Dropout = encodedDropout
			}
		default:
			return s, structured.BadInput("--%s %s.net=%s: expected linear or biaffine", stageSettingsName, name, s.Net)
		}
	} else {
		s.Task, s.Format, s.Comments = "tag", formats.Conll, "none" // words may begin with any sign
	}
	if k := slices.IndexFunc(tagStages, func(t stage) bool { return t.name == name }); k >= 0 {
		if tagStages[k].settings != nil {
			tagStages[k].settings(&s)
		}
		if tagStages[k].rows && c.Encoder != "" {
			s.Loss, s.Method = "hinge", "bcpfw" // which comes near the optimum in few passes on rows, too, as sdca does not
			s.Reg = config.Default().Reg
		}
	}
	if watches {
		patience := defaultPatience
		if name == lemma {
			patience = lemmaPatience
		}
		s.Patience = cmp.Or(c.Patience, patience)
		if s.Passes = mostPasses; name == treesStage {
			s.Passes = mostTreePasses
		}
	}
	s.Passes = cmp.Or(c.Passes, s.Passes)
	err := setStage(&s, name, c)
	if !watches {
		s.Patience = 0
	}
	return s, err
}

// checkStages refuses settings of stages that the trainings would refuse later.
func checkStages(c *config.Config, own *Settings) error {
	for key := range c.StageSettings {
		if of, _, _ := strings.Cut(key, "."); slices.Contains(own.skipped(), of) {
			return structured.BadInput("--%s %s has no effect with --%s skip=%s", stageSettingsName, key,
				config.OwnSettingsName, own.Skip)
		}
	}
	for _, name := range stageNames() {
		s, err := stageConfig(c, name, c.Dev != "")
		if err != nil {
			return err
		}
		if c.Dev == "" {
			if _, given := c.StageSettings[name+".patience"]; given {
				return structured.BadInput("--%s %s.patience needs development data to watch: give --dev FILE", stageSettingsName,
					name)
			}
		}
		s.Train, s.Dev = filepath.Join(name, "train"), c.Dev // any: nothing reads it
		if err := tasks.Validate(s); err != nil {
			return structured.BadInput("stage %s: %w", name, err)
		}
	}
	return nil
}
