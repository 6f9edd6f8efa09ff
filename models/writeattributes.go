package models

import (
	"io"

	"github.com/dsp-go/dsp/models/formats"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/host"
	"github.com/dsp-go/dsp/structured/text"
)

// WriteAttributes writes the attributes of text as an attribute file of CRFsuite. Of c, Train names the text, and Format,
// Columns, Label, Scheme, Features, Template, MinCount and HashBits have their meaning for training. Attributes of steps are
// bad input: such files have no place for them. It returns the data written.
func WriteAttributes(c *Config, path string) (*structured.Dataset, error) {
	if err := c.ResolveFormat(); err != nil {
		return nil, err
	}
	if !formats.Find(c.Format).Columns {
		return nil, structured.BadInput("%s: attributes are made of text in columns, this is %s", c.Train, c.Format)
	}
	c.Net = "linear"
	d, err := ReadData(c)
	if err != nil {
		return nil, err
	}
	return d.Train, host.WriteFile(path, func(w io.Writer) error { return text.WriteCRFsuite(w, d.Train) })
}
