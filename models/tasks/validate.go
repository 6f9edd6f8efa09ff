package tasks

import (
	"slices"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/encoders"
	"github.com/dsp-go/dsp/structured"
)

// Validate refuses, as bad input, values out of range and settings that have no effect with the others. Settings that
// depend on a choice left to "auto" are checked again once the choice is made.
func Validate(c config.Config) error {
	if err := ValidateModel(c); err != nil {
		return err
	}
	for _, s := range config.Settings(&c) {
		if s.Group != config.MethodGroup {
			continue
		}
		if err := CheckSetting(s, &c); err != nil {
			return err
		}
	}
	if c.BatchTokens > 0 && c.ModelBatch > 0 && c.Given.Has("model-batch") { // what a run chose for itself stays
		return structured.BadInput("--model-batch %v and --batch-tokens %d both say how large a step is; give one",
			c.ModelBatch, c.BatchTokens)
	}
	return c.CheckMethod()
}

// ValidateModel is Validate without the settings of MethodGroup. Those of a model file may come from a version of dsp
// in which other settings of a method had an effect, or other defaults.
func ValidateModel(c config.Config) error {
	if err := Failed(); err != nil {
		return err
	}
	for _, s := range config.Settings(&c) {
		if s.Group == config.MethodGroup {
			continue
		}
		if err := CheckSetting(s, &c); err != nil {
			return err
		}
	}
	if err := c.CheckDevice(); err != nil {
		return err
	}
	task, known := Named(c.Task)
	switch {
	case known && task.Draw == nil && c.Train == "" && c.Resume == "":
		return structured.BadInput("--task %s needs training data: give --train FILE (only %s have built-in data)", c.Task,
			list(names(func(t Task) bool { return t.Draw != nil }), "and"))
	case c.Format == formats.Builtin && c.Train+c.Dev+c.Test != "":
		return structured.BadInput("--format builtin draws its own data; leave out --train, --dev and " +
			"--test, or name their format")
	case c.Train == "" && c.Dev+c.Test != "":
		return structured.BadInput("--dev and --test need --train: built-in data comes with its own")
	case c.Format != "" && c.Format != formats.Builtin && c.Train == "" && c.Resume == "":
		return structured.BadInput("--format %s needs training data: give --train FILE", c.Format)
	}
	if known {
		if err := task.checkFormat(c.Format); err != nil {
			return err
		}
		if _, err := task.own(c.TaskSettings); err != nil {
			return err
		}
	}
	if f := formats.Find(c.Format); f.Name != "" {
		if err := f.CheckOwn(c.FormatSettings); err != nil {
			return err
		}
	}
	if known && task.Check != nil {
		if err := task.Check(c); err != nil {
			return err
		}
	}
	if _, err := encoders.ParseAdapter(c.Adapter); err != nil {
		return structured.BadInput("--adapter: %w", err)
	}
	switch {
	case c.Template != "" && c.Features != "auto":
		return structured.BadInput("--template %s and --features %s both say what the attributes are; give one", c.Template,
			c.Features)
	case readsWordsAlone(c.Preset()) && c.Features != "auto" && c.Features != "none":
		return structured.BadInput("--features %s makes attributes, which --net %s does not read; use --net linear, "+
			"or leave out --features", c.Features, c.Net)
	case c.AttributeUnits > 0 && c.Features == "none":
		return structured.BadInput("--attribute-units %d sums attributes, but --features none makes none", c.AttributeUnits)
	case c.L1 > 0 && c.Prior != "":
		return structured.BadInput("--l1 %v makes weights zero, and --prior %s keeps them near those of a model: give one",
			c.L1, c.Prior)
	case c.L1 > 0 && c.Init != "" && !sparseFromAnywhere(&c):
		return structured.BadInput("--l1 %v with --init: dual methods cannot start there, because weights do not tell what "+
			"they were before the threshold; use --method owl-qn, which starts from any weights, or leave out --init", c.L1)
	case c.Prior != "" && c.Reg == 0:
		return structured.BadInput("--prior %s has no effect with --reg 0: give --reg above 0, or --init %s to "+
			"start from the model only", c.Prior, c.Prior)
	case c.TeacherShare > 1:
		return structured.BadInput("--teacher-share %v: expected a share from 0 to 1", c.TeacherShare)
	case c.Teacher != "" && c.Scheme != "keep" && !bySegments(&c):
		return structured.BadInput("--scheme %s converts tags as they are read; with --teacher, labels are the teacher's",
			c.Scheme)
	case c.Teacher != "" && c.Init+c.Prior != "":
		return structured.BadInput("--teacher %s and --init or --prior both say what labels there are; give one", c.Teacher)
	case c.TuneEncoder && c.Init != "" && c.EncoderRows == "float16":
		return structured.BadInput("--init %s with --tune-encoder: an encoder that is trained has no rows to round to "+
			"float16; start from a model that was trained without --encoder-rows", c.Init)
	case c.TuneEncoder && c.EncoderPrecision == string(encoders.Int8) && c.Init != "":
		return structured.BadInput("--init %s with --tune-encoder: an encoder that is trained multiplies in float32; start "+
			"from a model that was "+
			"trained without --encoder-precision", c.Init)
	case c.TuneEncoder && c.EncoderPrecision == string(encoders.Int8):
		return structured.BadInput("--encoder-precision int8 is for encoders that stay as they are; with --tune-encoder " +
			"products are in float32")
	case c.TuneEncoder && (c.Gives("encoder-rows") || c.Gives("encoder-cache")):
		return structured.BadInput("--encoder-rows and --encoder-cache are for encoders that stay as they are; with " +
			"--tune-encoder no rows are kept")
	case c.TuneEncoder && c.L1 > 0:
		return structured.BadInput("--l1 %v needs scores that are linear in the weights, which "+
			"--tune-encoder does not leave so", c.L1)
	case c.Partial && c.Scheme != "keep":
		return structured.BadInput("--scheme %s converts tags that are known; with --partial, give them in that scheme",
			c.Scheme)
	case c.HashBits > config.MaxHashBits:
		return structured.BadInput("--hash-bits %d: expected at most %d", c.HashBits, config.MaxHashBits)
	case c.Fold >= 0 && c.Test != "":
		return structured.BadInput("--fold %d and --test both say what the test data is; give one", c.Fold)
	case len(c.Examples) != 3:
		return structured.BadInput("--examples %v: expected three numbers, for training, development and test", c.Examples)
	case c.Dropout >= 1:
		return structured.BadInput("--dropout %v: expected a probability below 1", c.Dropout)
	}
	return nil
}

// readsWordsAlone reports whether a preset of chains reads words, and no attributes.
func readsWordsAlone(p *nets.Preset) bool {
	return p.CanRead(nets.ReadsWords) && !p.CanRead(nets.ReadsAttributes) && p.CanScore(nets.ScoresPositions)
}

// reads reports whether files of a format can hold data for the task.
func (t Task) reads(f formats.Format) bool {
	return slices.Contains(f.Tasks, t.Name) || slices.Contains(t.Formats, f.Name)
}

// checkFormat refuses a format without data for the task; an open one is chosen later.
func (t Task) checkFormat(format string) error {
	f := formats.Find(format)
	if f.Name == "" || format == formats.Builtin && t.Draw != nil || t.reads(f) {
		return nil
	}
	var readers []string
	for _, f := range formats.All() {
		if t.reads(f) {
			readers = append(readers, f.Name)
		}
	}
	return structured.BadInput("--format %s has no %s for --task %s, which reads %s; use --task %s", format, t.Outputs,
		t.Name, list(readers, "or"), list(Reading(f), "or"))
}

// sparseFromAnywhere reports whether the method minimises λ₁‖w‖₁ from any weights.
func sparseFromAnywhere(c *config.Config) bool {
	d, chosen := c.Optimiser()
	return chosen && d.TakesL1() && !d.Dual
}
