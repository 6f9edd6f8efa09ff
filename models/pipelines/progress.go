package pipelines

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/inputs/encoded"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// progress is what progressFile holds.
type progress struct {
	Data     map[string]string `json:"data"` // the hash of each file
	Own      Settings          `json:"settings"`
	Seed     uint64            `json:"seed"`
	Passes   int               `json:"passes"`
	Patience int               `json:"patience,omitempty"`
	Stage    string            `json:"stage_settings,omitempty"`
	Tree     string            `json:"tree"`
	Crossing string            `json:"crossing"`
	Encoder  string            `json:"encoder,omitempty"` // what identifies its rows
	Refers   bool              `json:"encoder_by_reference,omitempty"`
	Stages   []StageResult     `json:"stages"` // that are finished
}

// begin begins a run in the folder, or checks that the run there has the same data and settings.
func (t *trainer) begin() error {
	if t.config.Resume != "" {
		return t.resumed()
	}
	for _, name := range []string{configFile, progressFile, listFile} {
		if _, err := os.Stat(filepath.Join(t.dir, name)); err == nil {
			return structured.BadInput("--out %s: there is a run already; continue it with --resume %s, or name another folder",
				t.dir, t.dir)
		}
	}
	t.config.Out = t.dir
	err := t.ownEncoder(true)
	if err == nil {
		err = t.save()
	}
	if err != nil {
		return err
	}
	c := t.config
	c.Replace = nil // done once; the progress says so
	return host.WriteFile(filepath.Join(t.dir, configFile), func(w io.Writer) error { return c.Write(w) })
}

// resumed reads what was done, and refuses to go on with other data or settings.
func (t *trainer) resumed() error {
	path := filepath.Join(t.dir, progressFile)
	text, err := host.ReadRegular(path, mostJSON)
	if errors.Is(err, fs.ErrNotExist) {
		return structured.BadInput("--resume %s: no %s there; expected the folder of a pipeline", t.dir, progressFile)
	}
	if err != nil {
		return err
	}
	var was progress
	if err := json.Unmarshal(text, &was); err != nil {
		return structured.BadInput("%s: %w", path, err)
	}
	for name, hash := range t.progress.Data {
		if was.Data[name] != hash {
			return structured.BadInput("--resume %s: --%s has other data than the run began with", t.dir, name)
		}
	}
	if t.progress.Encoder != was.Encoder {
		return structured.BadInput("--resume %s: the run has other settings: --encoder gives other rows than the one that "+
			"the run began with; leave it out, or start a new run", t.dir)
	}
	now := t.progress
	now.Stages, now.Data = was.Stages, was.Data
	for _, s := range []struct {
		name     string
		now, was any
	}{
		{config.OwnSettingsName, now.Own, was.Own}, {"seed", now.Seed, was.Seed}, {"passes", now.Passes, was.Passes},
		{"patience", now.Patience, was.Patience}, {stageSettingsName, now.Stage, was.Stage},
		{"tree", now.Tree, was.Tree}, {"crossing", now.Crossing, was.Crossing},
		{"encoder-by-reference", now.Refers, was.Refers},
	} {
		if s.now != s.was {
			return structured.BadInput("--resume %s: the run has other settings: --%s was %v, and is %v now; leave it "+
				"out, or start a new run", t.dir, s.name, s.was, s.now)
		}
	}
	t.progress = now
	return t.ownEncoder(false)
}

func (t *trainer) save() error { return writeJSON(filepath.Join(t.dir, progressFile), &t.progress) }

// done reports whether a stage is to be left out, or finished; then it is listed.
func (t *trainer) done(name string) (bool, error) {
	if slices.Contains(t.own.skipped(), name) {
		return true, nil
	}
	r := t.result(name)
	if r == nil {
		return false, nil
	}
	return true, t.list(r)
}

// list adds a finished stage to the list.
func (t *trainer) list(r *StageResult) error {
	if r.Constant != nil {
		t.stages = append(t.stages, manifestStage{Name: r.Name, Constant: *r.Constant})
		return nil
	}
	s := manifestStage{Name: r.Name, Model: r.Name + "/" + models.ModelFile}
	m, err := models.LoadWith(filepath.Join(t.dir, s.Model), encoded.Source{Reader: t.encoder})
	if err != nil {
		return err
	}
	s.Weights = hashWeights(m)
	s.SHA256, err = hashFile(filepath.Join(t.dir, s.Model))
	t.stages = append(t.stages, s)
	return err
}

// result returns the outcome of a finished stage.
func (t *trainer) result(name string) *StageResult {
	k := slices.IndexFunc(t.progress.Stages, func(r StageResult) bool { return r.Name == name })
	if k < 0 {
		return nil
	}
	return &t.progress.Stages[k]
}

// spent adds to the seconds of a finished stage those of its folds.
func (t *trainer) spent(name string, seconds float64) error {
	t.result(name).Seconds += seconds
	return t.save()
}

// finished records that a stage is finished.
func (t *trainer) finished(r StageResult) error {
	t.progress.Stages = append(t.progress.Stages, r)
	if err := t.list(&r); err != nil {
		return err
	}
	return t.save()
}
