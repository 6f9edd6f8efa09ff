package models

import (
	"cmp"
	"strings"

	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/machine/host"
)

// DataOptions say how reading a data file differs from reading the model's training data.
type DataOptions struct {
	Format  string // empty: the model's, or detected
	Columns string // of conll; empty: the model's
	Label   string // of conllu; empty: the model's
	Labels  bool   // gold labels are required; otherwise they are read if there are any
	Partial bool   // gold labels may be partial, also where the model's training data had to know them
	Threads int    // 0: all cores
	Dense   string // npz file of the dense features of text; empty for none
	Boxes   string // file of candidate boxes; empty for sliding windows, or those of an npz archive
	Images  string // folder of the images; empty: beside their annotations
	Masks   string // folder of the masks of images; empty: there are none
	Links   string // file of the links of sentence pairs; empty: they are in the data file
}

// ReadData reads a data file as the model's training data was read, except for what o says. Format builtin draws the test
// data from the model's seed; path must be empty then.
func (m *Model) ReadData(path string, o DataOptions) (*structured.Dataset, error) {
	s, err := m.source(o)
	if err != nil {
		return nil, err
	}
	if o.Dense != "" && (s.format == formats.Builtin || s.format != "" && !formats.Find(s.format).Columns) {
		return nil, structured.BadInput("--dense %s: dense features are read beside text in columns; this data is %s", o.Dense, s.format)
	}
	if o.Links != "" && s.format != formats.Pairs {
		return nil, structured.BadInput("--links %s: files of links are read beside sentence pairs; this data is %s", o.Links, cmp.Or(s.format, "of no known format"))
	}
	if s.format == formats.Builtin {
		if path != "" {
			return nil, structured.BadInput("--format builtin draws its own data, but %s is to be read; give one or the other", path)
		}
		for _, given := range [][2]string{{"--boxes", o.Boxes}, {"--images", o.Images}, {"--masks", o.Masks}} {
			if given[1] != "" {
				return nil, structured.BadInput("%s %s has no effect on drawn data", given[0], given[1])
			}
		}
		d, err := drawn(&m.Config)
		if err != nil {
			return nil, err
		}
		if err := m.Inputs.Apply(d.Test, o.Threads); err != nil {
			return nil, err
		}
		if err := m.accepts(d.Test); err != nil {
			return nil, err
		}
		return d.Test, m.checkData(d.Test)
	}
	if path, err = formats.Expand("data", path, s.format); err != nil {
		return nil, err
	}
	files := formats.Files(path)
	if len(files) > 1 && s.format == "" {
		if s.format, err = formats.DetectAll(path); err != nil {
			return nil, err
		}
	}
	beside := make([]besides, len(files))
	if len(files) == 1 {
		beside[0] = s.besides
	} else if beside, err = s.eachBeside(files); err != nil {
		return nil, err
	}
	d, err := s.readFiles(path, beside, o.Labels)
	if err != nil {
		return nil, err
	}
	if err := m.accepts(d); err != nil {
		return nil, err
	}
	if d.Attributes != nil && d.Positions() > 0 && len(d.Attributes.Index) == 0 && m.Config.L1 == 0 { // sparse models know few attributes
		return nil, strange(path)
	}
	return d, m.checkData(d)
}

// checkData refuses data that the task does not take.
func (m *Model) checkData(d *structured.Dataset) error {
	if check := tasks.Of(&m.Config).CheckData; check != nil {
		return check(&m.Config, d, m.Labels.Len())
	}
	return nil
}

// strange is the error for a file that has no attribute in common with the training data.
func strange(name string) error {
	return structured.BadInput("%s: the model knows none of its attributes; is it of another --format than the training data?", name)
}

// source reads files like the model's training data, except for what o says.
func (m *Model) source(o DataOptions) (source, error) {
	c := &m.Config
	s := source{
		format: o.Format, columns: o.Columns, label: o.Label, scheme: c.Scheme, partial: o.Partial || c.Partial, width: m.Width,
		labels: m.Labels, inputs: m.Inputs, dim: m.Given(m.Dim), threads: host.Threads(o.Threads), task: tasks.Of(c), besides: besides{o.Dense, o.Boxes, o.Images, o.Links, o.Masks},
		localise: tasks.Localise(c), config: c,
	}
	if s.localise != nil {
		s.localise.Class, s.localise.ClassID = m.Labels.Name(0), m.ClassID
		s.localise.Shape = m.CandidateShape(m.Dim)
	}
	if (o.Boxes != "" || o.Images != "") && s.localise == nil {
		return s, structured.BadInput("--boxes and --images are for models that find objects in images (--task localise)")
	}
	if o.Masks != "" && !s.task.TakesSetting("masks") {
		return s, structured.BadInput("--masks is for models that label the pixels of images (--task segment)")
	}
	if s.partial && s.converts() {
		return s, structured.BadInput("--partial: the model's tags were converted to %s as they were read, which needs to know them all", s.scheme)
	}
	if s.format == "" && c.Format == formats.Builtin {
		s.format = s.task.FileFormat
	}
	if s.format != "" {
		if err := settings.OneOf("--format", s.format, append([]string{formats.Builtin}, formats.Names()...)); err != nil {
			return s, err
		}
	}
	if s.format == "" && c.Format != formats.Builtin && s.localise == nil {
		s.format = c.Format
	}
	if s.columns == "" {
		s.columns = c.Columns
	} else {
		s.width = 0
	}
	if s.columns == "" {
		s.columns = text.DefaultColumns
	}
	if s.label == "" {
		s.label = c.Label
	}
	return s, nil
}

// accepts refuses data that is not of the kind the model was trained on.
func (m *Model) accepts(d *structured.Dataset) error {
	switch {
	case m.Encoder != nil && m.Given(m.Dim) > 0 && d.Dim == m.Encoder.Width():
		return structured.BadInput("%s: the model reads %d dense features of each token beside the rows of its encoder; give them with --dense FILE", d.Name, m.Given(m.Dim))
	case m.Dim > 0 && !d.HasFeatures() && (len(m.Vocab) > 0 || m.Dictionary != nil || m.Own != nil):
		return structured.BadInput("%s: the model reads %d dense features of each token beside its %s; give them with --dense FILE", d.Name, m.Dim, m.beside())
	case m.Dim != d.Dim:
		return structured.BadInput("%s: %d dense features per position, the model expects %d", d.Name, d.Dim, m.Dim)
	case len(m.Vocab) != len(d.Vocab):
		return structured.BadInput("%s: %d discrete inputs per position, the model expects %d", d.Name, len(d.Vocab), len(m.Vocab))
	case m.Characters != nil && d.Characters == nil:
		return structured.BadInput("%s: no characters of words, which the model reads", d.Name)
	case m.Own != nil && m.Own.Missing(d) != "":
		return structured.BadInput("%s: no %s, which the model reads", d.Name, m.Own.Missing(d))
	case m.Dictionary != nil && d.Attributes == nil:
		return structured.BadInput("%s: no attributes of tokens, which the model reads", d.Name)
	case m.Dictionary == nil && d.Attributes != nil:
		return structured.BadInput("%s: attributes of tokens, which the model does not read", d.Name)
	}
	return nil
}

// beside says what the model reads beside dense features.
func (m *Model) beside() string {
	if m.Config.Net == "linear" {
		return "attributes"
	}
	return "words"
}

// ReadHeldOut reads the test data of the model's training or, where there are none, the development data, as the training read them; part is
// "test" or "dev". Without either, d is nil. Built-in data are drawn again.
func (m *Model) ReadHeldOut(threads int) (d *structured.Dataset, part string, err error) {
	c := m.Config
	if c.Format == formats.Builtin {
		d, err = m.ReadData("", DataOptions{Format: formats.Builtin, Labels: true, Threads: threads})
		return d, "test", err
	}
	if read := tasks.Of(&c).ReadAll; read != nil {
		_, dev, test, ok, err := read(&c)
		if err != nil {
			return nil, "", err
		}
		if ok {
			if d, part = test, "test"; d == nil {
				d, part = dev, "dev"
			}
			if d == nil {
				return nil, "", nil
			}
			if err := m.Inputs.Apply(d, threads); err != nil {
				return nil, part, err
			}
			return d, part, m.accepts(d)
		}
	}
	beside, err := filesOf(&c)
	if err != nil {
		return nil, "", err
	}
	path, b := c.Test, beside[2]
	if part = "test"; path == "" {
		path, b, part = c.Dev, beside[1], "dev"
	}
	if path == "" {
		return nil, "", nil
	}
	list := func(of func(b *besides) string) string {
		var all []string
		for k := range b {
			if path := of(&b[k]); path != "" {
				all = append(all, path)
			}
		}
		return strings.Join(all, ",")
	}
	o := DataOptions{
		Labels: true, Threads: threads,
		Dense: list(func(b *besides) string { return b.dense }), Boxes: list(func(b *besides) string { return b.boxes }),
		Images: list(func(b *besides) string { return b.images }), Links: list(func(b *besides) string { return b.links }),
		Masks: list(func(b *besides) string { return b.masks }),
	}
	d, err = m.ReadData(path, o)
	return d, part, err
}
