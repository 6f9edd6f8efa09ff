package inputs

import (
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/features/arcs"
	"github.com/dsp-go/dsp/structured"
)

// TreeWords are the columns of a treebank that become discrete inputs.
var TreeWords = []string{"word", "upos", "xpos"}

// FitTrees is Fit for treebanks.
func FitTrees(c *config.Config, data Training) (Inputs, error) {
	train := data.All
	linear := c.Preset().Linear || c.Net == "auto" && c.Features != "none"
	switch {
	case !linear && c.Template != "":
		return Inputs{}, structured.BadInput("--template %s makes attributes of arcs, which --net %s does not "+
			"read; use --net linear", c.Template, c.Net)
	case linear && c.Features == "none":
		return Inputs{}, structured.BadInput("--net linear reads attributes of arcs, but --features none makes none; use " +
			"--features parse, a --template, or --net biaffine")
	case !linear:
		return fitColumns(c, train, TreeWords)
	}
	set := "parse"
	if c.Template != "" {
		set = "auto"
	}
	t, err := pairTemplate(c, arcs.Builtin(), "parse")
	if err != nil {
		return Inputs{}, err
	}
	in, err := fitArcs(t, train, pairOptions(c), c.Order == 2)
	if err != nil {
		return Inputs{}, err
	}
	return Inputs{Features: set, Words: TreeWords, Own: in}, nil
}
