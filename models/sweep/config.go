package sweep

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/samplemv"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/models/training"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/documents"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Config holds all settings of a sweep: those of a training, and which of them vary. Its tags are like those of
// config.Config.
type Config struct {
	// common to all trials; Out and Resume are the folder of the sweep, Threads are shared by all jobs
	config.Config `yaml:"-"`

	Grid   settings.Ranges `yaml:"grid" json:"grid" group:"Sweep" help:"a setting and the values to try, as reg=0.1,1,10 or reg=log:0.01:10:7 (docs/guide/tuning.md)"`
	Random int             `yaml:"random" json:"random" group:"Sweep" min:"0" unit:"N" help:"draw N combinations that cover the ranges evenly (reg=log:0.01:10); 0 tries all"`
	Folds  int             `yaml:"folds" json:"folds" group:"Sweep" min:"0" unit:"K" help:"compare by cross-validation with K parts of the training data; 0 uses the development data"`
	Metric string          `yaml:"metric" json:"metric" group:"Sweep" values:"auto" help:"what to compare (docs/guide/tuning.md); auto: the first metric of the task"`
	Jobs   int             `yaml:"jobs" json:"jobs" group:"Sweep" run:"true" min:"0" unit:"N" help:"settings to train at the same time, which changes no result; 0: one per thread"`
}

// Default returns a sweep in which nothing varies yet.
func Default() Config { return Config{Config: config.Default(), Metric: "auto"} }

// Settings returns the settings of s: those of the sweep, then those of its Config.
func Settings(s *Config) []settings.Setting {
	own := settings.Of(s)
	for k := range own {
		if own[k].Name == "metric" {
			own[k].Values = append(own[k].Values, metrics()...)
		}
	}
	return append(own, config.Settings(&s.Config)...)
}

// metrics returns the names of the metrics that the tasks have, and objective, for which the least value is best.
func metrics() []string {
	var names []string
	for _, t := range tasks.All() {
		for _, m := range t.Metrics {
			if !slices.Contains(names, m.Name) {
				names = append(names, m.Name)
			}
		}
	}
	return append(names, "objective")
}

// ReadConfig reads a YAML file of settings over the defaults, as config.ReadConfig does.
func ReadConfig(path string) (Config, error) {
	s := Default()
	text, err := host.ReadText(path, documents.MostBytes)
	if err != nil {
		return s, structured.BadInput("configuration: %w", err)
	}
	return s, settings.Parse(path, text, Settings(&s))
}

// check validates the sweep's own settings. The settings of training are validated trial by trial.
func (s *Config) check() error {
	for _, own := range Settings(s)[:len(settings.Of(s))] {
		if own.Name == "grid" {
			continue
		}
		if err := own.Check(); err != nil {
			return err
		}
	}
	switch {
	case len(s.Grid) == 0:
		return structured.BadInput("nothing varies: give --grid NAME=VALUES, such as --grid reg=0.1,1,10")
	case s.Baselines == "on":
		return structured.BadInput("--baselines on: a sweep compares settings, not baselines; vary method or edges instead")
	case s.Path:
		return structured.BadInput("--path: a sweep trains every setting at one strength; give --grid " +
			"reg=…, or dsp train --path")
	case s.Folds == 1:
		return structured.BadInput("--folds 1: expected at least 2, to hold one out and train on the rest")
	case s.Folds > 0 && s.Dev != "":
		return structured.BadInput("--folds %d and --dev both say what settings are compared on; give one", s.Folds)
	case s.Folds > 0 && s.Patience > 0:
		return structured.BadInput("--patience %d watches development data; with --folds there is none", s.Patience)
	}
	return nil
}

// trials lists the settings to try, validated as far as possible without data.
func (s *Config) trials() ([]*trial, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	axes, err := parseAxes(s.Grid)
	if err != nil {
		return nil, err
	}
	combinations, err := s.combinations(axes)
	if err != nil {
		return nil, err
	}
	all := make([]*trial, len(combinations))
	for k, values := range combinations {
		t := &trial{Trial: Trial{Number: k + 1, Settings: map[string]any{}}, config: s.Config}
		for a, value := range values {
			varied, _ := settings.Named(config.Settings(&t.config), axes[a].name)
			if err := varied.Set(value); err != nil {
				return nil, structured.BadInput("--grid %s: %w", axes[a].name, err)
			}
			t.Settings[varied.Name] = varied.Value.Interface()
			t.names = append(t.names, varied.Name)
			t.values = append(t.values, fmt.Sprint(varied.Value.Interface()))
		}
		if err := training.Validate(&t.config); err != nil {
			return nil, fmt.Errorf("with %s: %w", t.name(), err)
		}
		all[k] = t
	}
	return all, nil
}

// mostTrials bounds the number of settings in a sweep.
const mostTrials = 100000

// combinations returns the values of each trial, one for each axis.
func (s *Config) combinations(axes []axis) ([][]string, error) {
	if s.Random > mostTrials {
		return nil, structured.BadInput("--random %d: expected at most %d", s.Random, mostTrials)
	}
	if s.Random > 0 {
		return draw(axes, s.Random, s.Seed), nil
	}
	n := 1
	for k, a := range axes {
		if a.values == nil {
			return nil, structured.BadInput("--grid %s: say how many values (%s:COUNT), or draw them with --random N", s.Grid[k],
				s.Grid[k])
		}
		if n *= len(a.values); n > mostTrials {
			return nil, structured.BadInput("--grid: more than %d combinations; draw some of them with --random N", mostTrials)
		}
	}
	return product(axes), nil
}

// product returns all combinations of the axes' values, the last axis fastest.
func product(axes []axis) [][]string {
	all := [][]string{nil}
	for _, a := range axes {
		var longer [][]string
		for _, head := range all {
			for _, value := range a.values {
				longer = append(longer, append(slices.Clone(head), value))
			}
		}
		all = longer
	}
	return all
}

// drawsStream keeps what settings are drawn apart from what else is drawn from a seed.
const drawsStream = 0x6472617773

// draw returns n different combinations, or fewer where there are not so many. They are points of a scrambled Halton
// sequence (Owen 2017, "A randomized Halton algorithm in R"), which cover each axis, and each few axes together, more
// evenly than random points.
func draw(axes []axis, n int, seed uint64) [][]string {
	cube, source := distmv.NewUnitUniform(len(axes), nil), rand.NewPCG(seed, drawsStream)
	points := mat.NewDense(100+11*n, len(axes), nil)
	samplemv.Halton{Kind: samplemv.Owen, Q: cube, Src: source}.Sample(points)
	var all [][]string
	seen := map[string]bool{}
	for row := 0; len(all) < n && row < points.RawMatrix().Rows; row++ {
		combination := make([]string, len(axes))
		for k := range axes {
			combination[k] = axes[k].pick(points.At(row, k))
		}
		if key := strings.Join(combination, "\x00"); !seen[key] {
			seen[key] = true
			all = append(all, combination)
		}
	}
	return all
}
