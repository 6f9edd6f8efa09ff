package packs

import (
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/packed"
)

// Uses reports whether a setting of training says how data are read or which inputs are made of them.
func Uses(s settings.Setting) bool {
	switch s.Name {
	case "dev", "test", "stream", "examples", "difficulty", "boxes", "images", "masks":
		return false
	case "net", "features", "template", "clusters", "gazetteer", "hash-bits", "min-count", "vectors",
		"freeze-vectors", "threads":
		return true
	}
	return s.Group == "Data"
}

// CheckGiven refuses what cannot be packed; c is resolved.
func CheckGiven(c *config.Config) error {
	if _, is := packed.Is(c.Train); is {
		return structured.BadInput("%s is packed already", c.Train)
	}
	if c.Format == formats.Brackets {
		return structured.BadInput("--format %s cannot be packed: packs hold no trees of constituents; "+
			"train on the file itself", c.Format)
	}
	if tasks.Of(c).Request == tasks.Lines {
		return structured.BadInput("--task %s cannot be packed: packs hold labels of positions, and not what lines read; "+
			"train on the data themselves", c.Task)
	}
	if r := tasks.Of(c).Request; r == tasks.Scenes || r == tasks.Regions {
		return structured.BadInput("--task %s cannot be packed: images and boxes are files of their own; dsp train --task "+
			"localise --stream reads "+
			"the features of boxes whenever they are needed", c.Task)
	}
	if c.Fold >= 0 {
		return structured.BadInput("--fold %d parts a file into training and test data; a pack holds training data "+
			"only. Leave --fold out", c.Fold)
	}
	return nil
}
