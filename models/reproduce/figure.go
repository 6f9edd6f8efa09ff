// Package reproduce reruns the studies of a paper: many trainings from one YAML file per figure, each with several
// seeds, drawn as curves with their spread, and the paper's claims about them checked.
package reproduce

import (
	"github.com/goccy/go-yaml/ast"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/settings"
)

// Figure is a study: a YAML file.
type Figure struct {
	Name  string // of its files, such as "2"
	Title string
	// train on drawn sentences with entity tags, or on the files that Options name; else on what the settings name
	Text     bool
	DataSeed int        // that data are drawn from; 0: each run draws its own from its seed
	Seeds    int        // number of runs of each curve, with seeds 1, 2, …
	X        quantity   // of the x axis
	Y        []quantity // one column of the picture each
	Settings overrides  // of dsp train, for all runs
	Parts    []Part
	Claims   []Claim
	Notes    []string // what differs from the paper, for the table
	Quick    Quick

	path string // for messages
	text []byte // as read
}

// Part is a row of the picture: curves that share their settings.
type Part struct {
	Name      string
	Settings  overrides
	Curves    []Curve
	Reference overrides // settings of a run whose dual is only used for suboptimality; nil for none
}

// Curve is one line of a part: a setting that every seed trains with.
type Curve struct {
	Name     string
	Settings overrides
	Tune     []grid // the best combination is chosen on the first seed
	Choose   choice // how
}

// grid lists the values of a setting to try.
type grid struct {
	name   string
	values []string
	node   ast.Node
}

// Claim is a statement of the paper that can be checked.
type Claim struct {
	Says  string // in words
	Where string // in the paper
	Part  string // its name; empty: every part
	Check check

	node ast.Node
}

// Quick is how a figure shrinks for a check that everything runs.
type Quick struct {
	Seeds    int
	Settings overrides // on top of all others
}

// overrides are settings as a YAML mapping gives them; nil for none.
type overrides struct {
	path string
	node ast.Node
}

// apply sets them in c.
func (o overrides) apply(c *config.Config) error {
	if o.node == nil {
		return nil
	}
	return settings.ParseNode(o.path, o.node, config.Settings(c))
}

// base is the configuration that the settings of figures change.
func base() config.Config {
	c := config.Default()
	c.Baselines, c.Device = "off", config.CPU
	c.Gap, c.Evaluate = 0, "every" // so that curves go on to the end, with a point for each pass
	return c
}
