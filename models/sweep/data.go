package sweep

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
)

// whole is the fold number that stands for all training data.
const whole = -1

// dataSets are the data sets of a sweep. Files are read once for all settings that read them alike. Inputs are fitted
// once, on the training part of each fold, for all settings that fit them alike.
type dataSets struct {
	folds int
	seed  uint64
	log   *slog.Logger

	mu     sync.Mutex
	files  map[string]*readings
	fitted map[string]*models.Data
	uses   map[string]int // how many more times an entry of fitted is needed
}

// readings are the files as read with one set of reading settings.
type readings struct {
	data  *models.Raw
	parts [][]int
}

func newDataSets(s *Config, log *slog.Logger) *dataSets {
	return &dataSets{folds: s.Folds, seed: s.Seed, log: log, files: map[string]*readings{},
		fitted: map[string]*models.Data{}, uses: map[string]int{}}
}

// inputSettings are the settings that decide how inputs are made from what was read.
var inputSettings = []string{"net", "features", "template", "min-count", "hash-bits"}

// numberingSettings are those that decide how the attributes in a file are numbered as it is read.
var numberingSettings = []string{"min-count", "hash-bits"}

// readingKey identifies how files are read; c must be resolved.
func readingKey(c *config.Config) string {
	var key strings.Builder
	for _, s := range config.Settings(c) {
		if s.Group == "Data" || formats.Find(c.Format).Numbered && slices.Contains(numberingSettings, s.Name) {
			fmt.Fprintf(&key, "%s=%v\n", s.Name, s.Value.Interface())
		}
	}
	if o := tasks.Localise(c); o != nil {
		fmt.Fprintf(&key, "pixels=%v\n", o.Pixels)
	}
	if tasks.Of(c).Request == tasks.Regions {
		fmt.Fprintf(&key, "features=%s\n", c.Features) // of regions, or pixels
	}
	if c.Train == "" {
		fmt.Fprintf(&key, "seed=%d\n", c.Seed) // words are drawn
	}
	return key.String()
}

// fittedKey identifies the data sets that settings train on.
func fittedKey(c *config.Config, fold int) string {
	key := readingKey(c)
	for _, name := range inputSettings {
		s, _ := settings.Named(config.Settings(c), name)
		key += fmt.Sprintf("%s=%v\n", name, s.Value.Interface())
	}
	return fmt.Sprintf("%sfold=%d", key, fold)
}

// of returns the data for a fold, or the whole. They are kept until release was called as often as expect.
func (d *dataSets) of(r *models.Resolved, fold int) (*models.Data, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := r.Config()
	key := fittedKey(&c, fold)
	read, err := d.read(r)
	if err != nil {
		return nil, err
	}
	if data, ok := d.fitted[key]; ok {
		return data, nil
	}
	raw := *read.data
	switch {
	case fold >= 0:
		raw = *holdOut(read.data, read.parts[fold], c.MinCount)
	case d.folds > 0:
		raw.Dev = nil
	}
	data, err := raw.Fit(&c)
	if err != nil {
		return nil, err
	}
	d.fitted[key] = data
	return data, nil
}

func (d *dataSets) read(from *models.Resolved) (*readings, error) {
	c := from.Config()
	key := readingKey(&c)
	if r, ok := d.files[key]; ok {
		return r, nil
	}
	raw, err := from.Read()
	if err != nil {
		return nil, err
	}
	from.Remarks().Log(d.log)
	text.WarnNotUTF8(d.log, raw.Sets()...)
	r := &readings{data: raw}
	if d.folds > 0 {
		if r.data.Packed() {
			return nil, structured.BadInput("--folds %d: %s is packed with attributes that were numbered on all of it; make "+
				"folds of the data that it was made from", d.folds, c.Train)
		}
		if err := checkFolds(r.data.Train, d.folds); err != nil {
			return nil, err
		}
		r.parts = folds(r.data.Train.Len(), d.folds, d.seed)
	}
	d.files[key] = r
	return r, nil
}

// expect announces a use of the data for a fold.
func (d *dataSets) expect(c *config.Config, fold int) { d.uses[fittedKey(c, fold)]++ }

// release ends a use of the data for a fold; the last one drops them.
func (d *dataSets) release(c *config.Config, fold int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := fittedKey(c, fold)
	if d.uses[key]--; d.uses[key] <= 0 {
		delete(d.fitted, key)
	}
}

// fingerprint identifies data sets, so that a sweep is not resumed on others.
func fingerprint(d *models.Data) string {
	key := train.Fingerprint(d.Train)
	if d.Dev != nil {
		key += train.Fingerprint(d.Dev)
	}
	return key
}
