package inputs

import (
	"cmp"
	"os"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/features/arcs"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/machine/host"
)

// TreeWords are the columns of a treebank that become discrete inputs.
var TreeWords = []string{"word", "upos", "xpos"}

// FitTrees is Fit for treebanks.
func FitTrees(c *config.Config, train *structured.Dataset) (Inputs, error) {
	linear := c.Preset().Linear || c.Net == "auto" && c.Features != "none"
	switch {
	case !linear && c.Template != "":
		return Inputs{}, structured.BadInput("--template %s makes attributes of arcs, which --net %s does not read; use --net linear", c.Template, c.Net)
	case linear && c.Features == "none":
		return Inputs{}, structured.BadInput("--net linear reads attributes of arcs, but --features none makes none; use --features parse, a --template, or --net biaffine")
	case !linear:
		in := Inputs{Features: "none", Words: TreeWords}
		if err := in.fitWords(c, train); err != nil {
			return Inputs{}, err
		}
		return in, in.encode(train)
	}
	text, name, set := arcs.Builtin(), "parse"+templateSuffix, "parse"
	if c.Template != "" {
		content, err := os.ReadFile(c.Template)
		if err != nil {
			return Inputs{}, structured.BadInput("--template: %w", err)
		}
		text, name, set = string(content), c.Template, "auto"
	}
	t, err := arcs.Parse(text, name)
	if err != nil {
		return Inputs{}, err
	}
	o := arcs.Options{HashBits: c.HashBits, Threads: host.Threads(c.Threads)}
	if c.HashBits == 0 {
		o.MinCount = cmp.Or(c.MinCount, defaultArcCount)
	}
	in, err := fitArcs(t, train, o)
	if err != nil {
		return Inputs{}, err
	}
	return Inputs{Features: set, Words: TreeWords, Own: in}, nil
}

// defaultArcCount is the default least count, on gold arcs, of an attribute with weights.
const defaultArcCount = 2
