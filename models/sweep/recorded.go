package sweep

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Recorded is what the folder of a sweep says about it, whether or not the sweep came to its end.
type Recorded struct {
	Config  Config
	Varied  []string // names of the settings that vary
	Metric  string   // for people
	Percent bool     // the metric is a fraction
	Trials  []Trial  // that are done, the best first
	All     int      // how many there are to do
	Finding string   // in words; empty without a trial that succeeded
	Best    string   // folder of the run with the best setting
	Picture string   // path of the picture as SVG
}

// IsSweep reports whether a folder holds a sweep.
func IsSweep(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, configFile))
	return err == nil
}

// ReadRecorded reads the folder of a sweep.
func ReadRecorded(dir string) (*Recorded, error) {
	c, err := Read(dir)
	if err != nil {
		return nil, err
	}
	all, err := c.trials()
	if err != nil {
		return nil, structured.BadInput("%s: %w", filepath.Join(dir, configFile), err)
	}
	path := filepath.Join(dir, trialsFile)
	done := trials{}
	if _, err := host.ReadJournal(path, done.keep(path)); err != nil {
		return nil, err
	}
	r := &Recorded{Config: c, Metric: "metric", Percent: c.Metric != "objective", All: len(all),
		Best: filepath.Join(dir, bestFolder), Picture: filepath.Join(dir, "sweep.svg")}
	m := metric{tasks.Metric{Name: c.Metric, Label: r.Metric}}
	for _, t := range tasks.All() {
		for _, known := range t.Metrics {
			if known.Name == c.Metric {
				m, r.Metric = metric{known}, known.Label
			}
		}
	}
	better := func(a, b float64) bool {
		if r.Percent {
			a, b = -a, -b
		}
		return metric{}.better(a, b) // the less, the better
	}
	var ranked []*trial
	for _, t := range all {
		if was, ok := done[t.Number]; ok {
			settings := t.Settings
			t.Trial = was
			t.Settings = settings
			ranked = append(ranked, t)
		}
		r.Varied = t.names
	}
	slices.SortStableFunc(ranked, func(a, b *trial) int {
		switch x, y := float64(a.Metric), float64(b.Metric); {
		case better(x, y):
			return -1
		case better(y, x):
			return 1
		}
		return cmp.Compare(a.Number, b.Number)
	})
	compareWithBest(ranked)
	for _, t := range ranked {
		r.Trials = append(r.Trials, t.Trial)
	}
	if len(ranked) == 0 || ranked[0].Error != "" {
		return r, nil
	}
	if m.Of == nil && r.Percent {
		r.Finding = fmt.Sprintf("best is %s: %.2f %%", ranked[0].name(), 100*float64(ranked[0].Metric))
	} else {
		r.Finding = fmt.Sprintf("best is %s: %s", ranked[0].name(), ranked[0].outcome(m))
	}
	if apart := toldApart(ranked); apart != "" {
		r.Finding += "; " + apart
	}
	return r, nil
}
