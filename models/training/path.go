package training

import (
	"math"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train/record"
)

// The files of a regularisation path in a run folder.
const (
	pathFolder  = "path"      // a model per breakpoint
	pathFile    = "path.json" // the breakpoints, after each
	pathPicture = "path.png"  // and path.svg

	identityFile = "path-identity.json" // what its breakpoints belong to, beside their weights
)

// Path is a regularisation path.
type Path struct {
	// for every C between the ends, the certified relative distance to the optimum of the model for it
	Error  record.Number `json:"error"`
	Points []Breakpoint  `json:"points"`
	Best   Best          `json:"best"`
}

// Best is the breakpoint whose model is that of the run: the one with the least error on development data or, without
// such data, the one with C nearest to 1.
type Best struct {
	Reg   float64 `json:"reg"`
	Model string  `json:"model"` // path of the model file of the breakpoint
	// of which the development data have the error; empty without such data
	Metric string        `json:"metric,omitempty"`
	Error  record.Number `json:"error"` // null without such data
}

// Breakpoint is a model of a path: that for all strengths between From and To.
type Breakpoint struct {
	Reg         float64 `json:"reg"`  // C for which it was trained
	From        float64 `json:"from"` // least C for which it is the best of the path
	To          float64 `json:"to"`   // largest
	Certificate         // at Reg
	Square      float64 `json:"square"` // ‖w − w0‖²
	Passes      int     `json:"passes"`
	Seconds     float64 `json:"seconds"`
	Nonzero     int     `json:"nonzero"`

	Dev   *structured.Metrics `json:"dev"`
	Test  *structured.Metrics `json:"test"`
	Model string              `json:"model"` // path of the model file
}

// checkPath refuses settings that do not go with a path.
func checkPath(c *config.Config) error {
	if !c.Path {
		return nil
	}
	kind, _, err := config.ParseDevice(c.Device)
	if err != nil {
		return err
	}
	switch {
	case !(c.PathLow > 0) || !(c.PathHigh > c.PathLow) || math.IsInf(c.PathHigh, 0):
		return structured.BadInput("--path-low %v and --path-high %v: expected two numbers above 0, the second larger",
			c.PathLow, c.PathHigh)
	case !(c.PathError > 0 && c.PathError < 1):
		return structured.BadInput("--path-error %v: expected a number between 0 and 1", c.PathError)
	case c.Given.Has("reg"):
		return structured.BadInput("--reg %v has no effect with --path, which goes from --path-low to --path-high", c.Reg)
	case c.Baselines == "on":
		return structured.BadInput("--baselines on: a path has no baselines")
	case c.Patience > 0:
		return structured.BadInput("--patience %d: with --path, every breakpoint is solved until its gap is certified",
			c.Patience)
	case kind == config.CUDA:
		return structured.BadInput("--device %s: a path runs on the CPU", c.Device)
	}
	if c.Resume != "" {
		was, err := ReadRun(c.Resume)
		if err != nil {
			return err
		}
		if !was.Path || was.PathLow != c.PathLow || was.PathHigh != c.PathHigh || was.PathError != c.PathError {
			return structured.BadInput("--resume %s: its path has other ends or another error; leave them out, or start "+
				"a new run", c.Resume)
		}
	}
	return nil
}

// resolvePath returns c with the device and the gap of a path's breakpoints.
func resolvePath(c config.Config) config.Config {
	c.Device = config.CPU
	if c.Gap <= 0 { // auto, or never
		c.Gap = settings.Gap(c.PathError / 4)
	}
	return c
}
