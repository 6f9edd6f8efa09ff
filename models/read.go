package models

import (
	"cmp"

	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/segments"
)

// ReadData reads data as the model's training data was read, except for what r says. Drawn data are the test data from
// the model's seed.
func (m *Model) ReadData(r Request) (*structured.Dataset, error) {
	s, err := m.source(r)
	if err != nil {
		return nil, err
	}
	path := s.Path
	if r.Dense != "" && (s.Format == formats.Builtin || s.Format != "" && !formats.Find(s.Format).Columns) {
		return nil, structured.BadInput("--dense %s: dense features are read beside text in columns; this data is %s",
			r.Dense, s.Format)
	}
	if r.Links != "" && !formats.Find(s.Format).TakesSetting("links") {
		return nil, structured.BadInput("--links %s: files of links are read beside sentence pairs; this data is %s", r.Links,
			cmp.Or(s.Format, "of no known format"))
	}
	if s.Format == formats.Builtin {
		if path != "" {
			return nil, structured.BadInput("--format builtin draws its own data, but %s is to be read; give one or the other",
				path)
		}
		for _, given := range [][2]string{{"--boxes", r.Boxes}, {"--images", r.Images}, {"--masks", r.Masks}} {
			if given[1] != "" {
				return nil, structured.BadInput("%s %s has no effect on drawn data", given[0], given[1])
			}
		}
		test, err := m.drawTest()
		if err == nil && s.task.TakesSetting(tasks.WordsSetting) {
			test, err = s.shortEnough(test)
		}
		if err == nil {
			err = m.MakeInputs(test, r.Threads)
		}
		if err == nil {
			err = m.accepts(test)
		}
		if err != nil {
			return nil, err
		}
		return test, m.checkData(test)
	}
	leave := m.leavesInputs(&s)
	if leave {
		s.leaveInputs()
	}
	if path, err = formats.Expand("", path, s.Format); err != nil {
		return nil, err
	}
	files := formats.Files(path)
	if len(files) > 1 && s.Format == "" {
		if s.Format, err = formats.DetectAll(path); err != nil {
			return nil, err
		}
	}
	beside := []Beside{s.Beside}
	if len(files) != 1 {
		all, err := filesFor([3][]string{files}, s.Beside)
		if err != nil {
			return nil, err
		}
		beside = all[0]
	}
	d, err := s.readFiles(path, beside)
	if err != nil {
		return nil, err
	}
	if leave {
		m.ranks.lacking[d] = true
		return d, m.checkData(d)
	}
	known, err := m.fits(d)
	if err == nil && !known {
		err = strange(path)
	}
	if err != nil {
		return nil, err
	}
	m.sayUnlike(d)
	return d, m.checkData(d)
}

// fits standardises data that were read, and refuses those that are not of the kind the model was trained on. It
// reports whether the model knows any of their attributes, if it should know some.
func (m *Model) fits(d *structured.Dataset) (known bool, err error) {
	if err = m.standardise(d); err == nil {
		err = m.accepts(d)
	}
	return d.Attributes == nil || d.Positions() == 0 || !m.knowsNone(knownAttributes(d)), err
}

// knowsNone reports whether that many attributes that the model knows mean that data are not of its kind. Sparse models
// know few.
func (m *Model) knowsNone(known int) bool {
	return known == 0 && m.Dictionary != nil && m.Config.L1 == 0 && m.Config.Radius == 0
}

// ReadGiven reads data to be predicted, with what is known of their outputs if o keeps that
// (predictions.Options.Force). Outputs in text may be known in part: they are read from their columns.
func (m *Model) ReadGiven(r Request, o predictions.Options) (*structured.Dataset, error) {
	if !o.Force {
		return m.ReadData(r)
	}
	s, err := m.source(r)
	if err == nil {
		err = s.keeps(settings.CommandLine)
	}
	if err != nil {
		return nil, err
	}
	r.Labels = s.keepsLabels()
	d, err := m.ReadData(r)
	if err != nil {
		return nil, err
	}
	return d, s.keep(d)
}

// keeps refuses data of which predictions can keep nothing, as bad input.
func (s source) keeps(by settings.Asker) error {
	if s.Format == formats.Builtin {
		return structured.BadInput("%s keeps what data say; %s has no column of labels: all of it is known", by.Name("force"),
			formats.Builtin)
	}
	return keepsSome(s.task, by)
}

// keepsLabels reports whether what predictions keep is read as labels are.
func (s source) keepsLabels() bool {
	if f := formats.Find(s.Format); f.Tokens || f.Lines {
		return f.TakesSetting("links") // else mistakes in links would count as pairs without
	}
	return !s.task.Labels
}

// keepsSome refuses a task whose predictions can keep nothing.
func keepsSome(t tasks.Task, by settings.Asker) error {
	if t.Labels || t.Known != nil {
		return nil
	}
	why := ""
	if t.Whole != "" {
		why = ": " + t.Whole
	}
	return structured.BadInput("%s keeps labels of words, graphs and masks, heads and relations, constituents, and links "+
		"of --task align; %s of --task %s are predicted whole%s",
		by.Name("force"), t.Outputs, t.Name, why)
}

// Keeps refuses a model whose predictions cannot keep what is known of outputs (predictions.Options.Force), as bad
// input.
func (m *Model) Keeps(by settings.Asker) error { return keepsSome(tasks.Of(&m.Config), by) }

// keep sets the gold outputs of d to what predictions are to keep of them.
func (s source) keep(d *structured.Dataset) error { return keepKnown(s.task, d, s.labels) }

func keepKnown(t tasks.Task, d *structured.Dataset, labels *structured.Alphabet) error {
	if t.Known != nil {
		return t.Known(d, labels)
	}
	return readPartial(d, labels)
}

// readPartial reads labels of text that may be known in part. Brackets of entities are read only where all are known.
func readPartial(d *structured.Dataset, labels *structured.Alphabet) error {
	if names := structured.NewAlphabet(d.Column(text.LabelColumn)...).Names(); chains.Bracketed(names) {
		return structured.BadInput("%s: labels in brackets, such as %s, expected tags, such as B-PER: "+
			"brackets are read where all labels are known", d.Name, structured.SomeOf(names))
	}
	return text.ReadPartialLabels(d, labels)
}

// standardise standardises the features of d as those of the training data were, unless accepts will refuse them.
func (m *Model) standardise(d *structured.Dataset) error {
	if m.Standard == nil || d.Dim != m.Dim {
		return nil
	}
	return m.Standard.Apply(d)
}

// checkData refuses data that the task does not take.
func (m *Model) checkData(d *structured.Dataset) error {
	if check := tasks.Of(&m.Config).CheckData; check != nil {
		return check(&m.Config, d, m.Labels.Len())
	}
	return nil
}

// knownAttributes returns how many attributes of positions, steps and whole segments d has that the model knows, with
// repetitions.
func knownAttributes(d *structured.Dataset) int {
	all := []*structured.Sparse{d.Attributes, d.EdgeAttributes}
	if t := d.Table(segments.Rows); t != nil {
		all = append(all, t.Attributes)
	}
	n := 0
	for _, x := range all {
		if x != nil {
			n += len(x.Index)
		}
	}
	return n
}

// strange is the error for a file that has no attribute in common with the training data.
func strange(name string) error {
	return structured.BadInput("%s: the model knows none of its attributes; is it of another --format than the training "+
		"data?", name)
}

// accepts refuses data that is not of the kind the model was trained on.
func (m *Model) accepts(d *structured.Dataset) error {
	switch {
	case m.Encoder != nil && m.Given(m.Dim) > 0 && d.Dim == m.Held(m.Encoder.Width()):
		return structured.BadInput("%s: the model reads %d dense features of each token beside the rows of its encoder; "+
			"give them with --dense FILE", d.Name, m.Given(m.Dim))
	case m.Held(m.Dim) > 0 && !d.HasFeatures() && (len(m.Vocab) > 0 || m.Dictionary != nil || m.Own != nil):
		return structured.BadInput("%s: the model reads %d dense features of each token beside its %s; give them with "+
			"--dense FILE", d.Name, m.Dim, m.beside())
	case m.Held(m.Dim) != d.Dim:
		return structured.BadInput("%s: %d dense features per position, the model expects %d", d.Name, d.Dim, m.Held(m.Dim))
	case len(m.Vocab) != len(d.Vocab):
		return structured.BadInput("%s: %d discrete inputs per position, the model expects %d", d.Name, len(d.Vocab),
			len(m.Vocab))
	case m.Characters != nil && d.Characters == nil:
		return structured.BadInput("%s: no characters of words, which the model reads", d.Name)
	case m.Own != nil && m.Own.Missing(d) != "":
		return structured.BadInput("%s: no %s, which the model reads", d.Name, m.Own.Missing(d))
	case m.Dictionary != nil && d.Attributes == nil:
		return structured.BadInput("%s: no attributes of tokens, which the model reads", d.Name)
	case m.Dictionary != nil && m.Dictionary.Segment != nil && d.Table(segments.Rows) == nil:
		return structured.BadInput("%s: no attributes of segments, which the model reads", d.Name)
	case m.Dictionary == nil && d.Attributes != nil:
		return structured.BadInput("%s: attributes of tokens, which the model does not read", d.Name)
	}
	return nil
}

// beside says what the model reads beside dense features.
func (m *Model) beside() string {
	if m.Config.Preset().Linear {
		return "attributes"
	}
	return "words"
}

// ReadHeldOut reads the test data of the model's training or, where there are none, the development data, as the
// training read them; part is "test" or "dev". Without either, d is nil. Built-in data are drawn again.
func (m *Model) ReadHeldOut(threads int) (d *structured.Dataset, part string, err error) {
	c := m.Config
	if c.Format == formats.Builtin {
		d, err = m.ReadData(Request{Path: formats.Builtin, Labels: true, Threads: threads})
		return d, "test", err
	}
	if read := tasks.Of(&c).ReadAll; read != nil {
		_, dev, test, ok, err := read(&c, RemarksFor(c.Bad))
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
	d, err = m.ReadData(Request{Path: path, Labels: true, Threads: threads, Beside: joined(b), Remarks: RemarksFor(c.Bad)})
	return d, part, err
}
