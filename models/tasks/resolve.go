package tasks

import (
	"cmp"
	"fmt"
	"io"
	"os"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Resolve is the first stage of a training. It validates c as given, and resolves the settings that depend on the
// training file's name and content: the format, the task, and what the columns hold. All later stages take them as they
// are.
func Resolve(c *config.Config) error {
	if _, known := Named(c.Task); !known && c.Task == "pipeline" {
		return structured.BadInput("--task pipeline is for dsp train: a pipeline is several models; tune and export its " +
			"stages, which are models in folders of their own")
	}
	c.Scheme, c.Constraints = chains.SchemeNamed(c.Scheme), chains.SchemeNamed(c.Constraints)
	if err := c.ReadStack(); err != nil {
		return err
	}
	if err := expandFiles(c); err != nil {
		return err
	}
	if err := takePacked(c); err != nil {
		return err
	}
	given := *c
	format, err := chooseFormat(given)
	if err != nil {
		if wrong := Validate(given); wrong != nil {
			return wrong
		}
		return err
	}
	c.Format, c.Task = format, chooseTask(given, format)
	c.Columns, c.Label = formats.Find(format).Fields(given.Columns, given.Label, !Of(c).Labels)
	recogniseColumns(c, given)
	if c.TuneEncoder && c.Net == "auto" { // attributes alone do not choose it
		if c.Net = "linear"; !Of(c).Labels {
			c.Net = Of(c).Net(graph.Input{})
		}
	}
	open := *c
	if complete := Of(c).Complete; complete != nil {
		complete(c)
	}
	if format == formats.Builtin {
		c.Examples = ChooseExamples(c)
	}
	if err := Validate(*c); err != nil {
		if wrong := Validate(open); wrong != nil { // it does not speak of settings that the task completed
			err = wrong
		}
		if c.Train != "" && Validate(given) == nil { // what the file holds does not go with the settings
			err = fmt.Errorf("%s: %w", c.Train, err)
		}
		return err
	}
	if look := Of(c).Look; look != nil {
		return look(c)
	}
	return nil
}

// recogniseColumns names the columns of the training data by what the first file holds, where nothing else names them:
// a template may have their numbers.
func recogniseColumns(c *config.Config, given config.Config) {
	recognise := formats.Find(c.Format).Recognise
	files := formats.Files(c.Train)
	if recognise == nil || given.Columns != "" || given.Template != "" || !Of(c).Labels ||
		len(files) == 0 || !host.Rereads(files[0]) {
		return
	}
	_ = formats.Open(files[0], func(r io.Reader) error { // whose errors the reader of the data reports
		c.Columns = cmp.Or(recognise(r, files[0], formats.Options{Comments: c.Comments}), c.Columns)
		return nil
	})
}

// expandFiles replaces patterns and folders by the files that they stand for.
func expandFiles(c *config.Config) error {
	for _, s := range []struct {
		name string
		to   *string
	}{{"train", &c.Train}, {"dev", &c.Dev}, {"test", &c.Test}} {
		format := c.Format
		if info, err := os.Stat(*s.to); format == "" && err == nil && info.IsDir() && Of(c).FileFormat == formats.Images {
			format = formats.Images // its reader says what the folder lacks
		}
		files, err := formats.Expand(s.name, *s.to, format)
		if err != nil {
			return err
		}
		*s.to = files
	}
	if len(formats.Files(c.Train)) > 1 && c.Fold >= 0 {
		return structured.BadInput("--fold %d parts one file into training and test data; %s are several", c.Fold, c.Train)
	}
	return nil
}

// chooseFormat returns the format of the training data.
func chooseFormat(c config.Config) (string, error) {
	switch {
	case c.Train == "" && c.Format == "":
		return formats.Builtin, nil
	case c.Format == "":
		format, err := formats.DetectAll(c.Train)
		if info, wrong := os.Stat(c.Train); err != nil && wrong == nil && info.IsDir() &&
			Of(&c).FileFormat == formats.Images {
			return formats.Images, nil // its reader says what the folder lacks
		}
		return format, err
	}
	return c.Format, nil
}

// chooseTask returns the task, which data of a format decide if it is open.
func chooseTask(c config.Config, format string) string {
	if c.Task != "auto" {
		return c.Task
	}
	return ForFormat(format).Name
}

// ForFormat returns the task of data of a format where nothing else names one.
func ForFormat(format string) Task {
	if of := formats.Find(format).Tasks; len(of) > 0 {
		if t, ok := Named(of[0]); ok {
			return t
		}
	}
	return tag
}
