package training

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/pictures/curves"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/train/record/tensorboard"
)

// The files of a run folder, besides ModelFile and TensorBoard's events.
const (
	configFile       = models.ConfigFile
	metricsFile      = "metrics.jsonl"
	curvesFile       = "curves.png"       // and curves.svg
	lastFile         = "last.safetensors" // the model of the last pass, where ModelFile is the best on development data
	checkpointFolder = models.CheckpointFolder
)

// drawCurves draws the curves of the runs in a run folder, as a picture of pixels and as one that scales.
// DSP_CURVES=off is for tests: to draw takes a third of a run on few examples.
func drawCurves(dir string, runs []curves.Run) error {
	if os.Getenv("DSP_CURVES") == "off" {
		return nil
	}
	path := filepath.Join(dir, curvesFile)
	return errors.Join(curves.Write(path, runs...), curves.Write(strings.TrimSuffix(path, ".png")+".svg", runs...))
}

// ReadRun reads the configuration of the run in a folder, set up to continue it: Resume and Out are the folder.
func ReadRun(dir string) (config.Config, error) {
	path := filepath.Join(dir, configFile)
	about, err := os.Stat(dir)
	if _, missing := os.Stat(path); errors.Is(missing, fs.ErrNotExist) || err == nil && !about.IsDir() {
		return config.Config{}, structured.BadInput("--resume %s: no %s there; expected the folder of a run", dir, configFile)
	}
	c, err := config.ReadConfig(path)
	c.Resume, c.Out = dir, dir
	return c, err
}

// RunsFolder is the folder of runs whose folders nobody names.
const RunsFolder = "runs"

// makeRunFolder makes the folder c.Out, or one named after the task and the time, and locks it until release is called.
// A folder that already holds a run is refused unless c resumes that run, and so is one that another process trains in.
// Files that a killed run has not finished writing are removed.
func makeRunFolder(c *config.Config) (release func() error, err error) {
	if c.Out = cmp.Or(c.Resume, c.Out); c.Out == "" {
		c.Out, err = host.TimedFolder(RunsFolder, c.Task, time.Now())
	} else {
		err = os.MkdirAll(c.Out, 0o777)
	}
	if err != nil {
		return nil, structured.BadInput("--out: %w", err)
	}
	release, err = host.LockFolder(c.Out)
	switch {
	case err != nil && c.Resume != "":
		return nil, fmt.Errorf("--resume: %w", err)
	case err != nil:
		return nil, fmt.Errorf("--out: %w", err)
	}
	if _, err := os.Stat(filepath.Join(c.Out, configFile)); err == nil && c.Resume == "" {
		err = structured.BadInput("--out %s: there is a run already; continue it with --resume %s, or name another folder", c.Out, c.Out)
		return nil, errors.Join(err, release())
	}
	host.RemoveUnfinished(c.Out, configFile, models.ModelFile, lastFile) // others may write files of their own there
	host.RemoveUnfinished(filepath.Join(c.Out, checkpointFolder))
	return release, nil
}

// discard removes what a run has written to its folder that was refused before its first pass.
func discard(dir string) error {
	var err error
	for _, name := range []string{checkpointFolder, configFile, metricsFile, tensorboard.EventFile} {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, name)))
	}
	return err
}

// writeConfig writes the resolved configuration into the run folder. It says where an encoder is that the model refers
// to, from whatever folder that is read.
func writeConfig(c *config.Config) error {
	if c.Encoder != "" && c.EncoderByReference {
		absolute := *c
		var err error
		if absolute.Encoder, err = filepath.Abs(c.Encoder); err != nil {
			return err
		}
		c = &absolute
	}
	return host.WriteFile(filepath.Join(c.Out, configFile), func(w io.Writer) error { return c.Write(w) })
}

// checkResumed refuses to resume a run with different settings, as far as they change the weights.
func checkResumed(c config.Config) error {
	was, err := ReadRun(c.Resume)
	if err != nil {
		return err
	}
	before, now := identityOf(was), identityOf(c)
	for _, s := range config.Settings(&c) {
		if name := s.Stored(); before[name] != now[name] {
			return structured.BadInput("--resume %s: the run has --%s %s, not %s; leave it out, or start a new run", c.Resume, s.Name,
				before[name], now[name])
		}
	}
	return nil
}

// warnIfLonger says where a run goes on with another number of passes although that decides its steps.
func (r *Run) warnIfLonger() {
	was, err := ReadRun(r.config.Resume)
	if r.config.Resume == "" || err != nil { // a run that ended before it began has no settings
		return
	}
	d, ok := r.config.Optimiser()
	if !ok || d.ByPasses == nil || was.Passes == r.config.Passes {
		return
	}
	if what := d.ByPasses(&r.config.Settings); what != "" {
		r.o.Log.Warn(what, "was", was.Passes, "now", r.config.Passes)
	}
}

// drawnBy are the settings that decide the weights by what is drawn alone, which checkpoints know by fingerprints.
// Those of older versions say otherwise how much was drawn where the settings left it to the task.
var drawnBy = []string{"examples"}

// identityOf returns the settings that decide the weights after a given number of passes, by name. The number of passes
// of the run is not among them, so that a run can be continued for longer (warnIfLonger).
func identityOf(c config.Config) map[string]string {
	c = c.ForModel()
	identity := map[string]string{}
	for _, s := range config.Settings(&c) {
		switch {
		case s.Name == "passes" || s.Name == "gap" || s.Name == "patience" || s.Name == "evaluate": // decide when a run ends
		case !s.Run && !slices.Contains(config.PathSettings, s.Name):
			identity[s.Stored()] = fmt.Sprint(s.Value.Interface())
		}
	}
	return identity
}

// removeIfEmpty removes the folder of a run that did not begin; a folder with files stays.
func removeIfEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 0 {
		return nil
	}
	return os.Remove(dir)
}
