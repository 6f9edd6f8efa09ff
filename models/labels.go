package models

import (
	"log/slog"

	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// Entity tags are converted as they are read, where that is asked for, or where data have others than the model, and
// are written as the data have them or, where these have none, as the training data have them.

// notation returns how the tags of the training data were written.
func (m *Model) notation() chains.Notation {
	if m.Notation.Scheme != "" {
		return m.Notation
	}
	return chains.NotationOfLabels(m.Labels)
}

// ownNotation returns how the model's labels are written.
func (m *Model) ownNotation() chains.Notation {
	if m.Config.Scheme == keepScheme {
		return m.notation()
	}
	return chains.Notation{Scheme: m.Config.Scheme, Spelling: chains.NotationOfLabels(m.Labels).Spelling}
}

// keepScheme is the scheme of settings that convert no tags.
const keepScheme = "keep"

// sharesTags reports whether the probabilities of tags in another scheme are known: those of chains, where that of a
// tag depends on its neighbours alone.
func (m *Model) sharesTags() bool {
	if m.Net == nil {
		return false
	}
	_, chain := m.Net.Form().Structure.(chains.Chain)
	return chain
}

// tagsOf returns the converter of the tags whose probabilities o asks for, nil if these are those of the model's
// labels.
func (m *Model) tagsOf(o predictions.Options) *chains.Converter {
	if !o.Marginals && !o.Confidence || o.OwnLabels || !m.sharesTags() || !chains.EntityTags(m.Labels) {
		return nil
	}
	if o = m.writing(chains.Notation{}, o); o.Scheme == "" {
		return nil
	}
	return predictions.ConverterOf(m.Labels, o)
}

// writing returns o for labels that are written as the tags in a file are, which has none if in has no scheme. Where
// marginals are of the model's own labels alone, these stay as they are.
func (m *Model) writing(in chains.Notation, o predictions.Options) predictions.Options {
	if in.Scheme == "" {
		in = m.notation()
	}
	if own := m.ownNotation(); o.Scheme == "" && (!o.Marginals || m.sharesTags()) && in.Scheme != "" &&
		(in != own || m.notation() != own) {
		o.Scheme, o.Spelling = in.Scheme, &in.Spelling
	}
	return o
}

// other returns the scheme of the model's labels if tags of d are written in another notation; else "".
func (s source) other(d *structured.Dataset) string {
	if s.labels == nil || s.own.Scheme == "" || !s.task.Labels || s.Partial {
		return ""
	}
	switch is := chains.NotationOfData(d); {
	case !chains.EntityTags(d.Alphabet) || is == s.own || is.Scheme == "" && is.Spelling == s.own.Spelling:
		return ""
	}
	return s.own.Scheme
}

// readBrackets makes tags of what brackets mark in d; with among, d is beside text that has tags.
func (s source) readBrackets(d *structured.Dataset, among bool) error {
	found, err := chains.ReadBrackets(d, among)
	if found {
		s.Remarks.Add(remarks.Remark{Level: slog.LevelInfo, What: remarks.Brackets, Times: d.Len(), First: d.Where(0)})
	}
	return err
}

// readsBrackets reports whether labels that are brackets become tags: other models learned them as they are.
func (s source) readsBrackets() bool {
	return s.labels == nil && !s.plainBrackets || s.labels != nil && chains.EntityTags(s.labels)
}

// matched returns d without sentences whose brackets do not match, where bad ones are left out.
func (s source) matched(d *structured.Dataset, among bool) (*structured.Dataset, error) {
	if !s.Remarks.Skips() || !s.readsBrackets() || !chains.AreBrackets(d, among) {
		return d, nil
	}
	return s.Remarks.Keep(d, func(i int) error { return chains.CheckBrackets(d, i) })
}

// convert converts the tags of d to those of the source, or of the model. What brackets mark becomes tags of iob2.
func (s source) convert(d *structured.Dataset) error {
	if s.readsBrackets() {
		if err := s.readBrackets(d, s.labels != nil); err != nil {
			return err
		}
	}
	to := s.scheme
	if !s.converts() {
		to = s.other(d)
	}
	if to == "" {
		return nil
	}
	was, err := chains.ConvertScheme(d, to, s.labels)
	if err == nil && s.was != nil && s.was.Scheme == "" {
		*s.was = was
	}
	return err
}

// number gives d the labels in its column. If there is no such column, or a label is unknown, d gets none: nobody asked
// for them.
func (s source) number(d *structured.Dataset) {
	names := d.Column(text.LabelColumn)
	if names == nil || s.labels == nil {
		return
	}
	d.Alphabet, d.Labels = structured.NewAlphabet(names...), make([]int32, len(names))
	for t, name := range names {
		d.Labels[t] = d.Alphabet.Index(name)
	}
	if err := s.convert(d); err != nil || !renumber(d, s.labels) {
		d.Labels = nil
	}
	d.Alphabet = s.labels
}

// renumber numbers the labels of d by an alphabet. It returns false if that lacks some.
func renumber(d *structured.Dataset, labels *structured.Alphabet) bool {
	number := make([]int32, d.Alphabet.Len())
	for i, name := range d.Alphabet.Names() {
		number[i] = labels.Index(name)
	}
	for t, l := range d.Labels {
		if d.Labels[t] = number[l]; number[l] < 0 {
			return false
		}
	}
	return true
}

// relabel renumbers the labels of d by those of the training data. Unknown labels come after the known ones, in an
// alphabet of d's own; an evaluation counts them as mistakes. Data without any known label are bad input.
func relabel(d *structured.Dataset, labels *structured.Alphabet) error {
	all, known := structured.NewAlphabet(labels.Names()...), false
	number := make([]int32, d.Alphabet.Len())
	for i, name := range d.Alphabet.Names() {
		number[i] = all.Add(name)
	}
	for _, l := range d.Labels {
		known = known || int(number[l]) < labels.Len()
	}
	if !known && len(d.Labels) > 0 {
		return structured.BadInput("%s: training saw neither label %q nor any other label of this data; it saw %s",
			d.Where(0),
			d.Alphabet.Name(d.Labels[0]), structured.SomeOf(labels.Names()))
	}
	for t, l := range d.Labels {
		d.Labels[t] = number[l]
	}
	if d.Alphabet = labels; all.Len() > labels.Len() {
		d.Alphabet = all
	}
	return nil
}
