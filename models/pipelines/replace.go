package pipelines

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/characters"
	"github.com/dsp-go/dsp/models/inputs/encoded"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// replacement is the model of another run that takes the place of a stage's.
type replacement struct {
	stage string
	run   string // as it was given
	file  string // its model
}

// replacements reads which stages take the models of other runs, and refuses models that are none of the stage.
func (t *trainer) replacements() ([]replacement, error) {
	var all []replacement
	for _, name := range slices.Sorted(maps.Keys(t.config.Replace)) {
		run := t.config.Replace[name]
		switch {
		case !slices.Contains(stageNames(), name):
			return nil, structured.BadInput("--replace %s=%s: expected a stage: %s", name, run, list(stageNames()))
		case slices.Contains(t.own.skipped(), name):
			return nil, structured.BadInput("--replace %s=%s has no effect with --%s skip=%s", name, run,
				config.OwnSettingsName, t.own.Skip)
		}
		r, err := t.replacement(name, run)
		if err != nil {
			return nil, structured.BadInput("--replace %s=%s: %w", name, run, err)
		}
		all = append(all, r)
	}
	return all, nil
}

// replacement finds the model of a run, or of a pipeline's stage, and checks it.
func (t *trainer) replacement(name, run string) (replacement, error) {
	r := replacement{stage: name, run: run}
	path := run
	if Is(run) {
		path = filepath.Join(filepath.Dir(File(run)), name)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return r, structured.BadInput("that pipeline has no model for the stage")
		}
	}
	file, err := models.FileOf(path)
	if err != nil {
		return r, err
	}
	if r.file = file; sameFile(file, filepath.Join(t.dir, name, models.ModelFile)) {
		return r, structured.BadInput("that is the stage itself; expected another run of it")
	}
	m, err := models.LoadWith(path, encoded.Source{Reader: t.encoder})
	if err != nil {
		return r, err
	}
	if m.Unfinished > 0 {
		return r, structured.BadInput("the run is not finished; dsp train --resume %s continues it", path)
	}
	return r, t.checkKind(name, m)
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(x, y)
}

// checkKind refuses a model that is not of a stage: it reads other columns, has other labels, or rows of another
// encoder.
func (t *trainer) checkKind(name string, m *models.Model) error {
	c := &m.Config
	if name == treesStage {
		if c.Task != "parse" {
			return structured.BadInput("it is a model of --task %s, expected one of --task parse", c.Task)
		}
	} else if expected := t.columnsOf(name); c.Task != "tag" || c.Columns != expected {
		return structured.BadInput("it is a model of --task %s that reads the columns %s, expected a run of this stage: "+
			"--task tag --columns %s (its config.yaml trains one)", c.Task, quoteEmpty(c.Columns), expected)
	}
	switch {
	case m.Encoder != nil && t.encoder == nil:
		return structured.BadInput("it reads the rows of an encoder, and the pipeline has none")
	case m.Encoder != nil && m.Encoder.ID() != t.encoder.ID():
		return structured.BadInput("it reads the rows of another encoder than the pipeline")
	}
	known := []string{characters.Inside, characters.End, characters.SentenceEnd, characters.Multiword,
		characters.MultiwordSentence}
	if name == charactersStage {
		for _, label := range m.Labels.Names() {
			if !slices.Contains(known, label) {
				return structured.BadInput("it has the label %q, expected some of %s", label, list(known))
			}
		}
	}
	return nil
}

func quoteEmpty(text string) string {
	if text == "" {
		return `""`
	}
	return text
}

// columnsOf returns the setting columns of a stage's runs.
func (t *trainer) columnsOf(name string) string {
	switch name {
	case charactersStage:
		return characterTable(nil).columnSetting()
	case wordsStage:
		return multiwordTable(nil, nil).columnSetting()
	}
	k := slices.IndexFunc(tagStages, func(s stage) bool { return s.name == name })
	return tagStages[k].table(nil, nil).columnSetting()
}

// stays reports whether a file of a stage stays when another model takes its place: the labels of folds, which later
// stages learn from, and what begins another run of the stage (dsp train --config STAGE/config.yaml).
func stays(file string) bool {
	if strings.HasPrefix(file, "fold") {
		return true
	}
	return slices.Contains([]string{configFile, "template", "train.conll", "dev.conll", "train.conllu", "dev.conllu"},
		file)
}

// replace puts the model of another run in the place of a stage's.
func (t *trainer) replace(r replacement) error {
	dir := filepath.Join(t.dir, r.stage)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	// it holds for the model that was there
	if err := os.Remove(filepath.Join(t.dir, listFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		if !stays(f.Name()) {
			if err := os.RemoveAll(filepath.Join(dir, f.Name())); err != nil {
				return err
			}
		}
	}
	if err := copyFile(r.file, filepath.Join(dir, models.ModelFile)); err != nil {
		return err
	}
	t.options.Log.Info("the model of another run replaces that of a stage", "stage", r.stage, "run", r.run)
	if was := t.result(r.stage); was != nil {
		if later := t.learnedBehind(r.stage); len(later) > 0 {
			t.options.Log.Warn("stages behind it learned from the model that was there; a new run with --replace "+
				"trains them on this one", "replaced", r.stage, "behind", list(later))
		}
		*was = StageResult{Name: r.stage, Replaced: r.run}
		return t.save()
	}
	t.progress.Stages = append(t.progress.Stages, StageResult{Name: r.stage, Replaced: r.run})
	return t.save()
}

func copyFile(from, to string) (err error) {
	f, err := host.OpenRegular(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return host.WriteFile(to, func(w io.Writer) error {
		_, err := io.Copy(w, f)
		return err
	})
}

// learnedBehind lists the finished stages that read what a stage fills.
func (t *trainer) learnedBehind(name string) []string {
	names := stageNames()
	if name == charactersStage || name == wordsStage { // the others learn from the treebank's words
		return nil
	}
	return slices.DeleteFunc(names[slices.Index(names, name)+1:], func(other string) bool {
		return t.result(other) == nil
	})
}
