package training

import (
	"cmp"
	"os"
	"path/filepath"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// resolveGiven is the first stage: it validates the settings as given, and resolves those that need no data.
func resolveGiven(given config.Config) (*models.Resolved, config.Config, error) {
	if given.Resume != "" {
		if err := checkResumed(given); err != nil {
			return nil, given, err
		}
	}
	r, err := models.Resolve(given)
	if err != nil {
		return nil, given, err
	}
	c := r.Config()
	return r, c, checkNamedDevice(&c)
}

// resolveFolder returns c, which continues the run in the folder c.Out if there is one.
func resolveFolder(c config.Config) config.Config {
	if c.Out = cmp.Or(c.Resume, c.Out); c.Out == "" {
		return c
	}
	if _, err := os.Stat(filepath.Join(c.Out, configFile)); err == nil {
		c.Resume = c.Out
	}
	return c
}

// resolve is the second stage. It returns the method for an objective, and the configuration with every setting
// resolved that given leaves open, except those that depend on the device, for a run of that many ranks; why gives the
// reason of an automatic choice of the method. m is the model that was made as given says: its configuration says what
// the data decided.
func resolve(given config.Config, m *models.Model, o *engine.Objective, ranks int) (c config.Config,
	method train.Method, why string, err error) {
	c = m.Config
	by, why := chooseMethod(&c, o, ranks)
	c.Method, c.Passes = by.Name, cmp.Or(c.Passes, by.PassesFor(o))
	if by.Resolve != nil {
		by.Resolve(&c.Settings, o)
	}
	o.Rates = rates(&c, m)
	c.Reg = tasks.ChooseReg(&c)
	c.Smoothing = chooseSmoothing(&c, by, o)

	// The choices are known, so settings that have no effect with them are refused. Sizes are validated as given,
	// because the network fills in those that it has.
	given.Net, given.Loss, given.Smoothing, given.Settings = c.Net, c.Loss, c.Smoothing, c.Settings
	if err := Validate(&given); err != nil {
		return c, nil, "", err
	}
	if method, err = by.New(c.Run()); err != nil {
		return c, nil, "", err
	}
	if err := checkMethod(&c, by, method, o); err != nil {
		return c, nil, "", err
	}
	if ranks > 1 {
		err = checkRanks(&c, by, o)
	} else {
		err = checkAlone(&c)
	}
	if err != nil {
		return c, nil, "", err
	}
	if c.Gap == settings.AutoGap {
		c.Gap = by.DefaultGap(o)
	}
	return c, method, why, nil
}

// resolveDevice is the last stage: it returns c with the device that the run uses, and the examples in a step on it.
func (r *Run) resolveDevice(c config.Config) config.Config {
	r.home.resolve(r, &c)
	c.Batch = cmp.Or(c.Batch, r.chooseBatch())
	return c
}
