package models

import (
	"fmt"

	"github.com/dsp-go/dsp/models/formats"
	"github.com/dsp-go/dsp/structured/text"
)

// Resolve is the first stage of a training: it resolves the settings that depend on the training file's name and content (the
// format, the task, and what the columns hold), and validates again. All later stages take them as they are.
func (c *Config) Resolve() error {
	if err := c.readStack(); err != nil {
		return err
	}
	if err := c.resolveFormat(); err != nil {
		return err
	}
	return c.validateResolved()
}

// validateResolved is Validate for a configuration whose format is known: its errors name the training file.
func (c *Config) validateResolved() error {
	err := c.Validate()
	if err != nil && c.Train != "" {
		err = fmt.Errorf("%s: %w", c.Train, err)
	}
	return err
}

// resolveFormat resolves the format, the task, and what the columns hold.
func (c *Config) resolveFormat() error {
	switch {
	case c.Train == "":
		c.Format = formats.Builtin
	case c.Format == "":
		var err error
		if c.Format, err = formats.Detect(c.Train); err != nil {
			return err
		}
	}
	if c.Task == "auto" {
		c.Task = "tag"
		if c.Format == formats.Builtin || formats.Find(c.Format).Images {
			c.Task = "ocr"
		}
	}
	if c.Format == formats.Conll && c.Columns == "" {
		c.Columns = text.DefaultColumns
	}
	if c.Format == formats.Conllu && c.Label == "" && c.Task != "parse" {
		c.Label = "upos"
	}
	return nil
}
