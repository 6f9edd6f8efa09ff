package models

import (
	"fmt"

	"github.com/dsp-go/dsp/models/formats"
	"github.com/dsp-go/dsp/nets"
)

// Resolve is the first stage of a training. It validates c as given, and resolves the settings that depend on the training file's name
// and content: the format, the task, and what the columns hold. All later stages take them as they are.
func (c *Config) Resolve() error {
	if err := c.readStack(); err != nil {
		return err
	}
	given := *c
	format, err := given.chooseFormat()
	if err != nil {
		if wrong := given.Validate(); wrong != nil {
			return wrong
		}
		return err
	}
	c.Format, c.Task = format, given.chooseTask(format)
	c.Columns, c.Label = formats.Find(format).Fields(given.Columns, given.Label, c.Task == "parse")
	if err := c.Validate(); err != nil {
		if c.Train != "" && given.Validate() == nil { // what the file holds does not go with the settings
			err = fmt.Errorf("%s: %w", c.Train, err)
		}
		return err
	}
	return nil
}

// chooseFormat returns the format of the training data.
func (c Config) chooseFormat() (string, error) {
	switch {
	case c.Train == "":
		return formats.Builtin, nil
	case c.Format == "":
		return formats.Detect(c.Train)
	}
	return c.Format, nil
}

// chooseTask returns the task, which data of a format decide if it is open.
func (c Config) chooseTask(format string) string {
	switch {
	case c.Task != "auto":
		return c.Task
	case format == formats.Builtin || formats.Find(format).Images:
		return "ocr"
	}
	return "tag"
}

// networkChoice is what the training data decide about the network, where the settings leave it open.
type networkChoice struct {
	net      nets.Config // its name and its sizes
	features string      // the set of attributes
	loss     string      // that goes with it
}

// withNetwork returns c with a choice of the network.
func (c Config) withNetwork(choice networkChoice) Config {
	n := choice.net
	c.Net, c.Features, c.Loss = n.Net, choice.features, choice.loss
	c.Hidden, c.Window, c.Channels, c.Recurrent, c.Embed = n.Hidden, n.Window, n.Channels, n.Recurrent, n.Embed
	c.Layers, c.Heads, c.BlockUnits = n.Layers, n.Heads, n.BlockUnits
	c.ArcUnits, c.LabelUnits = n.ArcUnits, n.LabelUnits
	c.CharEmbed, c.CharWindow, c.CharChannels = n.CharEmbed, n.CharWindow, n.CharChannels
	return c
}
