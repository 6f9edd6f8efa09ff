package exchange

import (
	"io"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/machine/host"
)

// WriteAttributes writes the attributes of text as an attribute file of CRFsuite. It reads c.Train; Format,
// Columns, Label, Scheme, Features, Template, MinCount and HashBits mean the same as for training. Attributes of edges are bad
// input, because such files cannot hold them. It returns the written data.
func WriteAttributes(c config.Config, path string) (*structured.Dataset, error) {
	c.Net = "linear"
	r, err := models.Resolve(c)
	if err != nil {
		return nil, err
	}
	c = r.Config()
	if !formats.Find(c.Format).Columns {
		return nil, structured.BadInput("%s: attributes are made of text in columns, this is %s", c.Train, c.Format)
	}
	d, err := r.Data()
	if err != nil {
		return nil, err
	}
	return d.Train, host.WriteFile(path, func(w io.Writer) error { return text.WriteCRFsuite(w, d.Train) })
}

// WriteAttributesOf writes the attributes that a model makes of text, those that it knows, in the same format. Lines of text without gold labels
// begin with a tab. It returns the written data.
func WriteAttributesOf(m *models.Model, r models.Request, path string) (*structured.Dataset, error) {
	if m.Template == nil {
		return nil, structured.BadInput("--model: it makes no attributes of the columns of text")
	}
	d, err := m.ReadData(r)
	if err != nil {
		return nil, err
	}
	d.Dictionary = m.Dictionary
	return d, host.WriteFile(path, func(w io.Writer) error { return text.WriteCRFsuite(w, d) })
}
