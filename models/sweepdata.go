package models

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/dsp-go/dsp/train"
)

// whole stands for all training data where a fold is named.
const whole = -1

// sweepData are the data sets of a sweep. Files are read once for all settings that read them alike, and what is learned
// from inputs is learned once for all settings that learn it alike, on the training part of each fold.
type sweepData struct {
	folds int
	seed  uint64

	mu     sync.Mutex
	files  map[string]*readings
	fitted map[string]*Data
	uses   map[string]int // how often an entry of fitted is still wanted
}

// readings are what one way of reading files gives.
type readings struct {
	data  *Data
	parts [][]int
}

func newSweepData(s *SweepConfig) *sweepData {
	return &sweepData{folds: s.Folds, seed: s.Seed, files: map[string]*readings{}, fitted: map[string]*Data{}, uses: map[string]int{}}
}

// inputSettings are the settings that decide how inputs are made from what was read.
var inputSettings = []string{"net", "features", "template", "min-count", "hash-bits"}

// numberingSettings are those that decide how the attributes in a file are numbered as it is read.
var numberingSettings = []string{"min-count", "hash-bits"}

// readingKey tells apart the ways to read files, once c knows their format.
func readingKey(c *Config) string {
	var key strings.Builder
	for _, s := range Settings(c) {
		if s.Group == "Data" || c.Format == formatCRFsuite && slices.Contains(numberingSettings, s.Name) {
			fmt.Fprintf(&key, "%s=%v\n", s.Name, s.Value.Interface())
		}
	}
	if c.Train == "" {
		fmt.Fprintf(&key, "seed=%d\n", c.Seed) // the words are drawn
	}
	return key.String()
}

// fittedKey tells apart the data sets that settings train on.
func fittedKey(c *Config, fold int) string {
	key := readingKey(c)
	for _, name := range inputSettings {
		s, _ := setting(c, name)
		key += fmt.Sprintf("%s=%v\n", name, s.Value.Interface())
	}
	return fmt.Sprintf("%sfold=%d", key, fold)
}

// of returns the data for a fold, or the whole. It is kept until it was released as often as expect announced.
func (d *sweepData) of(c *Config, fold int) (*Data, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := fittedKey(c, fold)
	read, err := d.read(c)
	if err != nil {
		return nil, err
	}
	if data, ok := d.fitted[key]; ok {
		return data, nil
	}
	data := read.data.copy()
	switch {
	case fold >= 0:
		data = read.data.heldOut(read.parts[fold], c.MinCount)
	case d.folds > 0:
		data.Dev = nil
	}
	if err := data.fitInputs(c); err != nil {
		return nil, err
	}
	d.fitted[key] = data
	return data, nil
}

// copy returns a copy of d whose data sets can be given other inputs.
func (d *Data) copy() *Data {
	to := *d
	train := *d.Train
	to.Train = &train
	if d.Dev != nil {
		dev := *d.Dev
		to.Dev = &dev
	}
	if d.Test != nil {
		test := *d.Test
		to.Test = &test
	}
	return &to
}

func (d *sweepData) read(c *Config) (*readings, error) {
	key := readingKey(c)
	if r, ok := d.files[key]; ok {
		return r, nil
	}
	data, err := readFiles(c)
	if err != nil {
		return nil, err
	}
	r := &readings{data: data}
	if d.folds > 0 {
		if err := checkFolds(r.data.Train, d.folds); err != nil {
			return nil, err
		}
		r.parts = Folds(r.data.Train.Len(), d.folds, d.seed)
	}
	d.files[key] = r
	return r, nil
}

// expect announces a use of the data for a fold.
func (d *sweepData) expect(c *Config, fold int) { d.uses[fittedKey(c, fold)]++ }

// release ends a use of the data for a fold; after the last, it is forgotten.
func (d *sweepData) release(c *Config, fold int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := fittedKey(c, fold)
	if d.uses[key]--; d.uses[key] <= 0 {
		delete(d.fitted, key)
	}
}

// fingerprint tells data sets apart, so that a sweep is not continued on others.
func (d *Data) fingerprint() string {
	key := train.Fingerprint(d.Train)
	if d.Dev != nil {
		key += train.Fingerprint(d.Dev)
	}
	return key
}
