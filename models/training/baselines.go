package training

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/optimisers"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train/record"
)

// hasBaselines reports whether baselines are to be trained too.
func hasBaselines(c *config.Config) bool {
	return c.Baselines == "on" || c.Baselines == "auto" && c.Format == formats.Builtin && tasks.Of(c).Baselines
}

// baselines returns the configurations that this run, which made that many passes, is compared with: the same network
// trained by another method, and independent labels trained by the same method, with the same number of passes; or the
// task's own contrasts. Second-order chains are compared with another method alone: their scores cannot go without
// steps.
func (r *Run) baselines(passes int) []config.Config {
	c := r.config
	if contrasts := tasks.Of(&c).Contrasts; contrasts != nil {
		return r.contrasts(contrasts(c, r.data.Sets(), r.model.Labels.Len()), passes)
	}
	by := optimisers.SGD.Name
	if c.Method == by {
		by = optimisers.ProxLinear.Name
	}
	other := withMethod(c, by)
	all := []config.Config{insideOf(other, c, other.Method)}
	if has, own := nets.HasSetting(c.Net, "edges"); tasks.Of(&c).TakesSetting("edges") && c.Edges != nets.EdgesNone && c.Order < 2 && (has || !own) {
		alone := c
		alone.Edges = nets.EdgesNone
		all = append(all, insideOf(alone, c, "independent"))
	}
	return all
}

// contrasts returns the configurations of those contrasts that are not left out. Together they make as many passes as
// the run did, because each of their passes may cost more.
func (r *Run) contrasts(all []tasks.Contrast, passes int) (configs []config.Config) {
	all = slices.DeleteFunc(all, func(x tasks.Contrast) bool {
		if x.Reason != "" {
			r.o.Log.Info("not compared with " + x.Name + ": " + x.Reason)
		}
		return x.Reason != ""
	})
	for _, x := range all {
		x.Config.Passes = max(1, passes/len(all))
		configs = append(configs, insideOf(x.Config, r.config, x.Name))
	}
	return configs
}

// untrained returns the measures of the task's baseline that needs no training, or nil if there is none or nobody wants
// it.
func (r *Run) untrained() *Result {
	c := &r.config
	task := tasks.Of(c)
	if task.Untrained == nil || c.Baselines == "off" || c.Baselines == "auto" && c.Format != formats.Builtin {
		return nil
	}
	name, predict := task.Untrained(r.model.Inputs)
	if predict == nil {
		return nil
	}
	measure := func(d *structured.Dataset) *structured.Metrics {
		if d == nil || d.Labels == nil {
			return nil
		}
		compare := task.Compare(r.model.Labels, d, false)
		for i := range d.Len() {
			compare.Add(d, i, predict(d, i))
		}
		m := compare.Report().General()
		return &m
	}
	nan := record.Number(math.NaN())
	return &Result{
		Task: c.Task, Net: "none", Method: name, Certificate: Certificate{Objective: nan, Dual: nan, Gap: nan, RelativeGap: nan},
		Dev: measure(r.data.Dev), Test: measure(r.data.Test), Reason: "no training",
	}
}

// withMethod returns c with another method. The settings of the old method, and its smoothing, go back to their
// defaults.
func withMethod(c config.Config, method string) config.Config {
	c.Method = method
	def := config.Default()
	plain := config.Settings(&def)
	for i, s := range config.Settings(&c) {
		switch {
		case s.Name == "method" || s.Name == "passes":
		case s.Group == config.MethodGroup || s.Name == "smoothing" || s.Name == "mu" || s.Name == "k" || tasks.CheckSetting(s, &c) != nil:
			s.Reset(plain[i])
		}
	}
	return c
}

// insideOf returns c as a run in a folder inside that of another run.
func insideOf(c config.Config, other config.Config, name string) config.Config {
	c.Baselines = "off"
	c.Out = filepath.Join(other.Out, name)
	if other.Resume != "" {
		c.Resume = c.Out
	}
	return c
}

func trainBaseline(ctx context.Context, c config.Config, data *models.Data, o TrainOptions) (*Result, []record.Record, error) {
	if err := os.MkdirAll(c.Out, 0o777); err != nil {
		return nil, nil, err
	}
	name := runName(c.Method, c.Edges, givenOracle(&c))
	o.Log.Info("to compare with: " + name)
	o.Log = o.Log.With("run", name)
	p, err := NewProblem(c, data, o)
	if err != nil {
		return nil, nil, err
	}
	r, err := p.open()
	if err != nil {
		return nil, nil, err
	}
	return r.train(ctx)
}
