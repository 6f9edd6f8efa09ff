package exchange

import (
	"context"
	"io"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// WriteAttributes writes the attributes of text as an attribute file of CRFsuite. It reads c.Train; Format,
// Columns, Label, Scheme, Features, Template, MinCount and HashBits mean the same as for training. Attributes of edges
// are bad input, because such files cannot hold them. It returns the written data, or stops when ctx ends.
func WriteAttributes(ctx context.Context, c config.Config, path string) (*structured.Dataset, error) {
	c.Net = "linear"
	r, err := models.Resolve(c)
	if err != nil {
		return nil, err
	}
	c = r.Config()
	if !formats.Find(c.Format).Columns {
		return nil, structured.BadInput("%s: attributes are made of text in columns, this is %s", c.Train, c.Format)
	}
	d, err := host.Await(ctx, r.Data)
	if err != nil {
		return nil, err
	}
	return d.Train, writeCRFsuite(ctx, path, d.Train)
}

// writeCRFsuite writes data to a file until ctx ends.
func writeCRFsuite(ctx context.Context, path string, d *structured.Dataset) error {
	return host.WriteFile(path, func(w io.Writer) error { return text.WriteCRFsuite(until{ctx, w}, d) })
}

// until is a writer that refuses to write once ctx has ended.
type until struct {
	ctx context.Context
	io.Writer
}

func (u until) Write(b []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.Writer.Write(b)
}

// WriteAttributesOf writes the attributes that a model makes of text, those that it knows, in the same format. Lines of
// text without gold labels begin with a tab. It returns the written data.
func WriteAttributesOf(ctx context.Context, m *models.Model, r models.Request,
	path string) (*structured.Dataset, error) {
	if m.Template == nil {
		return nil, structured.BadInput("--model: it makes no attributes of the columns of text")
	}
	if err := m.NeedsNames("write attributes"); err != nil {
		return nil, err
	}
	d, err := host.Await(ctx, func() (*structured.Dataset, error) { return m.ReadData(r) })
	if err != nil {
		return nil, err
	}
	d.Dictionary = m.Dictionary
	return d, writeCRFsuite(ctx, path, d)
}
