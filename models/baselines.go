package models

import (
	"context"
	"os"
	"path/filepath"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/train/record"
)

// hasBaselines reports whether baselines are to be trained too.
func (c *Config) hasBaselines() bool {
	return c.Baselines == "on" || c.Baselines == "auto" && c.Format == formatBuiltin && c.Task == "ocr"
}

// baselines returns the configurations that a resolved run is compared with: the same network trained by another method, and
// independent labels trained by the same method, with the same number of passes.
func (c Config) baselines() []Config {
	other := c.by("sgd")
	if c.Method == "sgd" {
		other = c.by("prox-linear")
	}
	all := []Config{other.inside(c, other.Method)}
	if c.Edges != nets.EdgesNone {
		alone := c
		alone.Edges = nets.EdgesNone
		all = append(all, alone.inside(c, "independent"))
	}
	return all
}

// by returns c with another method. The settings of the old method, and its smoothing, go back to their defaults.
func (c Config) by(method string) Config {
	c.Method = method
	def := Default()
	plain := Settings(&def)
	for i, s := range Settings(&c) {
		switch {
		case s.Name == "method" || s.Name == "passes":
		case s.Group == "Method" || s.Name == "smoothing" || s.Name == "mu" || s.Name == "k" || checkSetting(s, &c) != nil:
			s.Value.Set(plain[i].Value)
		}
	}
	return c
}

// inside returns c as a run in a folder inside that of another run.
func (c Config) inside(other Config, name string) Config {
	c.Baselines = "off"
	c.Out = filepath.Join(other.Out, name)
	if other.Resume != "" {
		c.Resume = c.Out
	}
	return c
}

func trainBaseline(ctx context.Context, c Config, data *Data, o TrainOptions) (*Result, []record.Record, error) {
	if err := os.MkdirAll(c.Out, 0o777); err != nil {
		return nil, nil, err
	}
	name := runName(c.Method, c.Edges)
	o.Log.Info("to compare with: " + name)
	o.Log = o.Log.With("run", name)
	r, err := NewRun(c, data, o)
	if err != nil {
		return nil, nil, err
	}
	return r.train(ctx)
}
